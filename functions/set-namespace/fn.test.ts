import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KrmFunction } from '@backporch/kpt/function'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { copyNode, findNodeAt, listItemsAt } from '@backporch/kyaml/yaml'
import { configMap, EVERY_VERSION, nodes, object } from '../../test/fakes/namespaced-objects.ts'
import { oddConfig, oddItems } from '../../test/functions/odd-objects.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import {
  setEveryNamespace,
  setEveryNamespaceIfConfigured,
  setNamespace,
  setOldNamespace,
  setOldNamespaceOrFail,
} from './fn.ts'

/** One object through the function, with a config of `namespace: prod` and what is given beside it. */
function run(text: string, more = '', krmFunction: KrmFunction = setNamespace) {
  const { items, results, exitCode } = krmFunction({
    items: nodes(text),
    config: nodes(configMap(`namespace: prod${more}`))[0],
  })
  return {
    text: items.map((item) => writeYamlNode(item)).join('---\n'),
    messages: results.map(({ message }) => message),
    results,
    exitCode,
  }
}

test('a namespaced object gets the namespace and keeps its comment, and from v0.4.6 its quotes', () => {
  const before = object('v1 Service', '  namespace: "old" # where it runs\n')
  const texts = EVERY_VERSION.map((each) => run(before, '', each).text)
  assert.deepEqual(new Set(texts.slice(1)), new Set([before.replace('"old"', 'prod')]))
  assert.equal(texts[0], before.replace('old', 'prod'))
})

test('from v0.4 an object of a known namespaced kind without a namespace gets one', () => {
  const before = object('apps/v1 Deployment', '')
  for (const each of [setNamespace, setEveryNamespace, setEveryNamespaceIfConfigured])
    assert.equal(run(before, '', each).text, object('apps/v1 Deployment', '  namespace: prod\n'))
  for (const each of [setOldNamespace, setOldNamespaceOrFail])
    assert.equal(run(before, '', each).text, before)
})

test('a custom object without a namespace stays without, and so does a ClusterRole', () => {
  for (const kind of [
    'example.com/v1 Shop',
    'rbac.authorization.k8s.io/v1 ClusterRole',
    'autoscaling/v2 HorizontalPodAutoscaler',
  ])
    for (const each of EVERY_VERSION)
      assert.equal(run(object(kind, ''), '', each).text, object(kind, ''))
})

test('keeps a local-config object, unless the annotation is not a string', () => {
  const local = (value: string) =>
    object('v1 ConfigMap', `  annotations:\n    config.kubernetes.io/local-config: ${value}\n`)
  for (const each of [setNamespace, setEveryNamespace]) {
    assert.equal(run(local('"true"'), '', each).text, local('"true"'))
    for (const value of ['"false"', 'true'])
      assert.equal(run(local(value), '', each).text, `${local(value)}  namespace: prod\n`)
  }
})

const subjects = (of: string) =>
  `subjects:\n- kind: User\n  name: a\n- kind: Group\n  name: b\n  namespace: ${of}\n`
const binding = object(
  'rbac.authorization.k8s.io/v1 RoleBinding',
  '  namespace: old\n',
  subjects('old'),
)

test('changes subjects of a ClusterRoleBinding that have a namespace, and those of a RoleBinding up to v0.4.1', () => {
  const cluster = object('rbac.authorization.k8s.io/v1 ClusterRoleBinding', '', subjects('old'))
  for (const each of EVERY_VERSION)
    assert.equal(run(cluster, '', each).text, cluster.replace('old', 'prod'))
  for (const each of EVERY_VERSION.slice(1))
    assert.equal(run(binding, '', each).text, binding.replaceAll('old', 'prod'))
  assert.equal(run(binding).text, binding.replace('old', 'prod'))
})

test('up to v0.4.1 a subject keeps its file location, so that its other fields remain editable', () => {
  const items = nodes(binding.replace('name: b', 'name: "b"'))
  const [item] = setEveryNamespace({ items, config: nodes(configMap('namespace: prod'))[0] }).items
  const name = findNodeAt(listItemsAt(item, 'subjects')[1], 'name')
  assert.ok(name?.kind === 'scalar' && name.style === 'plain')
  assert.equal(
    binding.replace('name: b', 'name: "b"').slice(name.source?.start, name.source?.end),
    '"b"',
  )
})

test('keeps subjects with an invalid item among them from v0.4.6, and reports an error before', () => {
  const odd = object(
    'rbac.authorization.k8s.io/v1 ClusterRoleBinding',
    '',
    'subjects:\n- kind: User\n  namespace: old\n- b\n',
  )
  assert.equal(run(odd).text, odd)
  for (const each of EVERY_VERSION.slice(1)) {
    const { exitCode, messages, text } = run(odd, '', each)
    assert.deepEqual(
      { exitCode, messages, text },
      { exitCode: 1, messages: ['SubObject has unmatched field type: `subjects'], text: odd },
    )
  }
})

test('a definition without a webhook gets one with the namespace, and must have a map there', () => {
  const plain = object(
    'apiextensions.k8s.io/v1 CustomResourceDefinition',
    '',
    'spec:\n  group: example.com\n',
  )
  for (const each of EVERY_VERSION.slice(0, 3))
    assert.equal(
      run(plain, '', each).text,
      `${plain}  conversion:\n    webhook:\n      clientConfig:\n        service:\n          namespace: prod\n`,
    )
  for (const each of EVERY_VERSION)
    assert.equal(run(`${plain}  conversion: none\n`, '', each).exitCode, 1)
})

test('an alias that the SDK reads fails, and nothing changes', () => {
  const alias = object('v1 Service', '  namespace: old\n  other: &n x\n').replace(
    'name: a',
    'labels: {a: &a a}\n  name: *a',
  )
  for (const each of EVERY_VERSION) {
    const { exitCode, messages, text } = run(alias, '', each)
    assert.deepEqual(
      { exitCode, messages, text },
      { exitCode: 1, messages: ['unhandled yaml node kind'], text: alias },
    )
  }
})

test('the matcher of v0.4.6 matches the object or its origin, and v0.4.1 has none', () => {
  const from = (namespace: string, origin: string) =>
    object(
      'v1 Service',
      `  namespace: ${namespace}\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|Service|${origin}|a'\n`,
    )
  const matcher = ', namespaceMatcher: old'
  assert.equal(run(from('old', 'x'), matcher).text, from('prod', 'x'))
  assert.equal(run(from('other', 'x'), matcher).text, from('other', 'x'))
  const byOrigin = run(from('other', 'old'), matcher)
  assert.equal(byOrigin.text, from('prod', 'old'))
  assert.deepEqual(byOrigin.messages, [
    '[Resource(apiVersion=v1, kind=Service, namespace=other, name=a)] has matching origin old',
    'namespace [other] updated to "prod", 1 value(s) changed',
    'all `depends-on` annotations are up-to-date. no `namespace` changed',
  ])
  assert.equal(run(from('other', 'x'), matcher, setEveryNamespace).text, from('prod', 'x'))
})

test('with a matcher that does not match, v0.4.6 sets the default namespace on an object without one', () => {
  const { text, messages } = run(object('v1 Service', ''), ', namespaceMatcher: old')
  assert.equal(text, object('v1 Service', '  namespace: default\n'))
  assert.equal(messages[0], 'all matching namespaces are already "prod". no value changed')
})

test('v0.3 replaces the namespace of the matcher, of the Namespace, or the one common to all objects', () => {
  const service = (name: string, namespace: string) =>
    object('v1 Service', `  namespace: ${namespace}\n`).replace('name: a', `name: ${name}`)
  const after = (text: string, more = '') => run(text, more, setOldNamespace)
  const two = `${service('b', 'old')}---\n${service('c', 'other')}`
  const unclear = after(two)
  assert.equal(unclear.text, two)
  assert.equal(unclear.exitCode, 0)
  assert.match(unclear.messages.join(), /found different namespaces: "old,other" $/)
  assert.equal(after(two, ', namespaceMatcher: other').text, two.replace('other', 'prod'))
  const named = `${object('v1 Namespace', '').replace('name: a', 'name: other')}---\n${two}`
  assert.equal(after(named).text, named.replaceAll('other', 'prod'))
  assert.match(
    after(named, ', namespaceMatcher: old').messages.join(),
    /you cannot use `namespaceMatcher`/,
  )
  assert.match(
    after(`${named}---\n${object('v1 Namespace', '')}`).messages.join(),
    /found map\[a:1 other:1\]$/,
  )
  assert.deepEqual(after(service('a', 'old')).messages, [
    'namespace "old" updated to "prod", 1 values changed',
  ])
  const without = object('v1 Service', '')
  assert.match(after(without).messages.join(), /^could not find any namespace fields/)
  assert.equal(run(without, '', setOldNamespaceOrFail).exitCode, 1)
})

test('a dependency moves with the object, up to v0.4.1 only one with a group, whose version is ignored', () => {
  const web = (dependency: string, namespace: string) =>
    object(
      'apps/v1 Deployment',
      `  namespace: ${namespace}\n  annotations:\n    config.kubernetes.io/depends-on: ${dependency}\n`,
    )
  const all = (dependency: string, namespace: string) =>
    `${web(dependency, namespace)}---\n${object('v1 Service', `  namespace: ${namespace}\n`)}`
  const [service, deployment] = ['/namespaces/old/Service/a', 'apps/namespaces/old/Deployment/a']
  for (const moving of [service, deployment])
    assert.equal(run(all(moving, 'old')).text, all(moving.replace('old', 'prod'), 'prod'))
  for (const other of ['/namespaces/old/Service/b', 'apps/namespaces/old/Service/a', '/Service/a'])
    for (const each of EVERY_VERSION)
      assert.equal(run(all(other, 'old'), '', each).text, all(other, 'prod'))
  for (const each of EVERY_VERSION.slice(1)) {
    assert.equal(run(all(service, 'old'), '', each).text, all(service, 'prod'))
    assert.equal(
      run(all(deployment, 'old'), '', each).text,
      all(deployment.replace('old', 'prod'), 'prod'),
    )
  }
})

test('up to v0.4.1 reports two objects that become the same', () => {
  const two = `${object('v1 Service', '  namespace: old\n')}---\n${object('v1 Service', '  namespace: other\n')}`
  const { exitCode, messages } = run(two, '', setEveryNamespace)
  assert.deepEqual(
    { exitCode, messages },
    {
      exitCode: 0,
      messages: ['duplicate Resource(apiVersion=v1, kind=Service, Namespace=prod, Name=a)'],
    },
  )
})

/** An object with an upstream identifier. */
function fetched(kind: string, identifier: string): string {
  return object(
    kind,
    `  namespace: other\n  annotations:\n    internal.kpt.dev/upstream-identifier: '${identifier}'\n`,
  )
}

test('finds an upstream identifier within the text, whose name ends like a DNS label', () => {
  const messages = (identifier: string) =>
    run(fetched('v1 Namespace', identifier), ', namespaceMatcher: web').messages
  for (const name of ['web', 'web.shop', 'web|more', 'web_1'])
    assert.match(messages(`? x.y|Namespace|~C|${name}`)[0] ?? '', /has matching origin web$/, name)
  assert.match(messages('|Namespace|~C|shop')[0] ?? '', /^all matching namespaces are already/)
})

test('an upstream identifier without a namespace is an error in v0.4.6 if the origin is needed', () => {
  for (const bad of [
    'x',
    '|Service|web',
    '||old|web',
    '|service|old|web',
    '|Service||web',
    '|Service|OLD|web',
    ' ',
  ]) {
    const { messages, exitCode } = run(fetched('v1 Service', bad))
    assert.equal(exitCode, 1, bad)
    assert.match(
      messages.join(),
      /is in bad format\. expect "<GROUP>\|<KIND>\|<NAMESPACE>\|<NAME>"$/,
    )
    const role = fetched('rbac.authorization.k8s.io/v1 ClusterRole', bad)
    assert.equal(run(role).text, role)
    assert.equal(run(fetched('v1 Service', bad), '', setEveryNamespace).exitCode, 0)
  }
})

test('returns the objects sorted by apiVersion, kind, namespace and name', () => {
  for (const each of EVERY_VERSION) {
    const { text } = run(
      ['v1 Service', 'apps/v1 Deployment', 'v1 ConfigMap']
        .map((kind) => object(kind, '  namespace: a\n'))
        .join('---\n'),
      '',
      each,
    )
    assert.deepEqual(
      [...text.matchAll(/kind: (\w+)/g)].map(([, kind]) => kind),
      ['Deployment', 'ConfigMap', 'Service'],
    )
  }
})

test('returns a result for any objects and config, and a second run changes nothing', () => {
  const config = nodes(configMap('namespace: prod'))[0]
  fc.assert(
    fc.property(
      oddItems,
      oddConfig,
      fc.constantFrom(...EVERY_VERSION),
      (items, odd, krmFunction) => {
        assert.ok(krmFunction({ items: items.map(copyNode), config: odd }).results.length > 0)
        const once = krmFunction({ items: items.map(copyNode), config })
        if (once.exitCode !== 0) return
        const text = once.items.map((item) => writeYamlNode(item))
        const twice = krmFunction({ items: once.items, config })
        assert.deepEqual(
          twice.items.map((item) => writeYamlNode(item)),
          text,
        )
      },
    ),
    { numRuns: 300 },
  )
})

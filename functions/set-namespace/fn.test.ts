import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { KrmFunction } from '../../src/render/kpt/krm-function.ts'
import { readYamlNodes } from '../../src/yaml/read/read-yaml-node.ts'
import { writeYamlNode } from '../../src/yaml/write/write-yaml-node.ts'
import { copyNode, type YamlMap } from '../../src/yaml/yaml-node.ts'
import { oddConfig, oddItems } from '../../test/functions/odd-objects.ts'
import { setNamespace, setNamespaceOfAnyOrigin, setNamespaceOfNamedServices } from './fn.ts'

const EVERY_VERSION = [setNamespace, setNamespaceOfAnyOrigin, setNamespaceOfNamedServices]

function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

function configMap(data: string, name = 'function-input'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata: {${data}}\n`
}

/** One object through the function, with a config of `namespace: prod` and what is given beside it. */
function run(text: string, more = '', krmFunction: KrmFunction = setNamespaceOfNamedServices) {
  const { items, results, exitCode } = krmFunction({ items: nodes(text), config: nodes(configMap(`namespace: prod${more}`))[0] })
  return {
    text: items.map((item) => writeYamlNode(item)).join('---\n'),
    messages: results.map(({ message }) => message),
    results,
    exitCode,
  }
}

function object(kind: string, metadata: string, rest = ''): string {
  const [apiVersion, name] = kind.split(' ')
  return `apiVersion: ${apiVersion}\nkind: ${name}\nmetadata:\n  name: a\n${metadata}${rest}`
}

test('a namespaced object gets the namespace, with its comment and without its quotes', () => {
  const before = object('v1 Service', '  namespace: "old" # where it runs\n')
  assert.equal(run(before).text, before.replace('"old"', 'prod'))
})

test('an object of a known namespaced kind without a namespace gets one', () => {
  assert.equal(run(object('apps/v1 Deployment', '')).text, object('apps/v1 Deployment', '  namespace: prod\n'))
})

test('a custom object without a namespace stays without, and so does a ClusterRole', () => {
  for (const kind of ['example.com/v1 Shop', 'rbac.authorization.k8s.io/v1 ClusterRole', 'autoscaling/v2 HorizontalPodAutoscaler'])
    for (const each of EVERY_VERSION) assert.equal(run(object(kind, ''), '', each).text, object(kind, ''))
  assert.equal(run(object('example.com/v1 Shop', '  namespace: b\n')).text, object('example.com/v1 Shop', '  namespace: prod\n'))
})

test('a Namespace gets the name', () => {
  assert.match(run(object('v1 Namespace', '')).text, /name: prod\n/)
})

test('an object for tools only is left alone, unless the annotation is no text', () => {
  const local = (value: string) => object('v1 ConfigMap', `  annotations:\n    config.kubernetes.io/local-config: ${value}\n`)
  assert.equal(run(local('"true"')).text, local('"true"'))
  for (const value of ['"false"', 'true']) assert.equal(run(local(value)).text, `${local(value)}  namespace: prod\n`)
})

test('subjects of a ClusterRoleBinding change where they have a namespace; those of a RoleBinding never do', () => {
  const subjects = (of: string) => `subjects:\n- kind: User\n  name: a\n- kind: Group\n  name: b\n  namespace: ${of}\n`
  const cluster = object('rbac.authorization.k8s.io/v1 ClusterRoleBinding', '', subjects('old'))
  assert.equal(run(cluster).text, cluster.replace('old', 'prod'))
  const binding = object('rbac.authorization.k8s.io/v1 RoleBinding', '  namespace: old\n', subjects('old'))
  assert.equal(run(binding).text, binding.replace('old', 'prod'))
})

test('subjects with something else among them stay, all of them', () => {
  const odd = object('rbac.authorization.k8s.io/v1 ClusterRoleBinding', '', 'subjects:\n- kind: User\n  namespace: old\n- b\n')
  for (const each of EVERY_VERSION) assert.equal(run(odd, '', each).text, odd)
})

const CRD = 'apiextensions.k8s.io/v1 CustomResourceDefinition'
const webhook = (service: string) =>
  `spec:\n  conversion:\n    strategy: Webhook\n    webhook:\n      clientConfig:\n        service: {${service}}\n`

test('a conversion webhook and an API service get the namespace', () => {
  for (const each of EVERY_VERSION) {
    assert.match(run(object(CRD, '', webhook('name: hook, namespace: old')), '', each).text, /\{name: hook, namespace: prod\}/)
    assert.match(run(object(CRD, '', webhook('name: hook')), '', each).text, /\{name: hook, namespace: prod\}/)
    const service = object('apiregistration.k8s.io/v1 APIService', '', 'spec:\n  service:\n    name: api\n    namespace: old\n')
    assert.equal(run(service, '', each).text, service.replace('old', 'prod'))
  }
})

test('up to v0.4.5 a definition without a webhook gets one with the namespace, and from v0.4.6 it does not', () => {
  const plain = object(CRD, '', 'spec:\n  group: example.com\n')
  const created = `${plain}  conversion:\n    webhook:\n      clientConfig:\n        service:\n          namespace: prod\n`
  assert.equal(run(plain, '', setNamespace).text, created)
  assert.equal(run(plain, '', setNamespaceOfAnyOrigin).text, created)
  assert.equal(run(plain).text, plain)
})

test('with a matcher only that namespace is replaced, in the object or in its origin', () => {
  const from = (namespace: string, origin: string) =>
    object('v1 Service', `  namespace: ${namespace}\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|Service|${origin}|a'\n`)
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
})

test('with a matcher that does not fit, an object without a namespace is put into default', () => {
  const { text, messages } = run(object('v1 Service', ''), ', namespaceMatcher: old')
  assert.equal(text, object('v1 Service', '  namespace: default\n'))
  assert.equal(messages[0], 'all matching namespaces are already "prod". no value changed')
})

test('a dependency on an object of the package moves with it, and any other stays', () => {
  const web = (dependency: string, namespace: string) =>
    object('apps/v1 Deployment', `  namespace: ${namespace}\n  annotations:\n    config.kubernetes.io/depends-on: ${dependency}\n`)
  const all = (dependency: string, namespace: string) =>
    `${web(dependency, namespace)}---\n${object('v1 Service', `  namespace: ${namespace}\n`)}`
  const moved = run(all('/namespaces/old/Service/a', 'old'))
  assert.equal(moved.text, all('/namespaces/prod/Service/a', 'prod'))
  assert.equal(moved.messages[1], '`depends-on` annotation namespace [old] updated to "prod", 1 value(s) changed')
  for (const other of ['/namespaces/old/Service/b', 'apps/namespaces/old/Service/a', '/Service/a'])
    assert.equal(run(all(other, 'old')).text, all(other, 'prod'))
})

test('v0.4.1 warns of objects from nowhere and refuses several origins; with exit code 0, and nothing is changed', () => {
  const from = (name: string, origin: string) =>
    object('v1 Service', `  annotations:\n    internal.kpt.dev/upstream-identifier: '|Service|${origin}|a'\n`).replace(
      'name: a',
      `name: ${name}`,
    )
  const nowhere = run(object('v1 Service', '  namespace: old\n'), '', setNamespace)
  assert.deepEqual(nowhere.results[0], {
    message: 'Resource(apiVersion=v1, kind=Service, namespace=old, name=a) does not have upstream origin.',
    severity: 'warning',
  })
  const two = `${from('a', 'y')}---\n${from('b', 'x')}`
  const refused = run(two, '', setNamespace)
  assert.equal(refused.text, two)
  assert.equal(refused.exitCode, 0)
  assert.match(refused.messages.join(), /expect a single upstream namespace, found \[x y\]\. please switch/)
  assert.equal(run(two, ', namespaceMatcher: x', setNamespace).messages.length, 3)
  assert.equal(run(two, '', setNamespaceOfAnyOrigin).messages.length, 2)
  assert.match(run(from('a', '~C'), '', setNamespace).messages.join(), /scoepd origin \|Service\|~C\|a$/)
})

test('from v0.4.2 an object whose origin had no namespace keeps its own', () => {
  const shop = object(
    'example.com/v1 Shop',
    "  namespace: old\n  annotations:\n    internal.kpt.dev/upstream-identifier: 'example.com|Shop|~C|a'\n",
  )
  assert.equal(run(shop, '', setNamespaceOfAnyOrigin).text, shop)
  assert.equal(run(shop).text, shop)
  assert.equal(run(shop.replace('|~C|a', ''), '').exitCode, 1)
})

/** An object with an upstream identifier. */
function fetched(kind: string, identifier: string): string {
  return object(kind, `  namespace: other\n  annotations:\n    internal.kpt.dev/upstream-identifier: '${identifier}'\n`)
}

test('an upstream identifier is found within the text, and its name ends where a name of one label does', () => {
  const messages = (identifier: string) => run(fetched('v1 Namespace', identifier), ', namespaceMatcher: web').messages
  for (const name of ['web', 'web.shop', 'web|more', 'web_1'])
    assert.match(messages(`? x.y|Namespace|~C|${name}`)[0] ?? '', /has matching origin web$/, name)
  assert.match(messages('|Namespace|~C|shop')[0] ?? '', /^all matching namespaces are already/)
})

test('an upstream identifier without a namespace is an error if the origin is needed', () => {
  for (const bad of [
    'x',
    '|Service|web',
    '||old|web',
    '|service|old|web',
    '|Service||web',
    '|Service|OLD|web',
    `|Service|${'a'.repeat(64)}|web`,
  ]) {
    for (const each of EVERY_VERSION) {
      const { messages, exitCode } = run(fetched('v1 Service', bad), '', each)
      assert.equal(exitCode, 1, bad)
      assert.deepEqual(messages, [
        `annotation internal.kpt.dev/upstream-identifier: ${bad} is in bad format. expect "<GROUP>|<KIND>|<NAMESPACE>|<NAME>"`,
      ])
    }
    // Only v0.4.1 asks every object.
    const role = fetched('rbac.authorization.k8s.io/v1 ClusterRole', bad)
    assert.equal(run(role, '', setNamespace).exitCode, 1)
    for (const each of [setNamespaceOfAnyOrigin, setNamespaceOfNamedServices]) {
      assert.equal(run(role, '', each).exitCode, 0)
      assert.equal(run(role, '', each).text, role)
    }
  }
})

test('v0.4.1 reports the first problem of the origins, in the form of the SDK', () => {
  const nowhere = fetched('v1 Service', '? x.y|Service|~C|web.shop')
  const bad = fetched('v1 Secret', 'x')
  const first = run(`${nowhere}---\n${bad}`, '', setNamespace)
  assert.equal(first.exitCode, 0)
  assert.match(first.messages.join(), /scoepd origin x\.y\|Service\|~C\|web$/)
  assert.equal(run(`${bad}---\n${nowhere}`, '', setNamespace).exitCode, 1)
})

test('the objects come back by apiVersion, kind, namespace and name', () => {
  const { text } = run(['v1 Service', 'apps/v1 Deployment', 'v1 ConfigMap'].map((kind) => object(kind, '')).join('---\n'))
  assert.deepEqual(
    [...text.matchAll(/kind: (\w+)/g)].map(([, kind]) => kind),
    ['Deployment', 'ConfigMap', 'Service'],
  )
})

test('the namespace comes from a ConfigMap, the package context or a SetNamespace', () => {
  const service = object('v1 Service', '')
  const from = (config: string) => setNamespaceOfAnyOrigin({ items: nodes(service), config: nodes(config)[0] })
  const text = (config: string) =>
    from(config)
      .items.map((item) => writeYamlNode(item))
      .join('')
  const done = object('v1 Service', '  namespace: prod\n')
  assert.equal(text(configMap('name: prod', 'kptfile.kpt.dev')), done)
  assert.equal(text('apiVersion: fn.kpt.dev/v1alpha1\nkind: SetNamespace\nnamespace: prod\n'), done)
  const messages: readonly (readonly [string, string])[] = [
    ['{}', 'FunctionConfig is missing. Expect `ConfigMap.v1` or `SetNamespace.v1alpha1.fn.kpt.dev`'],
    [configMap('name: prod'), '`data.namespace` should not be empty'],
    [configMap('namespace: 7'), 'failed to parse FunctionConfig as ConfigMap'],
    ['apiVersion: fn.kpt.dev/v1alpha1\nkind: SetNamespace\n', '`namespace` should not be empty'],
    [
      'apiVersion: x/v1\nkind: Y\n',
      'unknown functionConfig Kind=Y ApiVersion=x/v1, expect `ConfigMap.v1` or `SetNamespace.v1alpha1.fn.kpt.dev`',
    ],
  ]
  for (const [config, message] of messages) {
    assert.equal(from(config).results[0]?.message, message)
    assert.equal(from(config).exitCode, 0)
    assert.equal(text(config), service)
  }
  assert.equal(setNamespaceOfNamedServices({ items: [], config: undefined }).exitCode, 1)
})

test('a config is read whole: a value of a wrong type in its metadata is one too many', () => {
  const own = 'apiVersion: fn.kpt.dev/v1alpha1\nkind: SetNamespace\nnamespace: prod\n'
  const rows = ['metadata: 7\n', 'metadata: {name: 7}\n', 'metadata: {labels: [a]}\n', 'metadata: {annotations: {a: true}}\n'].flatMap(
    (metadata) => [`${own}${metadata}`, `apiVersion: v1\nkind: ConfigMap\ndata: {namespace: prod}\n${metadata}`],
  )
  const bad = [...rows, `${own}namespaceMatcher: 7\n`, configMap('namespace: prod, other: 7'), configMap('namespace: prod, 7: a')]
  for (const text of bad) {
    const input = { items: nodes(object('v1 Service', '')), config: nodes(text)[0] }
    const [v041, v042, v046] = EVERY_VERSION.map((each) => each(input))
    assert.deepEqual([v041?.exitCode, v042?.exitCode, v046?.exitCode], [1, 0, 1], text)
    assert.deepEqual(v041?.results, [{ message: 'SubObject has unmatched field type: `', severity: 'error' }])
    for (const later of [v042, v046]) assert.match(later?.results[0]?.message ?? '', /^failed to parse FunctionConfig as /)
    for (const { items } of [v041, v042].filter((each) => each !== undefined))
      assert.equal(items.map((item) => writeYamlNode(item)).join(), object('v1 Service', ''))
  }
  const nothing = configMap('namespace: prod, other: null').replace('\ndata:', '\n  annotations: null\ndata:')
  assert.equal(setNamespace({ items: [], config: nodes(nothing)[0] }).exitCode, 0)
})

test('an error about the config names its file and its place in it', () => {
  const file = (index: string) => {
    const annotations = `  annotations:\n    internal.config.kubernetes.io/path: a.yaml\n    internal.config.kubernetes.io/index: ${index}\n`
    const config = nodes(configMap('').replace('\ndata:', `\n${annotations}data:`))[0]
    return setNamespaceOfNamedServices({ items: [], config }).results[0]?.file
  }
  for (const [index, location] of [
    ["'2'", 2],
    ["'-1'", -1],
    ['x', 0],
    ["''", -1],
  ] as const)
    assert.deepEqual(file(index), { path: 'a.yaml', index: location })
})

test('with any objects and config there is a result, and a second run changes nothing', () => {
  const config = nodes(configMap('namespace: prod'))[0]
  fc.assert(
    fc.property(oddItems, oddConfig, fc.constantFrom(...EVERY_VERSION), (items, odd, krmFunction) => {
      assert.ok(krmFunction({ items: items.map(copyNode), config: odd }).results.length > 0)
      const once = krmFunction({ items: items.map(copyNode), config })
      if (once.exitCode !== 0) return
      const text = once.items.map((item) => writeYamlNode(item))
      const twice = krmFunction({ items: once.items, config })
      assert.deepEqual(
        twice.items.map((item) => writeYamlNode(item)),
        text,
      )
    }),
    { numRuns: 300 },
  )
})

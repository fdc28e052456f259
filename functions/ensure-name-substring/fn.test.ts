import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { convertJsonToYaml, copyNode, findNodeAt, type YamlMap } from '@backporch/kyaml/yaml'
import { countReads } from '../../test/fakes/count-reads.ts'
import { oddConfig, oddItems } from '../../test/functions/odd-objects.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import { ensureNameSubstring } from './fn.ts'
import { NAME_REFERENCES } from './name-references.ts'

/** What the objects become is what the transformers of kustomize api v0.15.0 make of the same. */
function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

const configMap = (data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\ndata: {${data}}\n`
const own = (rest: string) =>
  `apiVersion: fn.kpt.dev/v1alpha1\nkind: EnsureNameSubstring\nmetadata:\n  name: c\n${rest}`
const PREPEND = configMap('prepend: prod-')

function run(text: string, config = PREPEND) {
  const output = ensureNameSubstring({ items: nodes(text), config: nodes(config)[0] })
  return {
    ...output,
    text: output.items.map((item) => writeYamlNode(item)).join('---\n'),
    message: output.results[0]?.message,
  }
}

function object(kind: string, name: string, rest = ''): string {
  const [apiVersion, type] = kind.split(' ')
  return `apiVersion: ${apiVersion}\nkind: ${type}\nmetadata:\n  name: ${name}\n${rest}`
}

const all = (...objects: readonly string[]) => objects.join('---\n')
const RBAC = 'rbac.authorization.k8s.io/v1'

test('prepends or appends the text to a name, and keeps its quotes and comment', () => {
  assert.equal(
    run(object('v1 Service', '"web" # the shop')).text,
    object('v1 Service', '"prod-web" # the shop'),
  )
  assert.equal(
    run(object('v1 Service', 'web'), configMap('append: -prod')).text,
    object('v1 Service', 'web-prod'),
  )
})

test('keeps a name that contains the text', () => {
  for (const name of ['prod-web', 'a-prod-b'])
    assert.equal(run(object('v1 Service', name)).text, object('v1 Service', name))
})

test('definitions, namespaces, API services, Kptfiles and local-config objects keep their names', () => {
  for (const kind of [
    'apiextensions.k8s.io/v1 CustomResourceDefinition',
    'v1 Namespace',
    'apiregistration.k8s.io/v1 APIService',
    'kpt.dev/v1 Kptfile',
  ])
    assert.equal(run(object(kind, 'web')).text, object(kind, 'web'))
  assert.match(
    run(
      object(
        'v1 ConfigMap',
        'web',
        "  annotations:\n    config.kubernetes.io/local-config: 'true'\n",
      ),
    ).text,
    /name: prod-web/,
  )
})

const WORKLOAD = `spec:
  template:
    spec:
      serviceAccountName: web
      imagePullSecrets:
      - name: pull
      - name: elsewhere
      containers:
      - name: web
        envFrom:
        - configMapRef: {name: conf}
        env:
        - valueFrom: {secretKeyRef: {name: 'pull', key: a}}
        - value: conf
      volumes:
      - name: conf
        configMap: {name: conf} # settings
      - persistentVolumeClaim: {claimName: data}
`

test('a workload refers to the renamed objects, and keeps its other references', () => {
  const others = [
    object('v1 ServiceAccount', 'web'),
    object('v1 Secret', 'pull'),
    object('v1 ConfigMap', 'conf'),
    object('v1 PersistentVolumeClaim', 'data'),
  ]
  const renamed = others.map((text) => text.replace('name: ', 'name: prod-'))
  const written = WORKLOAD.replace('serviceAccountName: web', 'serviceAccountName: prod-web')
    .replace('- name: pull', '- name: prod-pull')
    .replace("'pull'", "'prod-pull'")
    .replaceAll('{name: conf}', '{name: prod-conf}')
    .replace('data', 'prod-data')
  assert.equal(
    run(all(object('apps/v1 Deployment', 'web', WORKLOAD), ...others)).text,
    all(object('apps/v1 Deployment', 'prod-web', written), ...renamed),
  )
  assert.equal(
    run(object('apps/v1 Deployment', 'web', WORKLOAD)).text,
    object('apps/v1 Deployment', 'prod-web', WORKLOAD),
  )
})

test('a reference is to an object of the same namespace', () => {
  const workload = object('apps/v1 Deployment', 'web', `  namespace: x\n${WORKLOAD}`)
  const elsewhere = run(all(workload, object('v1 ConfigMap', 'conf', '  namespace: y\n')))
  assert.match(elsewhere.text, /configMapRef: \{name: conf\}/)
  const here = run(
    all(
      workload,
      object('v1 ConfigMap', 'conf', '  namespace: y\n'),
      object('v1 ConfigMap', 'conf', '  namespace: x\n'),
    ),
  )
  assert.match(here.text, /configMapRef: \{name: prod-conf\}/)
})

test('a role reference is to the kind that it names', () => {
  const binding = (kind: string) =>
    object(
      `${RBAC} RoleBinding`,
      'b',
      `roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ${kind}\n  name: a\n`,
    )
  assert.match(
    run(all(binding('ClusterRole'), object(`${RBAC} ClusterRole`, 'a'))).text,
    /name: prod-a\n---/,
  )
  assert.match(run(all(binding('Role'), object(`${RBAC} ClusterRole`, 'a'))).text, /name: a\n---/)
})

test('a subject of any kind gets the name and the namespace of the account', () => {
  const binding = (subject: string) =>
    object(`${RBAC} ClusterRoleBinding`, 'b', `subjects:\n- ${subject}\n`)
  const account = object('v1 ServiceAccount', 'a', '  namespace: x\n')
  assert.match(
    run(all(binding('{kind: User, name: a}'), account)).text,
    /- \{kind: User, name: prod-a, namespace: x\}/,
  )
  assert.match(
    run(all(binding('{kind: ServiceAccount, name: a, namespace: y}'), account)).text,
    /name: a, namespace: y/,
  )
  const two = run(all(binding('{name: a}'), account, account.replace(': x', ': y')))
  assert.equal(
    two.message,
    "failed to fix name back reference: updating name reference in 'subjects' field of 'ClusterRoleBinding.v1.rbac.authorization.k8s.io/prod-b.[noNs]': considering field 'subjects' of object ClusterRoleBinding.v1.rbac.authorization.k8s.io/prod-b.[noNs]: found multiple possible referrals: ServiceAccount.v1.[noGrp]/prod-a.x, ServiceAccount.v1.[noGrp]/prod-a.y",
  )
})

test('updates references in lists of names and in annotations', () => {
  const role = object(`${RBAC} ClusterRole`, 'r', 'rules:\n- resourceNames: [a, b]\n')
  assert.match(run(all(role, object('v1 Secret', 'a'))).text, /resourceNames: \[prod-a, b\]/)
  const ingress = object(
    'networking.k8s.io/v1 Ingress',
    'i',
    '  annotations:\n    nginx.ingress.kubernetes.io/auth-secret: a\n',
  )
  assert.match(run(all(ingress, object('v1 Secret', 'a'))).text, /auth-secret: prod-a/)
})

test('depends-on follows objects of the package, also those that keep their names', () => {
  const depending = (on: string, name = 'a') =>
    object('v1 Service', name, `  annotations:\n    config.kubernetes.io/depends-on: ${on}\n`)
  const after = (on: string, name?: string) =>
    run(
      all(
        depending(on, name),
        object('v1 Namespace', 'n'),
        object('apps/v1 Deployment', 'b', '  namespace: x\n'),
      ),
    ).text
  assert.match(
    after('apps/namespaces/x/Deployment/b'),
    /depends-on: apps\/namespaces\/x\/Deployment\/prod-b\n/,
  )
  assert.match(
    after('apps/namespaces/y/Deployment/b'),
    /depends-on: apps\/namespaces\/y\/Deployment\/prod-b\n/,
  )
  assert.match(after('/Namespace/n'), /depends-on: \/Namespace\/prod-n\n/)
  assert.match(after('apps/namespaces/x/Deployment/c'), /Deployment\/c\n/)
  // An object that keeps its own name keeps its dependency too.
  assert.match(after('apps/namespaces/x/Deployment/b', 'prod-a'), /Deployment\/b\n/)
})

test('removes internal kustomize annotations and unneeded quotes', () => {
  const before =
    '  annotations:\n    b: "x" # note\n    internal.config.kubernetes.io/refBy: y\n    a: \'1\'\n'
  assert.equal(
    run(object('v1 Secret', 'prod-s', before)).text,
    object('v1 Secret', 'prod-s', '  annotations:\n    b: x # note\n    a: "1"\n'),
  )
})

test('renames further fields beside the name', () => {
  const config = own('substring: prod-\nadditionalNameFields:\n- kind: Shop\n  path: spec/title\n')
  const shop = (name: string) => object('example.com/v1 Shop', name, `spec:\n  title: ${name}\n`)
  assert.equal(run(shop('a'), config).text, shop('prod-a'))
  assert.equal(run(shop('prod-a'), config).text, shop('prod-a'))
  const list = run(object('example.com/v1 Shop', 'a', 'spec: [{title: b}]\n'), config)
  assert.match(
    list.message ?? '',
    /^failed to transform name substring: unable to lookup path spec\/title/,
  )
})

test('accepts one entry of a ConfigMap, or an EnsureNameSubstring, as config', () => {
  assert.match(
    run(object('v1 Secret', 'a'), own('substring: -x\neditMode: append\n')).text,
    /name: a-x/,
  )
  const rows: readonly (readonly [string, string])[] = [
    [configMap(''), 'only 1 entry is allowed in the ConfigMap, but got: 0'],
    [configMap('prepend: a, append: b'), 'only 1 entry is allowed in the ConfigMap, but got: 2'],
    [configMap('prefix: a'), 'unknown editMode: prefix, only prepend and append are allowed'],
    [configMap('prepend: ""'), 'substring must not be empty'],
    [
      own('substring: a\nfieldSpecs: []\nadditionalNameFields: []\n'),
      '`fieldSpecs` has been deprecated, please rename it to `additionalNameFields`',
    ],
    [
      'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n',
      'function config must be either /v1, Kind=ConfigMap or fn.kpt.dev/v1alpha1, Kind=EnsureNameSubstring, but we got: /v1, Kind=Secret',
    ],
  ]
  for (const [config, message] of rows) {
    const refused = run(object('v1 Secret', 'a'), config)
    assert.deepEqual(
      [refused.message, refused.exitCode],
      [`failed to load the \`functionConfig\`: ${message}`, 1],
    )
    assert.equal(refused.text, object('v1 Secret', 'a'))
  }
})

test('the table has the 153 references of kustomize', () => {
  const rows = new Set(
    NAME_REFERENCES.flatMap(({ target, fields }) =>
      fields.map((field) => JSON.stringify([target, field])),
    ),
  )
  assert.equal(rows.size, 153)
})

test('a PodTemplate has only volume references, an object without a kind is renamed, and the writer chooses quotes', () => {
  const template = object(
    'v1 PodTemplate',
    'a',
    'template:\n  spec:\n    imagePullSecrets:\n    - name: s\n',
  )
  const secret = object('v1 Secret', 's', '  annotations:\n    a: \'{"x": true}\'\n')
  const runOf = (text: string): string =>
    ensureNameSubstring({ items: nodes(text), config: nodes(PREPEND)[0] })
      .items.map((item) => writeYamlNode(item))
      .join('---\n')
  assert.match(runOf(all(template, secret)), /- name: s\n[\s\S]*a: '\{"x": true\}'/)
  assert.equal(runOf('metadata:\n  name: a\n'), 'metadata:\n  name: prod-a\n')
})

test('the number of visits to an object does not depend on the number of objects', () => {
  const looksAmong = (count: number): number => {
    const items = Array.from({ length: count }, (_, index): YamlMap[] => {
      const [pod, map] = ['Pod', 'ConfigMap'].map((kind) =>
        convertJsonToYaml({
          apiVersion: 'v1',
          kind,
          metadata: { name: `a${index}` },
          spec: { volumes: [{ configMap: { name: `a${index}` } }] },
        }),
      )
      return [pod, map].filter((node) => node?.kind === 'map')
    }).flat()
    const [first] = items
    const reads = first === undefined ? () => 0 : countReads(first, 'entries')
    const { items: done } = ensureNameSubstring({ items, config: nodes(PREPEND)[0] })
    const observations = reads()
    assert.match(
      writeYamlNode(done.at(-2) ?? convertJsonToYaml(null)),
      new RegExp(`configMap:\\n {6}name: prod-a${count - 1}\\n`),
    )
    return observations
  }
  assert.ok(looksAmong(10) > 0)
  assert.equal(looksAmong(100), looksAmong(10))
})

test('throws for no objects and config, and a second run changes nothing', () => {
  const config = nodes(PREPEND)[0]
  fc.assert(
    fc.property(oddItems, oddConfig, (items, odd) => {
      const other = ensureNameSubstring({ items: items.map(copyNode), config: odd })
      assert.equal(other.exitCode === 0, other.results.length === 0)
      const once = ensureNameSubstring({ items: items.map(copyNode), config })
      // kpt gives a function no object whose metadata is a list.
      if (
        once.exitCode !== 0 ||
        items.some((item) => findNodeAt(item, 'metadata')?.kind === 'list')
      )
        return
      const text = once.items.map((item) => writeYamlNode(item))
      const twice = ensureNameSubstring({ items: once.items, config })
      assert.deepEqual(
        twice.items.map((item) => writeYamlNode(item)),
        text,
      )
    }),
    { numRuns: 300 },
  )
})

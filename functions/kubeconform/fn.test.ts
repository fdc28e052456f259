import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { FunctionOutput } from '@backporch/kpt/function'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { convertJsonToYaml, type YamlMap } from '@backporch/kyaml/yaml'
import * as fc from '../../test/seeds/fast-check.ts'
import { runKubeconform } from './fn.ts'
import { formatReducedSchemas } from './reduced-schema.ts'
import schemas from './schemas-1.34.json' with { type: 'json' }

function maps(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

function run(text: string, data: { readonly [key: string]: string } = {}): FunctionOutput {
  const config = convertJsonToYaml({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c' },
    data,
  })
  return runKubeconform({ items: maps(text), config: config.kind === 'map' ? config : undefined })
}

/** `path: message` of every result. */
function text(text: string, data: { readonly [key: string]: string } = {}): readonly string[] {
  const { results, exitCode } = run(text, data)
  assert.equal(exitCode, results.length === 0 ? 0 : 1)
  return results.map(({ field, message }) => `${field?.path ?? ''}: ${message}`)
}

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  creationTimestamp: null
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx
        resources: {limits: {cpu: 1, memory: 1.5Gi}}
`

const ROWS: readonly (readonly [
  name: string,
  from: string,
  to: string,
  said: readonly string[],
])[] = [
  ['a good object', '', '', []],
  [
    'a text where a number belongs',
    'replicas: 2',
    'replicas: two',
    ['spec.replicas: got string, want null or integer'],
  ],
  [
    'a number where text belongs',
    'app: web}}\n  strategy',
    'app: 7}}\n  strategy',
    ['spec.selector.matchLabels.app: got number, want null or string'],
  ],
  [
    'what kubectl reads as a boolean',
    'labels: {app: web}',
    'labels: {app: yes}',
    ['spec.template.metadata.labels.app: got boolean, want null or string'],
  ],
  [
    'a required field that is missing',
    '- name: web\n        image',
    '- image',
    ["spec.template.spec.containers.0: missing property 'name'"],
  ],
  [
    'a required field that is null',
    'name: web\n        image',
    'name: null\n        image',
    ['spec.template.spec.containers.0.name: got null, want string'],
  ],
  [
    'a map where a list belongs',
    'containers:\n      - name',
    'containers:\n        name',
    ['spec.template.spec.containers: got object, want array'],
  ],
  [
    'a list where a map belongs',
    'labels: {app: web}',
    'labels: [app]',
    ['spec.template.metadata.labels: got array, want null or object'],
  ],
  [
    'an int-or-string that is neither',
    'maxSurge: 25%',
    'maxSurge: true',
    ['spec.strategy.rollingUpdate.maxSurge: got boolean, want null or integer or string'],
  ],
  [
    'a quantity that is none',
    'memory: 1.5Gi',
    'memory: 1.5GiB',
    ['spec.template.spec.containers.0.resources.limits.memory: value is not valid quantity'],
  ],
  [
    'a number of more than 32 bits',
    'replicas: 2',
    'replicas: 2147483648',
    ['spec.replicas: value must be between -2147483648 and 2147483647'],
  ],
  [
    'a fraction',
    'replicas: 2',
    'replicas: 2.5',
    ['spec.replicas: got number, want null or integer'],
  ],
  [
    'a time that is none',
    'creationTimestamp: null',
    'creationTimestamp: today',
    ['metadata.creationTimestamp: value is not valid date-time'],
  ],
  [
    'a word that is not in the list',
    'image: nginx',
    'image: nginx\n        imagePullPolicy: never',
    [
      "spec.template.spec.containers.0.imagePullPolicy: value must be one of 'Always', 'IfNotPresent', 'Never'",
    ],
  ],
  ['a field that is not there is no error', 'replicas: 2', 'replica: 2', []],
]

for (const [name, from, to, expected] of ROWS) {
  test(name, () => {
    assert.ok(WEB.includes(from))
    assert.deepEqual(text(WEB.replace(from, to)), expected)
  })
}

test('in strict mode, an unknown field is an error of its parent object', () => {
  assert.deepEqual(
    text(WEB.replace('replicas: 2', "replica: 2\n  'it''s': 1"), { strict: 'true' }),
    ["spec: additional properties 'replica', 'it\\'s' not allowed"],
  )
  assert.deepEqual(text(WEB, { strict: 'TRUE' }), [])
  assert.deepEqual(text(`${WEB}__proto__: 1\n`, { strict: '1' }), [
    ": additional properties '__proto__' not allowed",
  ])
})

test('a result names the object and its file location', () => {
  const annotations =
    "annotations: {internal.config.kubernetes.io/path: a/web.yaml, internal.config.kubernetes.io/index: '2'}"
  const { results } = run(
    WEB.replace('creationTimestamp: null', annotations).replace('replicas: 2', 'replicas: two'),
  )
  assert.deepEqual(results, [
    {
      severity: 'error',
      message: 'got string, want null or integer',
      resourceRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'shop' },
      field: { path: 'spec.replicas' },
      file: { path: 'a/web.yaml', index: 2 },
    },
  ])
})

const OTHER = 'apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: w\n'

test('a kind without a schema is an error unless the config or the object ignores it', () => {
  assert.deepEqual(text(OTHER), [': could not find schema for Widget'])
  assert.deepEqual(text(OTHER, { ignore_missing_schemas: 'true' }), [])
  assert.deepEqual(text(OTHER, { skip_kinds: 'Pod, Widget' }), [])
  assert.deepEqual(text(OTHER, { skip_kinds: 'example.com/v1/Widget' }), [])
  assert.deepEqual(text(OTHER, { skip_kinds: 'widget' }), [': could not find schema for Widget'])
  assert.deepEqual(text(`${OTHER}  annotations: {config.kubernetes.io/local-config: 'true'}\n`), [])
  assert.deepEqual(text('apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n'), [])
  assert.deepEqual(text('apiVersion: v1\nkind: constructor\nmetadata:\n  name: p\n'), [
    ': could not find schema for constructor',
  ])
})

test('does not validate a skipped kind', () => {
  assert.deepEqual(
    text(WEB.replace('replicas: 2', 'replicas: two'), { skip_kinds: 'Deployment' }),
    [],
  )
})

test('rejects an unknown version, and lists the built-in ones', () => {
  const [version = ''] = /^v[0-9]+\.[0-9]+/.exec(schemas.kubernetesVersion) ?? []
  for (const known of [version, version.slice(1), schemas.kubernetesVersion])
    assert.deepEqual(text(WEB, { kubernetes_version: known }), [])
  assert.deepEqual(text(WEB, { kubernetes_version: '1.12' }), [
    `: kubernetes_version is "1.12", and the schemas of these versions are built in: ${version.slice(1)}`,
  ])
})

test('rejects another schema location instead of ignoring it', () => {
  for (const key of ['schema_location', 'additional_schema_locations']) {
    const [message = ''] = text(WEB, { [key]: 'https://example.com' })
    assert.ok(message.startsWith(`: ${key} is set, and `), message)
  }
})

test('reports no value of a Secret', () => {
  const secret =
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ndata:\n  key: hunter2!\n  other: 4711\n  good: aHVudGVyMg==\n'
  assert.deepEqual(text(secret), [
    'data.key: value is not valid base64',
    'data.other: got number, want null or string',
  ])
})

test('writes the schemas in a stable form', () => {
  const text = readFileSync(new URL('schemas-1.34.json', import.meta.url), 'utf8')
  assert.equal(formatReducedSchemas(JSON.parse(text)), text)
  assert.ok(text.length < 200_000)
  const names = new Set(Object.keys(schemas.definitions))
  for (const [, name = ''] of text.matchAll(/"#([^"]+)"/g)) assert.ok(names.has(name), name)
  for (const name of Object.values(schemas.kinds)) assert.ok(names.has(name), name)
})

test('throws for no object, and gives at most 100 results per object', () => {
  const kind = fc.constantFrom(...Object.keys(schemas.kinds))
  fc.assert(
    fc.property(kind, fc.jsonValue({ maxDepth: 4 }), fc.boolean(), (gvk, spec, strict) => {
      const apiVersion = gvk.slice(0, gvk.lastIndexOf('/'))
      const item = convertJsonToYaml({
        apiVersion,
        kind: gvk.slice(gvk.lastIndexOf('/') + 1),
        metadata: { name: 'x' },
        spec: spec as string,
      })
      const config = convertJsonToYaml({ data: { strict: String(strict) } })
      if (item.kind !== 'map' || config.kind !== 'map') return
      runKubeconform({ items: [item], config })
    }),
    { numRuns: 300 },
  )
  const pods = `apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers: [${'1,'.repeat(5000)}]\n`
  assert.equal(run(pods).results.length, 100)
})

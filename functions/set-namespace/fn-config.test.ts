import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { configMap, EVERY_VERSION, nodes, object } from '../../test/fakes/namespaced-objects.ts'
import { setEveryNamespace, setNamespace } from './fn.ts'

const OWN = 'apiVersion: fn.kpt.dev/v1alpha1\nkind: SetNamespace\n'

test('the namespace comes from a ConfigMap, the package context or a SetNamespace', () => {
  const service = object('v1 Service', '  namespace: old\n')
  for (const each of EVERY_VERSION) {
    const after = (config: string) =>
      each({ items: nodes(service), config: nodes(config)[0] })
        .items.map((item) => writeYamlNode(item))
        .join('')
    for (const config of [
      configMap('name: prod', 'kptfile.kpt.dev'),
      configMap('namespace: prod'),
      `${OWN}namespace: prod\n`,
    ])
      assert.equal(after(config), service.replace('old', 'prod'))
    for (const config of [
      '{}',
      configMap('name: prod'),
      configMap('namespace: 7'),
      OWN,
      'apiVersion: x/v1\nkind: Y\n',
    ])
      assert.equal(after(config), service)
  }
})

test('a config without a namespace fails from v0.4.1 and is reported before; an invalid config always fails', () => {
  const codes = (config: string) =>
    EVERY_VERSION.map((each) => each({ items: [], config: nodes(config)[0] }).exitCode)
  for (const config of [
    configMap('name: prod'),
    configMap('', 'kptfile.kpt.dev'),
    OWN,
    'apiVersion: x/v1\nkind: Y\n',
  ])
    assert.deepEqual(codes(config), [1, 1, 0, 0, 0], config)
  for (const config of ['{}', configMap('namespace: 7'), `${OWN}namespace: 7\n`])
    assert.deepEqual(codes(config), [1, 1, 1, 1, 1], config)
})

test('v0.4.6 validates the whole config, so a wrong type in its metadata is an error', () => {
  const own = `${OWN}namespace: prod\n`
  const rows = [
    'metadata: 7\n',
    'metadata: {name: 7}\n',
    'metadata: {labels: [a]}\n',
    'metadata: {annotations: {a: true}}\n',
  ].flatMap((metadata) => [
    `${own}${metadata}`,
    `apiVersion: v1\nkind: ConfigMap\ndata: {namespace: prod}\n${metadata}`,
  ])
  const bad = [
    ...rows,
    `${own}namespaceMatcher: 7\n`,
    configMap('namespace: prod, other: 7'),
    configMap('namespace: prod, 7: a'),
  ]
  for (const text of bad) {
    const input = { items: nodes(object('v1 Service', '')), config: nodes(text)[0] }
    assert.match(
      setNamespace(input).results[0]?.message ?? '',
      /^failed to parse FunctionConfig as /,
    )
    assert.equal(setEveryNamespace(input).exitCode, 0)
  }
  const nothing = configMap('namespace: prod, other: null').replace(
    '\ndata:',
    '\n  annotations: null\ndata:',
  )
  assert.equal(setNamespace({ items: [], config: nodes(nothing)[0] }).exitCode, 0)
})

test('an error about the config names its file and the position in it', () => {
  const file = (index: string) => {
    const annotations = `  annotations:\n    internal.config.kubernetes.io/path: a.yaml\n    internal.config.kubernetes.io/index: ${index}\n`
    const config = nodes(configMap('').replace('\ndata:', `\n${annotations}data:`))[0]
    return setNamespace({ items: [], config }).results[0]?.file
  }
  for (const [index, location] of [
    ["'2'", 2],
    ["'-1'", -1],
    ['x', 0],
    ["''", -1],
  ] as const)
    assert.deepEqual(file(index), { path: 'a.yaml', index: location })
})

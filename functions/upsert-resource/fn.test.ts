import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { copyNode, type YamlMap } from '@backporch/kyaml/yaml'
import { oddConfig, oddItems } from '../../test/functions/odd-objects.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import { upsertResource, upsertResourceByOlderPath } from './fn.ts'

function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

function run(text: string, config: string): readonly string[] {
  const { items, results, exitCode } = upsertResource({
    items: nodes(text),
    config: nodes(config)[0],
  })
  assert.deepEqual([results, exitCode], [[], 0])
  return items.map((item) => writeYamlNode(item))
}

const service = (rest: string, name = 'web', apiVersion = 'v1') =>
  `apiVersion: ${apiVersion}\nkind: Service\nmetadata:\n  name: ${name}\n${rest}`
const at = (path: string, more = '') =>
  `  annotations:\n${more}    internal.config.kubernetes.io/path: ${path}\n    internal.config.kubernetes.io/index: '0'\n`
/** As it comes out: by name, and without quotes that nothing needs. */
const written = (path: string) =>
  `  annotations:\n    internal.config.kubernetes.io/index: "0"\n    internal.config.kubernetes.io/path: ${path}\n`
const OTHER = 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n'

test('replaces an existing resource as a whole, in its file', () => {
  const before = `${service(at('a.yaml', '    old: x\n'))}spec:\n  ports: []\n---\n${OTHER}`
  assert.deepEqual(run(before, `${service('spec:\n  type: ClusterIP # inside\n')}`), [
    // The metadata's last field are the annotations.
    service(`${written('a.yaml')}spec:\n  type: ClusterIP # inside\n`),
    OTHER,
  ])
})

test('old file annotations of the config do not remain beside those of the match', () => {
  const config = service(
    "  annotations:\n    config.kubernetes.io/index: '0'\n    config.kubernetes.io/path: c.yaml\n",
  )
  assert.deepEqual(run(service(at('a.yaml')), config), [service(written('a.yaml'))])
  assert.match(run('', config)[0] ?? '', /config\.kubernetes\.io\/path: c\.yaml/)
})

test('replaces every match', () => {
  const before = `${service(at('a.yaml'))}---\n${service(at('b.yaml'))}`
  assert.deepEqual(run(before, service('spec: {}\n')), [
    service(`${written('a.yaml')}spec: {}\n`),
    service(`${written('b.yaml')}spec: {}\n`),
  ])
})

test('matches a resource by group, kind, namespace and name, but not by version', () => {
  const config = (apiVersion: string, rest = '') =>
    `apiVersion: ${apiVersion}\nkind: Deployment\nmetadata:\n  name: web\n${rest}`
  assert.equal(run(OTHER, config('apps/v1beta1')).length, 1)
  for (const other of [
    config('v1'),
    config('apps/v1', '  namespace: default\n'),
    config('apps/v1').replace('web', 'shop'),
    service(''),
  ])
    assert.equal(run(OTHER, other).length, 2)
})

test('adds a missing resource without the annotations of its config file', () => {
  const config = service(
    at('fn-config.yaml', '    note: "x"\n    config.kubernetes.io/function: y\n'),
  )
  assert.deepEqual(run(OTHER, config), [OTHER, service('  annotations:\n    note: x\n')])
  assert.deepEqual(run('', service(at('fn-config.yaml'))), [service('')])
})

test('a null annotation becomes an empty string', () => {
  const config = service('  annotations:\n    a: null\n    b: ~\n    c: 7\n')
  assert.deepEqual(run('', config), [service('  annotations:\n    a: ""\n    b: ""\n    c: "7"\n')])
})

test('a target path selects the file to search and to add to', () => {
  const config = service('  annotations:\n    config.kubernetes.io/target-path: b.yaml\nspec: {}\n')
  const before = `${service(at('a.yaml'))}---\n${service(at('b.yaml'))}`
  assert.deepEqual(run(before, config), [
    service(at('a.yaml')),
    service(`${written('b.yaml')}spec: {}\n`),
  ])
  assert.deepEqual(run(service(at('a.yaml')), config), [
    service(at('a.yaml')),
    service('  annotations:\n    internal.config.kubernetes.io/path: b.yaml\nspec: {}\n'),
  ])
})

test('the config of a function is not a match', () => {
  const marked = service("  annotations:\n    config.k8s.io/function: 'x'\n")
  assert.deepEqual(run(marked, service('')), [marked, service('')])
})

test('processes the items of a List one after the other', () => {
  const list =
    'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {a: 1}}\n- {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {a: 2}}\n'
  const twice = service(at('a.yaml'))
  assert.match(run(twice, list)[0] ?? '', /path: a\.yaml}}, spec: {a: 2}}/)
  assert.deepEqual(run(OTHER, 'apiVersion: v1\nkind: List\n'), [OTHER])
})

test('does not change the config, so that the same resource can be inserted twice', () => {
  const [config] = nodes(service('spec: {}\n'))
  const { items } = upsertResource({
    items: nodes(`${service(at('a.yaml'))}---\n${service(at('b.yaml'))}`),
    config,
  })
  assert.notEqual(items[0]?.entries, items[1]?.entries)
  assert.equal(config === undefined ? '' : writeYamlNode(config), service('spec: {}\n'))
})

test('reports an error without a resource', () => {
  for (const config of [
    undefined,
    ...nodes('{}'),
    ...nodes('kind: List\nitems: [7]\n'),
    ...nodes('spec: {}\n'),
  ]) {
    const { exitCode, results } = upsertResource({ items: nodes(OTHER), config })
    assert.equal(exitCode, 1)
    assert.match(results[0]?.message ?? '', /^failed to upsert resource: /)
  }
})

test('an object added in the same run has empty file annotations, which kpt rejects', () => {
  const list = `apiVersion: v1\nkind: List\nitems:\n${'- {apiVersion: v1, kind: Service, metadata: {name: web}}\n'.repeat(2)}`
  assert.match(run('', list)[0] ?? '', /internal\.config\.kubernetes\.io\/path: ""/)
})

test('v0.2.0 matches by the older file annotations, and keeps the newer ones of the config', () => {
  const older = (path: string): string =>
    `  annotations:\n    config.kubernetes.io/index: "0"\n    config.kubernetes.io/path: ${path}\n`
  const newer = '    internal.config.kubernetes.io/path: c.yaml\n'
  const { items } = upsertResourceByOlderPath({
    items: nodes(service(`${older('a.yaml')}${newer.replace('c.yaml', 'a.yaml')}`)),
    config: nodes(service(`${older('c.yaml')}${newer}`))[0],
  })
  assert.deepEqual(
    items.map((item) => writeYamlNode(item)),
    [service(`${older('a.yaml')}${newer}`)],
  )
})

test('throws for no objects and config, and a second run adds nothing', () => {
  fc.assert(
    fc.property(oddItems, oddConfig, (items, config) => {
      const once = upsertResource({ items: items.map(copyNode), config })
      if (once.exitCode !== 0) return
      const { length } = once.items
      assert.equal(upsertResource({ items: once.items, config }).items.length, length)
    }),
    { numRuns: 300 },
  )
})

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

test('a resource that is there is replaced whole, and stays in its file', () => {
  const before = `${service(at('a.yaml', '    old: x\n'))}spec:\n  ports: []\n---\n${OTHER}`
  assert.deepEqual(run(before, `${service('spec:\n  type: ClusterIP # inside\n')}`), [
    // The metadata's last field are the annotations.
    service(`${written('a.yaml')}spec:\n  type: ClusterIP # inside\n`),
    OTHER,
  ])
})

test('the older marks of the file that the config is in do not stay beside those of the match', () => {
  const config = service(
    "  annotations:\n    config.kubernetes.io/index: '0'\n    config.kubernetes.io/path: c.yaml\n",
  )
  assert.deepEqual(run(service(at('a.yaml')), config), [service(written('a.yaml'))])
  assert.match(run('', config)[0] ?? '', /config\.kubernetes\.io\/path: c\.yaml/)
})

test('every match is replaced', () => {
  const before = `${service(at('a.yaml'))}---\n${service(at('b.yaml'))}`
  assert.deepEqual(run(before, service('spec: {}\n')), [
    service(`${written('a.yaml')}spec: {}\n`),
    service(`${written('b.yaml')}spec: {}\n`),
  ])
})

test('a resource is the same by group, kind, namespace and name, and not by version', () => {
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

test('a resource that is not there is added, without the marks of the file it came from', () => {
  const config = service(
    at('fn-config.yaml', '    note: "x"\n    config.kubernetes.io/function: y\n'),
  )
  assert.deepEqual(run(OTHER, config), [OTHER, service('  annotations:\n    note: x\n')])
  assert.deepEqual(run('', service(at('fn-config.yaml'))), [service('')])
})

test('an annotation of null comes out as an empty text', () => {
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

test('the config of a function is no match', () => {
  const marked = service("  annotations:\n    config.k8s.io/function: 'x'\n")
  assert.deepEqual(run(marked, service('')), [marked, service('')])
})

test('a List is its items, one after the other', () => {
  const list =
    'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {a: 1}}\n- {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {a: 2}}\n'
  const twice = service(at('a.yaml'))
  assert.match(run(twice, list)[0] ?? '', /path: a\.yaml}}, spec: {a: 2}}/)
  assert.deepEqual(run(OTHER, 'apiVersion: v1\nkind: List\n'), [OTHER])
})

test('the config is not changed, and the same resource may be put in twice', () => {
  const [config] = nodes(service('spec: {}\n'))
  const { items } = upsertResource({
    items: nodes(`${service(at('a.yaml'))}---\n${service(at('b.yaml'))}`),
    config,
  })
  assert.notEqual(items[0]?.entries, items[1]?.entries)
  assert.equal(config === undefined ? '' : writeYamlNode(config), service('spec: {}\n'))
})

test('without a resource there is nothing to do, and that is an error', () => {
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

test('an object that was added a moment ago has no file, and kpt refuses the empty texts of the original', () => {
  const list = `apiVersion: v1\nkind: List\nitems:\n${'- {apiVersion: v1, kind: Service, metadata: {name: web}}\n'.repeat(2)}`
  assert.match(run('', list)[0] ?? '', /internal\.config\.kubernetes\.io\/path: ""/)
})

test('v0.2.0 knows the older annotations of a file, and leaves the newer ones of the config', () => {
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

test('with any objects and config, nothing is thrown, and a second run adds nothing', () => {
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

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foundInDiff, foundInReport, handEdits } from './edits.ts'
import { generate, repositoryFiles } from './generate.ts'

const OPTIONS = { objects: 300, objectsPerPackage: 120, seed: 7 }

test('the same options give the same bytes, another seed others', () => {
  const files = JSON.stringify(repositoryFiles(generate(OPTIONS)))
  assert.equal(JSON.stringify(repositoryFiles(generate(OPTIONS))), files)
  assert.notEqual(JSON.stringify(repositoryFiles(generate({ ...OPTIONS, seed: 8 }))), files)
})

test('a hundred objects have all kinds in their shares', () => {
  const [only, ...others] = generate({ objects: 100, objectsPerPackage: 100, seed: 1 })
  assert.deepEqual(others, [])
  const counts: Record<string, number> = {}
  for (const { kind } of only?.objects ?? []) counts[kind] = (counts[kind] ?? 0) + 1
  assert.deepEqual(counts, {
    ConfigMap: 70,
    Deployment: 10,
    Service: 8,
    ServiceAccount: 5,
    Widget: 5,
    Secret: 2,
  })
})

test('objects are spread over packages, and no two have one name', () => {
  const packages = generate(OPTIONS)
  assert.deepEqual(
    packages.map(({ objects }) => objects.length),
    [120, 120, 60],
  )
  const names = packages.flatMap(({ objects }) =>
    objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`),
  )
  assert.equal(new Set(names).size, 300)
  assert.equal(Object.keys(repositoryFiles(packages)).length, 300 + 2 * packages.length)
})

test('the ledger has 25 edits of different places, 15 of which only add', () => {
  const edits = handEdits(generate(OPTIONS))
  assert.deepEqual([edits.length, edits.filter(({ additive }) => additive).length], [25, 15])
  assert.equal(new Set(edits.map(({ mark }) => mark)).size, 25)
  assert.throws(() => handEdits(generate({ ...OPTIONS, objects: 20 })), /take more objects/)
})

test('recall counts what a report names, and what it names beside the ledger', () => {
  const edits = handEdits(generate(OPTIONS))
  const changes = edits
    .slice(0, 20)
    .map(({ object: { kind, metadata }, path }) => ({ ref: { kind, ...metadata }, path }))
  const quoted = changes.map((change) => ({
    ...change,
    path: change.path.replace(/\.(added-label-\d)$/, '["$1"]'),
  }))
  const extra = { ref: { kind: 'Pod', namespace: 'a', name: 'b' } }
  const report = (list: readonly unknown[]): string =>
    JSON.stringify({ items: [{ spec: { changes: list } }] })
  assert.deepEqual(foundInReport(edits, report([...quoted, extra])), { found: 20, others: 1 })
  assert.deepEqual(foundInReport(edits, report([])), { found: 0, others: 0 })
})

test('recall of a diff counts changed lines, not their surroundings', () => {
  const edits = handEdits(generate(OPTIONS))
  const diff =
    '--- /tmp/LIVE/added-key-1\n+++ b\n   key0: edited-value-1\n-  key0: edited-value-0\n+  key0: abc\n-  replicas: 41\n+  replicas: 1\n'
  assert.equal(foundInDiff(edits, diff), 2)
})

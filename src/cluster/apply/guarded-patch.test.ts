import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldPath, parseFieldPath } from '@backporch/kyaml/field'
import { buildGuardedPatch } from './guarded-patch.ts'

const SERVICE = {
  metadata: { name: 'web', labels: { 'a/b': '1' } },
  spec: {
    ports: [
      { port: 8081, protocol: 'TCP', name: 'http' },
      { port: 9090, protocol: 'TCP', name: 'metrics' },
    ],
  },
}

function at(text: string): FieldPath {
  const parsed = parseFieldPath(text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.path
}

test('one patch removes and re-adds a list item that was renumbered by hand', () => {
  const [live, git] = [SERVICE.spec.ports[0], { name: 'http', port: 80, targetPort: 8080 }]
  assert.ok(live !== undefined)
  assert.deepEqual(
    buildGuardedPatch(SERVICE, [
      { path: at('spec.ports[port=8081,protocol=TCP]'), expected: live, value: undefined },
      { path: at('spec.ports[port=80,protocol=TCP]'), expected: undefined, value: git },
    ]),
    {
      operations: [
        { op: 'test', path: '/spec/ports/0', value: live },
        { op: 'remove', path: '/spec/ports/0' },
        { op: 'add', path: '/spec/ports/-', value: git },
      ],
    },
  )
})

test('list indexes account for the earlier operations of the patch', () => {
  const patch = buildGuardedPatch(SERVICE, [
    {
      path: at('spec.ports[port=8081,protocol=TCP]'),
      expected: SERVICE.spec.ports[0],
      value: undefined,
    },
    { path: at('spec.ports[port=9090,protocol=TCP].name'), expected: 'metrics', value: 'm' },
  ])
  assert.ok('operations' in patch)
  assert.deepEqual(patch.operations.at(-1), {
    op: 'replace',
    path: '/spec/ports/0/name',
    value: 'm',
  })
})

test('adds missing parents together with a field, and escapes names', () => {
  assert.deepEqual(
    buildGuardedPatch(SERVICE, [
      { path: at('metadata.annotations["x/y"]'), expected: undefined, value: 'on' },
    ]),
    {
      operations: [{ op: 'add', path: '/metadata/annotations', value: { 'x/y': 'on' } }],
    },
  )
  const removal = buildGuardedPatch(SERVICE, [
    { path: at('metadata.labels["a/b"]'), expected: '1', value: undefined },
  ])
  assert.ok('operations' in removal)
  assert.deepEqual(removal.operations.at(-1), { op: 'remove', path: '/metadata/labels/a~1b' })
})

test('reports a path whose value differs from the reviewed one, and builds no patch', () => {
  const path = at('spec.ports[port=9090,protocol=TCP].name')
  assert.deepEqual(buildGuardedPatch(SERVICE, [{ path, expected: 'other', value: undefined }]), {
    unlike: path,
  })
})

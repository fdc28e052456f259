import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UNKNOWN_ACTOR } from '../../drift/attribute/actor.ts'
import type { UnmanagedObjects } from '../../reconcile/observe/read-unmanaged.ts'
import { driftReportListSchema } from '../../record/documents/drift-report-list.ts'
import { Terminal } from '../context/terminal.ts'
import { buildUnmanagedPart, formatUnmanaged } from './print-unmanaged.ts'

const creator = {
  manager: 'kubectl-create',
  operation: 'Update',
  subresource: '',
  class: 'human-tool',
  at: undefined,
  confidence: 'field-manager',
} as const
const FOUND: UnmanagedObjects = {
  cluster: 'prod',
  namespaces: ['shop'],
  objects: [
    {
      id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'x' },
      apiVersion: 'v1',
      creator,
      createdAt: '2026-11-21T10:00:00Z',
    },
    {
      id: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'y\u001b' },
      apiVersion: 'apps/v1',
      creator: UNKNOWN_ACTOR,
      createdAt: undefined,
    },
  ],
  unread: ['cannot list secrets: forbidden'],
  unlisted: [],
}
const terminal = new Terminal({ write: () => true }, { color: 'never', ascii: true, env: {} })

test('prints a separate list with the creator of each object and what was not checked', () => {
  const text = formatUnmanaged([FOUND], 0, terminal)
  assert.match(
    text,
    /^2 unmanaged in namespace shop of prod \(no drift, and not recorded\):\n {2}ConfigMap shop\/x {2}by kubectl-create, 2026-/,
  )
  assert.match(text, /Deployment shop\/y\S* \(apps\) {2}by an unknown writer, -\n/)
  assert.equal(text.includes('\u001b'), false)
  assert.match(text, /not searched: cannot list secrets: forbidden\n$/)
  assert.match(
    formatUnmanaged([{ ...FOUND, objects: [], unread: [] }], 0, terminal),
    /^no unmanaged objects in namespace shop of prod\n$/,
  )
  assert.match(
    formatUnmanaged([{ ...FOUND, namespaces: [], objects: [], unread: [] }], 0, terminal),
    /^no package of prod has a namespace/,
  )
  assert.equal(formatUnmanaged([], 0, terminal), '')
})

test('the JSON list of unmanaged objects matches its schema', () => {
  const list = {
    apiVersion: 'backporch.dev/v1alpha1',
    kind: 'DriftReportList',
    observedAt: '',
    incomplete: [],
    items: [],
    unmanaged: buildUnmanagedPart([FOUND]),
  }
  const { unmanaged } = driftReportListSchema.parse(list)
  assert.deepEqual(unmanaged, list.unmanaged)
  assert.deepEqual(unmanaged?.[0]?.objects[1], {
    apiVersion: 'apps/v1',
    ref: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'y\u001b' },
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlannedCommit } from '../../plan/observation/action.ts'
import { NO_WRITES } from '../../plan/observation/action.ts'
import type { Observation } from '../../plan/observation/observation.ts'
import { formatEditedLocations, listEditedFiles } from './edited-locations.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const BEFORE = {
  Kptfile: 'kind: Kptfile\npipeline:\n  newTag: "1"\n',
  'web.yaml': 'a: 1\nb: 2\nc: 3\n',
  'old.yaml': 'a: 1\n',
}

function locationsOf(after: { readonly [path: string]: string | null }): readonly string[] {
  const files = Object.entries(BEFORE).map(([path, text]) => ({
    path,
    mode: '100644' as const,
    content: bytes(text),
  }))
  const changes = Object.entries(after).map(([path, text]) => ({
    path,
    content: text === null ? null : bytes(text),
  }))
  const observed = { unit: { packagePath: 'apps/web' }, git: { files } } as unknown as Pick<
    Observation,
    'unit' | 'git'
  >
  const commits = [{ changes } as unknown as PlannedCommit]
  return formatEditedLocations(listEditedFiles(observed, { writes: { ...NO_WRITES, commits } }))
}

test('lists each changed line, without records and the Kptfile condition', () => {
  const condition = 'status:\n  conditions:\n  - type: Drifted\n'
  assert.deepEqual(
    locationsOf({ 'apps/web/Kptfile': BEFORE.Kptfile + condition, '.drift/records/x.yaml': 'a' }),
    [],
  )
  assert.deepEqual(
    locationsOf({
      'apps/web/web.yaml': 'a: 1\nb: 9\nc: 9\n',
      'apps/web/Kptfile': BEFORE.Kptfile.replace('"1"', '"2"') + condition,
      'apps/web/old.yaml': null,
      'apps/web/patch.yaml': 'a: 1\n',
    }),
    [
      'apps/web/Kptfile:3',
      'apps/web/old.yaml (deleted)',
      'apps/web/patch.yaml (new)',
      'apps/web/web.yaml:2-3',
    ],
  )
  assert.deepEqual(locationsOf({ 'apps/web/web.yaml': 'a: 1\nb: 2\n' }), ['apps/web/web.yaml:3'])
  assert.deepEqual(locationsOf({ 'apps/web/web.yaml': 'a: 9\nb: 2\nc: 9\nd: 4\n' }), [
    'apps/web/web.yaml:1,3-4',
  ])
})

test('lists a file outside the package that kustomize builds from', () => {
  const [path, text] = ['base/web.yaml', 'a: 1\nb: 2\n']
  const built = {
    source: { files: new Map([[path, { path, mode: '100644', content: bytes(text) }]]) },
  }
  const observed = {
    unit: { packagePath: 'apps/web' },
    git: { files: [] },
    built,
  } as unknown as Parameters<typeof listEditedFiles>[0]
  const commits = [
    { changes: [{ path, content: bytes('a: 1\nb: 3\n') }] } as unknown as PlannedCommit,
  ]
  assert.deepEqual(
    formatEditedLocations(listEditedFiles(observed, { writes: { ...NO_WRITES, commits } })),
    ['base/web.yaml:2'],
  )
})

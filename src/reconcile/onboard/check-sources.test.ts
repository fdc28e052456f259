import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import type { LiveSyncers } from '../repository/sources/read-syncers.ts'
import { judgeSources } from './check-sources.ts'

function object(kind: string, apiVersion: string) {
  return { apiVersion, kind, metadata: { name: 'a', namespace: 'b' } }
}

const FLUX = [
  object('Kustomization', 'kustomize.toolkit.fluxcd.io/v1'),
  object('Kustomization', 'kustomize.toolkit.fluxcd.io/v1'),
  object('GitRepository', 'source.toolkit.fluxcd.io/v1'),
]

function lines(
  live: Partial<LiveSyncers>,
  titles: readonly (readonly [string, string])[] = [],
  notes: readonly Note[] = [],
): readonly string[] {
  const sources = { cluster: 'prod', titles: new Map(titles), notes }
  return judgeSources({ listed: [], unread: [], isFiles: false, ...live }, sources).map(
    ({ state, message }) => `${state} ${message}`,
  )
}

test('each syncer that is found has a line with its resources and the units that they name', () => {
  const titles = [
    ['apps/prod', 'Flux Kustomization flux-system/apps'],
    ['', 'Flux Kustomization flux-system/root'],
  ] as const
  assert.deepEqual(
    lines({ listed: [...FLUX, object('Application', 'argoproj.io/v1alpha1')] }, titles),
    [
      'passed cluster prod: Flux: 2 Kustomization, 1 GitRepository; 2 units of this repository: apps/prod, .',
      'passed cluster prod: Argo CD: 1 Application; no unit of this repository and branch',
    ],
  )
})

test('unlistable resources are one warning with their kinds, without further lines', () => {
  const failure = new Failure({ code: 'BP3003', what: 'x', why: 'list is forbidden', remedy: 'y' })
  const note = (subject: string): Note => ({ cause: 'source-not-compared', subject, text: 'why' })
  const live = { listed: [], unread: [{ name: 'Flux', failure }], isFiles: false }
  const findings = judgeSources(live, {
    cluster: 'prod',
    titles: new Map(),
    notes: [note('Flux'), note('Argo CD Application a/b')],
  })
  assert.deepEqual(
    findings.map(({ state, code, message }) => [state, code, message]),
    [
      [
        'warning',
        'BP3003',
        'cluster prod: Flux: the account cannot list its resources, so its units are unknown: list is forbidden',
      ],
      ['skipped', undefined, 'cluster prod: Argo CD Application a/b: why'],
    ],
  )
  assert.match(
    findings[0]?.fix ?? '',
    /get, list and watch Kustomization \(kustomize\.toolkit\.fluxcd\.io\), GitRepository/,
  )
})

test('ignores a kustomize Kustomization, and reports a cluster without syncers', () => {
  const [line] = lines({ listed: [object('Kustomization', 'kustomize.config.k8s.io/v1beta1')] })
  assert.match(
    line ?? '',
    /^passed cluster prod: no syncer resource that could name units \(.*Flux/,
  )
})

test('units from files of the base branch are labelled as such', () => {
  assert.deepEqual(lines({ isFiles: true }, [['apps', 'Flux Kustomization flux-system/apps']]), [
    'passed cluster prod: Flux: as files of the base branch declare it; 1 unit of this repository: apps',
  ])
})

test('many uncompared resources are counted', () => {
  const notes = Array.from(
    { length: 7 },
    (_, at): Note => ({ cause: 'source-not-compared', subject: `Application ${at}`, text: 'why' }),
  )
  assert.equal(lines({ listed: FLUX }, [], notes).length, 7)
  assert.match(lines({ listed: FLUX }, [], notes).at(-1) ?? '', /2 more resources/)
})

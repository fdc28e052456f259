import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf, TEST_KEY } from '../../../../test/fakes/drift-samples.ts'
import { desiredOf } from '../../../../test/fakes/observation-builder.ts'
import { changeOf, recordOf } from '../../../../test/fakes/record-samples.ts'
import { computeItemFingerprint } from '../../../drift/compare/fingerprint.ts'
import type { ClosedEpisode } from '../../../record/documents/closed-episode.ts'
import { createClosedEpisode } from '../../observation/closed-episode.ts'
import {
  choosePossibleResolution,
  findSilencedUntil,
  getPlan,
  listApplyingFingerprints,
  planResolutions,
} from './pick-changes.ts'

function closed(more: Partial<ClosedEpisode['status']>, fingerprint = 'sha256:a'): ClosedEpisode {
  return createClosedEpisode(
    recordOf(
      [changeOf({ fingerprint: 'r' }), changeOf({ fingerprint: 'k', resolution: 'Adopt' })],
      { fingerprint },
    ),
    {
      outcome: 'Declined',
      decidedBy: 'Ada',
      at: '2026-11-21T10:00:00Z',
      ...more,
    },
  )
}

const SILENT: readonly (readonly [
  name: string,
  episodes: readonly ClosedEpisode[],
  at: string,
  until: string | undefined,
])[] = [
  [
    'before the end',
    [closed({ silentUntil: '2026-11-22T10:00:00Z' })],
    '2026-11-22T09:59:59Z',
    '2026-11-22T10:00:00Z',
  ],
  [
    'at the end',
    [closed({ silentUntil: '2026-11-22T10:00:00Z' })],
    '2026-11-22T10:00:00Z',
    undefined,
  ],
  [
    'of another fingerprint',
    [closed({ silentUntil: '2026-11-22T10:00:00Z' }, 'sha256:b')],
    '2026-11-21T11:00:00Z',
    undefined,
  ],
  [
    'merged',
    [closed({ outcome: 'Merged', silentUntil: '2026-11-22T10:00:00Z' })],
    '2026-11-21T11:00:00Z',
    undefined,
  ],
  [
    'from the latest of two rejections',
    [
      closed({ silentUntil: '2026-12-22T10:00:00Z' }),
      closed({ silentUntil: '2026-11-22T10:00:00Z' }),
    ],
    '2026-11-25T10:00:00Z',
    undefined,
  ],
]

for (const [name, episodes, at, until] of SILENT) {
  test(`end of a silence: ${name}`, () =>
    assert.equal(findSilencedUntil(episodes, 'sha256:a', at), until))
}

test('only restores of a merged, unverified decision count as being applied', () => {
  assert.deepEqual([...listApplyingFingerprints([closed({ outcome: 'Merged' })])], ['r'])
  assert.deepEqual(
    [
      ...listApplyingFingerprints([
        closed({ outcome: 'Merged', verifiedAt: '2026-11-21T11:00:00Z' }),
      ]),
    ],
    [],
  )
  assert.deepEqual(
    [
      ...listApplyingFingerprints([
        closed({}),
        closed({ outcome: 'Healed' }),
        closed({ outcome: 'ResolvedByGit' }),
      ]),
    ],
    [],
  )
})

test('resolutions come from the request, then the record, then the policy', () => {
  const changes = ['spec.a', 'spec.b', 'spec.c'].map((field) => {
    const drift = driftOf(field)
    return { drift, desired: undefined, fingerprint: computeItemFingerprint(drift, TEST_KEY) }
  })
  const [a, b] = changes.map(({ fingerprint }) => fingerprint)
  const record = recordOf(
    [
      changeOf({ fingerprint: b ?? '', resolution: 'Adopt' }),
      changeOf({ fingerprint: a ?? '', resolution: 'Adopt' }),
    ],
    { keyId: TEST_KEY.id },
  )
  const resolutionRequest = {
    resolution: 'Release',
    changes: new Set([a ?? '']),
    message: undefined,
  } as const
  const resolutions = (
    open: typeof record | undefined,
    requested: typeof resolutionRequest | undefined,
  ): string[] =>
    planResolutions(changes, open, requested, { byPolicy: () => 'Restore', key: TEST_KEY }).map(
      ({ resolution }) => resolution,
    )
  assert.deepEqual(resolutions(record, resolutionRequest), ['Release', 'Adopt', 'Restore'])
  assert.deepEqual(resolutions(record, undefined), ['Adopt', 'Adopt', 'Restore'])
  assert.deepEqual(resolutions(undefined, undefined), ['Restore', 'Restore', 'Restore'])
})

test("a record's plan for all changes is reused, and the policy is evaluated each time", () => {
  const changes = ['spec.a', 'spec.b'].map((field) => {
    const drift = driftOf(field)
    return { drift, desired: undefined, fingerprint: computeItemFingerprint(drift, TEST_KEY) }
  })
  const [a = '', b = ''] = changes.map(({ fingerprint }) => fingerprint)
  const known = { keyId: TEST_KEY.id }
  const part = recordOf([changeOf({ fingerprint: a, resolution: 'Adopt' })], known)
  const all = recordOf(
    [
      changeOf({ fingerprint: a, resolution: 'Adopt' }),
      changeOf({ fingerprint: b, resolution: 'Release' }),
    ],
    known,
  )
  const plan = (open: typeof all, policy: 'Restore' | 'Adopt') =>
    planResolutions(changes, open, undefined, { byPolicy: () => policy, key: TEST_KEY })
  const words = (planned: ReturnType<typeof plan>): string[] =>
    planned.map(({ resolution }) => resolution)
  assert.deepEqual(words(plan(part, 'Restore')), ['Adopt', 'Restore'])
  assert.deepEqual(
    words(plan(part, 'Adopt')),
    ['Adopt', 'Adopt'],
    'the policy has another window now',
  )
  const first = plan(all, 'Restore')
  assert.deepEqual(words(first), ['Adopt', 'Release'])
  assert.equal(plan(all, 'Adopt'), first)
  assert.deepEqual(words(plan(part, 'Restore')), ['Adopt', 'Restore'])
  assert.equal(
    plan(recordOf([...all.spec.changes], known), 'Restore').at(0)?.resolution,
    'Adopt',
    'another record of the same',
  )
})

test('a plan has the common resolution, or is Mixed', () => {
  assert.equal(getPlan(['Adopt', 'Adopt']), 'Adopt')
  assert.equal(getPlan(['Adopt', 'Restore']), 'Mixed')
})

test('a chosen resolution of a field stays when its live value changes again', () => {
  const before = driftOf('spec.replicas')
  const after = driftOf('spec.replicas', { live: 7 })
  const { group, kind, namespace, name } = before.id
  const chosen = changeOf({
    ref: { group, kind, namespace, name },
    path: 'spec.replicas',
    fingerprint: computeItemFingerprint(before, TEST_KEY),
    resolution: 'Adopt',
  })
  const changes = [
    { drift: after, desired: undefined, fingerprint: computeItemFingerprint(after, TEST_KEY) },
  ]
  const planned = planResolutions(changes, recordOf([chosen], { keyId: TEST_KEY.id }), undefined, {
    byPolicy: () => 'Restore',
    key: TEST_KEY,
  })
  assert.deepEqual(
    planned.map(({ resolution }) => resolution),
    ['Adopt'],
  )
})

test('an impossible policy resolution becomes Restore, and a defect is thrown', () => {
  const drift = driftOf('spec.replicas')
  const desired = desiredOf({ replicas: 3 })
  const possible = (
    change: Partial<Parameters<typeof choosePossibleResolution>[0]>,
    wanted: 'Adopt' | 'Release',
  ) => choosePossibleResolution({ drift, desired, fingerprint: '', ...change }, wanted)
  assert.equal(possible({}, 'Adopt'), 'Adopt')
  assert.equal(possible({ desired: undefined }, 'Adopt'), 'Restore')
  assert.equal(possible({ drift: { ...drift, lostWhenReleased: true } }, 'Release'), 'Restore')
  assert.throws(() => possible({ drift: {} as never }, 'Adopt'), TypeError)
})

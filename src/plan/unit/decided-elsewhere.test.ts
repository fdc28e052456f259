/** Decisions that were made outside Backporch, and their outcomes, planned over observations that are written by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KnownProposal } from '@backporch/forge/hosted-forge'
import { parseObjectId } from '@backporch/kyaml/files'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import {
  decidedOf,
  mergedOf,
  proposedOf,
  pullOf,
  turnOf,
  verdictOf,
  withStatus,
} from '../../../test/fakes/observation-builder.ts'
import { changeOf, recordOf } from '../../../test/fakes/record-samples.ts'
import { getDriftId, NO_TICKS } from '../../proposal/text/dashboard-ticks.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import { createClosedEpisode } from '../observation/closed-episode.ts'
import type { EndedHead, Observation } from '../observation/observation.ts'
import type { UnitPlan } from '../observation/unit-plan.ts'
import { planTurn } from '../turn/plan-turn.ts'
import { detectFight } from './fight.ts'
import { planReconcile } from './plan-reconcile.ts'

const REPLICAS = driftOf('spec.replicas')
const UNIT = proposedOf([REPLICAS])
const [OPEN] = UNIT.git.branches
const REF = OPEN?.ref ?? ''
const CLOSED = { state: 'closed', decidedBy: 'grace', decidedAt: '2026-11-21T10:00:30Z' } as const

function withGit(
  unit: Observation,
  git: Partial<Observation['git']>,
  pull?: Partial<KnownProposal>,
): Observation {
  return {
    ...unit,
    proposals: pull === undefined ? new Map() : new Map([[REF, pullOf(REF, pull)]]),
    git: { ...unit.git, ...git },
  }
}

function headOf(more: Partial<EndedHead> = {}): ReadonlyMap<string, EndedHead> {
  return new Map([
    [
      REF,
      { commit: parseObjectId('d'.repeat(40)), record: OPEN?.record, recordPushed: true, ...more },
    ],
  ])
}

const TAGGED = parseObjectId('c'.repeat(40))

/** The branch is gone. */
const DELETED = { branches: [], refs: new Map([...UNIT.git.refs].filter(([ref]) => ref !== REF)) }

function outcomes(plan: UnitPlan): string[] {
  return plan.outcomes.map(({ episode: { status } }) =>
    [status.outcome, status.decidedBy, status.reason].filter(Boolean).join(' '),
  )
}

const texts = ({ notes }: UnitPlan): string => notes.map(({ text }) => text).join('\n')

test('a proposal that a person closed is declined and silenced, and its branch is deleted', () => {
  const plan = planReconcile(withGit(UNIT, {}, CLOSED))
  assert.deepEqual(
    [plan.outcome, outcomes(plan)],
    ['silenced', ['Declined grace the proposal was closed']],
  )
  assert.equal(plan.outcomes[0]?.episode.status.silentUntil, '2026-12-21T10:00:30Z')
  assert.deepEqual(plan.writes.updates, [{ ref: REF, from: OPEN?.commit, to: null }])
  assert.match(
    texts(plan),
    /^drift-[0-9a-f]{8} was closed: exactly this drift is silent until 2026-12-21T10:00:30Z\n/,
  )
  assert.doesNotMatch(texts(plan), /came onto its branch/)
})

test('commits after the close are proposed again, and unreadable ones are not silenced', () => {
  const after = planReconcile(withGit(UNIT, { heads: headOf() }, CLOSED))
  assert.match(
    texts(after),
    /was closed at ddddddd: what came onto its branch after that is proposed again/,
  )
  assert.deepEqual(outcomes(after), ['Declined grace the proposal was closed'])
  const unread = planReconcile(
    withGit(UNIT, { heads: headOf({ record: undefined, unread: 'cut' }) }, CLOSED),
  )
  assert.match(
    texts(unread),
    /was closed at ddddddd, which cannot be read, so it silences nothing: cut/,
  )
  assert.deepEqual(
    [outcomes(unread), unread.writes.updates],
    [[], [{ ref: REF, from: OPEN?.commit, to: null }]],
  )
  const merged = planReconcile(withGit(UNIT, { heads: headOf() }, { ...CLOSED, state: 'merged' }))
  assert.match(
    texts(merged),
    /was merged at ddddddd: what came onto its branch after that is proposed again/,
  )
})

test('a record that backporch did not push declines nothing', () => {
  const branches = UNIT.git.branches.map((branch) => ({ ...branch, recordPushed: false }))
  const plan = planReconcile(withGit(UNIT, { branches }, CLOSED))
  assert.deepEqual(outcomes(plan), [])
  assert.match(
    texts(plan),
    /was closed with a record that backporch did not push: its drift is proposed again/,
  )
})

const OTHER = recordOf([changeOf()])
const GONE: readonly (readonly [name: string, unit: Observation, declined: boolean])[] = [
  ['a deleted branch', withGit(UNIT, DELETED), true],
  [
    'a deleted branch that was closed with this record',
    withGit(UNIT, { ...DELETED, heads: headOf() }, CLOSED),
    true,
  ],
  [
    'a deleted branch that was closed with another record',
    withGit(UNIT, { ...DELETED, heads: headOf({ record: OTHER }) }, CLOSED),
    false,
  ],
  [
    'a deleted branch that was closed without a record',
    withGit(UNIT, { ...DELETED, heads: headOf({ record: undefined }) }, CLOSED),
    false,
  ],
  [
    'a deleted branch with a record that was not pushed',
    withGit(UNIT, { ...DELETED, heads: headOf({ recordPushed: false }) }, CLOSED),
    false,
  ],
  [
    'a deleted branch that was merged between the reads',
    withGit(UNIT, DELETED, { ...CLOSED, state: 'merged' }),
    false,
  ],
  [
    'a deleted branch with an unreadable record',
    withGit(UNIT, { ...DELETED, unreadable: [unreadable()] }),
    false,
  ],
]

function unreadable() {
  const episode = OPEN?.record.spec.episode ?? ''
  return { location: 'base', episode, where: 'x', code: 'BP1110', why: 'cut' } as const
}

for (const [name, unit, declined] of GONE) {
  test(`${name} ${declined ? 'is a rejection' : 'is no rejection'}`, () => {
    assert.equal(
      outcomes(planReconcile(unit)).some((text) => text.startsWith('Declined')),
      declined,
    )
  })
}

test('a deleted draft is recorded again', () => {
  const draft = proposedOf([REPLICAS], { policy: { ...UNIT.policy, mode: 'Warn' } })
  const plan = planReconcile({ ...draft, git: { ...draft.git, branches: [], refs: DELETED.refs } })
  assert.deepEqual([plan.outcome, outcomes(plan)], ['created', []])
})

test('a proposal that a person closed while it was withdrawn is declined', () => {
  const healed = { ...UNIT, verdicts: [verdictOf([])] }
  const { writes, outcomes: found } = planReconcile(healed)
  const closed = found.map(({ episode }) => episode)
  assert.ok(writes.updates.length === 1)
  const unit = (pull: Partial<KnownProposal>, git: Partial<Observation['git']> = {}) =>
    withGit(
      healed,
      { ...DELETED, ledger: { ...UNIT.git.ledger, report: undefined, closed }, ...git },
      pull,
    )
  assert.deepEqual(outcomes(planReconcile(unit(CLOSED))), [
    'Declined grace the proposal was closed',
  ])
  const ours = unit({ ...CLOSED, decidedBy: undefined })
  assert.deepEqual(outcomes(planReconcile(ours)), [], 'we closed it')
  assert.deepEqual(outcomes(planReconcile(unit({ ...CLOSED, state: 'merged' }))), [])
  assert.deepEqual(
    outcomes(planReconcile(unit(CLOSED, { refs: UNIT.git.refs }))),
    [],
    'its branch is there',
  )
  const declined = closed.map(
    (episode): ClosedEpisode => ({
      ...episode,
      status: { ...episode.status, outcome: 'Declined' },
    }),
  )
  const known = unit(CLOSED, {
    ledger: { ...UNIT.git.ledger, report: undefined, closed: declined },
  })
  assert.deepEqual(outcomes(planReconcile(known)), [], 'the decision is known')
})

test('a manual merge publishes one revision and records who merged it', () => {
  const plan = planReconcile(mergedOf(UNIT))
  assert.deepEqual([plan.outcome, outcomes(plan)], ['applying', ['Merged Ada <ada@example.com>']])
  assert.deepEqual(
    plan.writes.updates.map(({ ref, from }) => [ref, from]),
    [['refs/tags/apps/web/v1', null]],
  )
  assert.match(texts(plan), /was merged by Ada: its revision is v1/)
  const merged = mergedOf(UNIT)
  const refs = new Map([...merged.git.refs, ['refs/tags/apps/web/v7', TAGGED]])
  const known = planReconcile({ ...merged, git: { ...merged.git, refs, revision: 7 } })
  assert.deepEqual(known.writes.updates, [])
  assert.equal(known.outcomes[0]?.episode.status.revision, 'v7')
  const elsewhere = new Map([...merged.git.refs, ['refs/tags/apps/api/v7', TAGGED]])
  const other = planReconcile({ ...merged, git: { ...merged.git, refs: elsewhere } })
  assert.equal(other.outcomes[0]?.episode.status.revision, 'v1', 'of another package')
  assert.equal(planReconcile(decidedOf(UNIT)).outcomes.length, 0, 'it is known')
})

test('a merged draft decides nothing', () => {
  const draft = mergedOf(proposedOf([REPLICAS], { policy: { ...UNIT.policy, mode: 'Warn' } }))
  assert.deepEqual(outcomes(planReconcile(draft)), [])
})

const MERGED = decidedOf(UNIT)
const unread = (name: string, more: object = {}) => ({
  ...{ ref: { ...REPLICAS.id, name }, state: 'unreadable', code: 'BP3006', why: 'no answer' },
  ...more,
})
const VERIFIED: readonly (readonly [name: string, unit: Observation, verified: boolean])[] = [
  ['nothing differs', { ...MERGED, verdicts: [verdictOf([])] }, true],
  ['its field still differs', MERGED, false],
  [
    'its field has another value',
    { ...MERGED, verdicts: [verdictOf([driftOf('spec.replicas', { live: 9 })])] },
    false,
  ],
  ['another field differs', { ...MERGED, verdicts: [verdictOf([driftOf('spec.paused')])] }, true],
  [
    'its object cannot be read',
    { ...MERGED, verdicts: [verdictOf([])], incomplete: [unread('web')] as never },
    false,
  ],
  [
    'another object cannot be read',
    { ...MERGED, verdicts: [verdictOf([])], incomplete: [unread('api')] as never },
    true,
  ],
  [
    'an inventory cannot be read',
    { ...MERGED, verdicts: [verdictOf([])], incomplete: [unread('', { ref: undefined })] as never },
    true,
  ],
]

for (const [name, unit, verified] of VERIFIED) {
  test(`a merged decision is ${verified ? '' : 'not '}verified when ${name}`, () => {
    const statuses = planReconcile(unit).outcomes.map(({ episode }) => episode.status.verifiedAt)
    assert.deepEqual(statuses, verified ? [unit.cluster.observedAt] : [])
  })
}

test('an unread Secret is verified by its field owners; a removed object needs the inventory', () => {
  const secret = { group: '', kind: 'Secret', namespace: 'shop', name: 'db' }
  const key = driftOf('data.user', {
    id: secret,
    apiVersion: 'v1',
    git: undefined,
    live: undefined,
    liveUnread: true,
  })
  const unit = decidedOf(proposedOf([], { verdicts: [verdictOf([key])] }))
  const now = (code: string) => ({
    ...unit,
    verdicts: [],
    incomplete: [{ ref: secret, state: 'unverified', code, why: 'hidden' }] as never,
  })
  assert.equal(planReconcile(now('BP3012')).outcomes.length, 1)
  assert.equal(planReconcile(now('BP3006')).outcomes.length, 0)
  const gone = decidedOf(
    proposedOf([driftOf('', { change: 'unexpected', git: undefined, live: {} })]),
  )
  const without = { ...gone, verdicts: [] }
  assert.equal(planReconcile(without).outcomes.length, 1)
  assert.equal(
    planReconcile({ ...without, incomplete: [unread('', { ref: undefined })] as never }).outcomes
      .length,
    0,
  )
})

test('a restore that is late fails once, and its drift is proposed again', () => {
  const later = (unit: Observation, observedAt = '2026-11-21T11:00:00Z') => ({
    ...unit,
    cluster: { ...unit.cluster, observedAt },
  })
  const plan = planReconcile(later(MERGED))
  assert.deepEqual(
    [plan.outcome, plan.outcomes.map(({ episode }) => episode.status.failedAt)],
    ['created', ['2026-11-21T11:00:00Z']],
  )
  assert.equal(plan.record?.spec.after, MERGED.git.merged[0]?.spec.episode)
  assert.equal(planReconcile(later(MERGED, '2026-11-21T10:05:00Z')).outcome, 'applying')
  const failed = withStatus(later(MERGED), { failedAt: '2026-11-21T10:30:00Z' })
  assert.deepEqual(planReconcile(failed).outcomes, [], 'it is known')
  assert.equal(planReconcile(failed).record?.spec.after, MERGED.git.merged[0]?.spec.episode)
  const moved = planReconcile(
    later({ ...MERGED, verdicts: [verdictOf([driftOf('spec.replicas', { live: 9 })])] }),
  )
  assert.deepEqual(
    [moved.outcomes, moved.record?.spec.after],
    [[], undefined],
    'what was restored is gone',
  )
  const unknown = { ...failed, verdicts: [verdictOf([driftOf('spec.paused')])] }
  assert.equal(planReconcile(unknown).record?.spec.after, undefined)
  const adopted = withStatus(later(MERGED), {})
  const closed = adopted.git.ledger.closed.map((episode) => ({
    ...episode,
    spec: {
      ...episode.spec,
      changes: episode.spec.changes.map((change) => ({ ...change, resolution: 'Adopt' as const })),
    },
  }))
  const unit = { ...adopted, git: { ...adopted.git, ledger: { ...adopted.git.ledger, closed } } }
  assert.deepEqual(planReconcile(unit).outcomes, [], 'an Adopt restores nothing')
})

test('only the silenced drift whose box is ticked is proposed again', () => {
  const closed = createClosedEpisode(OPEN?.record ?? recordOf([]), {
    outcome: 'Declined',
    decidedBy: 'grace',
    at: '2026-11-21T10:00:30Z',
    silentUntil: '2026-12-21T10:00:30Z',
  })
  const unit = withGit(UNIT, {
    ...DELETED,
    ledger: { ...UNIT.git.ledger, report: undefined, closed: [closed] },
  })
  const planned = (raise: readonly string[], one = unit) => {
    const { units } = planTurn(
      turnOf([one], { forge: { ticks: { ...NO_TICKS, raise: new Set(raise) } } }),
    )
    const [result] = units
    assert.ok(result?.state === 'planned')
    return result.plan
  }
  assert.equal(planned([]).outcome, 'silenced')
  assert.equal(planned(['00000000']).outcome, 'silenced')
  const id = getDriftId(closed.spec.fingerprint) ?? ''
  const raised = planned([id])
  assert.equal(raised.outcome, 'created')
  assert.ok(raised.writes.ledgerLines.includes('apps/web: raised again'))
  assert.match(
    raised.writes.ledger.map(({ text }) => text).join(),
    /silentUntil: '?"?2026-11-21T10:01:00Z/,
  )
  const over = withStatus(unit, { silentUntil: '2026-11-21T09:00:00Z' })
  assert.ok(!planned([id], over).writes.ledgerLines.includes('apps/web: raised again'))
})

const AT = '2026-11-21T10:00:00Z'
function closedAs(outcome: 'Merged' | 'Healed', at: string, path = 'spec.replicas'): ClosedEpisode {
  const status = { outcome, decidedBy: '', at, ...(outcome === 'Merged' ? { verifiedAt: at } : {}) }
  return createClosedEpisode(recordOf([changeOf({ path })]), status)
}
const merges = (...times: readonly string[]) => times.map((at) => closedAs('Merged', at))
const flips = (...times: readonly string[]) => times.map((at) => closedAs('Healed', at))

test('two undone merges a week or three flips in ten minutes are a fight; critical drift is never held', () => {
  const fight = (closed: readonly ClosedEpisode[], more = {}) =>
    detectFight([changeOf(more)], closed, AT)?.why
  const two = merges('2026-11-20T10:00:00Z', '2026-11-19T10:00:00Z')
  const advice = 'release the field, or ignore it by a rule of the policy'
  assert.equal(
    fight(two),
    `kubectl-edit writes spec.replicas of Deployment web again, after 2 merges that restored it: ${advice}`,
  )
  assert.equal(fight(two, { risk: 'critical' }), undefined)
  assert.equal(fight(two, { path: 'spec.paused' }), undefined)
  assert.equal(fight(two.slice(1)), undefined)
  assert.equal(
    fight(merges('2026-11-20T10:00:00Z', '2026-11-14T09:00:00Z')),
    undefined,
    'more than a week ago',
  )
  const three = ['2026-11-21T09:59:00Z', '2026-11-21T09:57:00Z', '2026-11-21T09:55:00Z']
  assert.match(fight(flips(...three)) ?? '', /again, 3 times in ten minutes: release/)
  assert.equal(fight(flips(...three.slice(1))), undefined)
  assert.equal(fight(flips(...three.slice(1), '2026-11-21T09:00:00Z')), undefined, 'an hour ago')
  const unknown = { actor: { ...changeOf().actor, confidence: 'none' as const } }
  assert.match(fight(two, unknown) ?? '', /^somebody writes /)
})

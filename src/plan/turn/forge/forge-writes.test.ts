/** What a turn writes on a forge with pages, over observations that are written by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KnownProposal } from '@backporch/forge/hosted-forge'
import { parseObjectId } from '@backporch/kyaml/files'
import { driftOf } from '../../../../test/fakes/drift-samples.ts'
import {
  after,
  decidedOf,
  mergedOf,
  observationOf,
  proposedOf,
  pullOf,
  type TurnParts,
  turnOf,
  verdictOf,
  withStatus,
} from '../../../../test/fakes/observation-builder.ts'
import { policyText } from '../../../../test/fakes/turn-world.ts'
import type { ClosedEpisode } from '../../../record/documents/closed-episode.ts'
import type { Observation } from '../../observation/observation.ts'
import { planReconcile } from '../../unit/plan-reconcile.ts'
import { planTurn } from '../plan-turn.ts'
import type { ForgeAction } from './forge-action.ts'
import { followUps, planMoved } from './moved-proposals.ts'
import { planIssues } from './plan-issues.ts'
import { planNotObserved } from './plan-proposals.ts'

const REPLICAS = driftOf('spec.replicas')

const UNIT = proposedOf([REPLICAS])
const [OPEN] = UNIT.git.branches
const REF = OPEN?.ref ?? ''

function withPull(unit: Observation, more: Partial<KnownProposal> = {}): Observation {
  return { ...unit, proposals: new Map([[REF, pullOf(REF, more)]]) }
}

function planned(units: readonly Observation[], parts: TurnParts = {}) {
  const proposals = new Map(units.flatMap((unit) => [...unit.proposals]))
  const closed = units.flatMap(({ git }) => git.ledger.closed)
  const refs = new Map(units.flatMap(({ git }) => [...git.refs]))
  return planTurn(
    turnOf(units, {
      ...parts,
      git: { closed, refs, ...parts.git },
      forge: { hosted: true, proposals, ...parts.forge },
    }),
  )
}

/** The writes on the forge before the push, as words. */
function writes(units: readonly Observation[], parts: TurnParts = {}): readonly string[] {
  return planned(units, parts).actions.flatMap((action) =>
    action.kind === 'forge' ? [wordsOf(action.write)] : [],
  )
}

function wordsOf(write: ForgeAction): string {
  switch (write.kind) {
    case 'comment':
      return `comment #${write.proposal}: ${write.body.split('\n')[0]}`
    case 'statuses':
      return `statuses ${write.statuses.map(({ context, state }) => `${context} ${state}`).join()}`
    case 'check-run':
      return 'check run'
    case 'issue':
      return `issue ${write.topic}`
    case 'close-issue':
      return `close ${write.topic}`
    default:
      return write.kind
  }
}

const MERGED = withPull(decidedOf(UNIT), { state: 'merged' })
const healed = (unit: Observation): Observation => ({ ...unit, verdicts: [verdictOf([])] })
const late = (unit: Observation): Observation => ({
  ...unit,
  cluster: { ...unit.cluster, observedAt: '2026-11-21T11:00:00Z' },
})

const OUTCOMES: readonly (readonly [
  name: string,
  unit: Observation,
  comment: RegExp,
  restored: string | undefined,
])[] = [
  [
    'the drift is gone',
    healed(withPull(UNIT)),
    /the cluster matched git again without a merge/,
    undefined,
  ],
  [
    'a person closed it',
    withPull(UNIT, { state: 'closed', decidedBy: 'grace', decidedAt: '2026-11-21T10:00:30Z' }),
    /2026-12-21/,
    undefined,
  ],
  ['the cluster shows the merge', healed(MERGED), /: Verified at 2026-11-21 10:02 UTC/, 'success'],
  [
    'the cluster does not show the merge in time',
    late(MERGED),
    /Merged, and at 2026-11-21 11:00 UTC the cluster still differs/,
    'failure',
  ],
]

for (const [name, unit, comment, restored] of OUTCOMES) {
  test(`posts one comment on the proposal when ${name}`, () => {
    const all = writes([unit])
    const comments = all.filter((text) => text.startsWith('comment #1: '))
    assert.equal(comments.length, 1, all.join('\n'))
    assert.match(comments[0] ?? '', comment)
    assert.equal(/drift\/restored (\w+)/.exec(all.join('\n'))?.[1], restored)
  })
}

test('each outcome has its own text', () => {
  const moved = {
    ...UNIT.git,
    tree: UNIT.git.tree.map((file) => ({ ...file, id: parseObjectId('d'.repeat(40)) })),
  }
  const byGit = { ...healed(withPull(UNIT)), git: moved }
  const first = ([, unit]: (typeof OUTCOMES)[number]): string =>
    writes([unit]).find((text) => text.startsWith('comment')) ?? ''
  const texts = [...OUTCOMES.map(first), writes([byGit]).find((text) => text.startsWith('comment'))]
  assert.equal(new Set(texts).size, 5, texts.join('\n'))
})

test('a merge that the forge does not show yet is checked again, and a closed one is explained', () => {
  const merged = mergedOf(UNIT)
  assert.deepEqual(writes([withPull(merged)])[0], 'stays-open')
  const closed = writes([
    withPull(merged, { state: 'closed', decidedBy: undefined, decidedAt: '2026-11-21T10:00:30Z' }),
  ])
  assert.equal(closed.filter((text) => text.startsWith('comment #1')).length, 1)
  assert.ok(!closed.includes('stays-open'))
  const known = writes([withPull(merged, { state: 'merged' })])
  assert.deepEqual(
    known.filter((text) => text.startsWith('comment')),
    [],
  )
  assert.match(known.join(), /drift\/restored pending/)
  const mergeCommits = new Map(
    [...merged.git.mergeCommits].map(([name, one]) => [name, { ...one, commit: 'abc' as never }]),
  )
  const edited = writes([
    withPull({ ...merged, git: { ...merged.git, mergeCommits } }, { state: 'closed' }),
  ])
  assert.deepEqual(
    edited.filter((text) => text.startsWith('comment')),
    [],
    'the ledger was edited',
  )
})

test('an outcome without a proposal is not posted, and a shared proposal gets one comment', () => {
  assert.deepEqual(writes([healed(UNIT)]), [])
  const other = { ...healed(withPull(UNIT)), unit: { ...UNIT.unit, cluster: 'edge' } }
  assert.equal(
    writes([healed(withPull(UNIT)), other]).filter((text) => text.startsWith('comment')).length,
    1,
  )
})

test('the comment on a failed restore names what was altered before the merge', () => {
  const altered = withStatus(late(MERGED), { altered: 'somebody edited it' })
  const [comment] = planned([altered]).actions.flatMap((action) =>
    action.kind === 'forge' && action.write.kind === 'comment' ? [action.write.body] : [],
  )
  assert.match(comment ?? '', /What was merged is not what was proposed: somebody edited it/)
})

test('a joint merge is verified when every cluster shows it', () => {
  const unit = withStatus(MERGED, { branch: REF.replace('refs/heads/', '') })
  const [episode] = unit.git.ledger.closed
  assert.ok(episode !== undefined)
  const other = (status: Partial<ClosedEpisode['status']>): ClosedEpisode => ({
    ...episode,
    metadata: { ...episode.metadata, name: '99999999' },
    status: { ...episode.status, ...status },
  })
  const comments = (closed: ClosedEpisode): number =>
    writes([healed(unit)], { git: { closed: [episode, closed] } }).filter((text) =>
      text.startsWith('comment'),
    ).length
  assert.deepEqual(
    [comments(other({})), comments(other({ verifiedAt: '2026-11-21T10:01:00Z' }))],
    [0, 1],
  )
  const failed = planned([late(unit)], { git: { closed: [episode, other({})] } }).actions
  assert.match(JSON.stringify(failed), /prod: no syncer applied/)
})

const LATER = '2027-02-01T10:00:00Z'
test('an overdue proposal mentions its code owners; a new or timely one does not', () => {
  const overdue = { ...UNIT, cluster: { ...UNIT.cluster, observedAt: LATER } }
  const comments = (unit: Observation, number: number | undefined): number =>
    planned([unit]).actions.flatMap((action) =>
      action.kind === 'propose'
        ? followUps(action.action.followedBy, { label: '#1', url: '', number }).filter(
            ({ kind }) => kind === 'comment',
          )
        : [],
    ).length
  assert.deepEqual(
    [comments(overdue, 1), comments(overdue, undefined), comments(UNIT, 1)],
    [1, 0, 0],
  )
})

test('a joint proposal supersedes the open proposals of its single clusters', () => {
  const edge = (name: string): Observation => ({
    ...withPull(UNIT, { number: 7 }),
    unit: { ...UNIT.unit, cluster: name },
  })
  const { units } = planned([edge('edge-1')])
  const members = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const [member] = members
  assert.ok(member !== undefined)
  const writesOf = (ref: string, state: KnownProposal['state'], others: readonly never[] = []) => {
    const openBranches = member.plan.openBranches.map((branch) => ({ ...branch, others }))
    const proposals = new Map([
      [REF, pullOf(REF, { number: 7, state })],
      ['refs/heads/joint', pullOf('refs/heads/joint', { number: 9 })],
    ])
    const joint = {
      ref,
      members: [{ ...member, plan: { ...member.plan, openBranches } }],
      away: [],
      writes: member.plan.writes,
    }
    const context = {
      view: { proposals } as never,
      notObserved: new Set<string>(),
      keepTexts: new Set<number>(),
    } as never
    return planMoved(context, new Map([['joint', joint]])).map(wordsOf)
  }
  assert.match(writesOf('refs/heads/joint', 'open').join(), /^comment #7: .*#1|^comment #7: /)
  assert.deepEqual(writesOf('refs/heads/joint', 'closed'), [])
  assert.deepEqual(
    writesOf('refs/heads/joint', 'open', [{} as never]),
    [],
    'it is a joint one already',
  )
  assert.deepEqual(writesOf(REF, 'open'), [], 'it is the very proposal')
  assert.deepEqual(writesOf('refs/heads/other', 'open'), [], 'the joint one is not open yet')
})

test('the statuses of a proposal say when its clusters could not be observed', () => {
  const { dialect } = turnOf([]).forge
  const all = planNotObserved(
    [{ ref: REF, commit: parseObjectId('b'.repeat(40)), clusters: ['prod'] }],
    dialect,
  )
  assert.deepEqual(
    all.map(({ kind }) => kind),
    ['statuses', 'check-run'],
  )
})

test('the longest wait of several clusters is shown', () => {
  const began = (cluster: string, observedAt: string): Observation => {
    const first = {
      ...observationOf([REPLICAS]),
      unit: { ...UNIT.unit, cluster },
      cluster: { ...UNIT.cluster, observedAt },
    }
    const one = after(first, planReconcile(first))
    return { ...one, cluster: { ...one.cluster, observedAt: LATER } }
  }
  const body = (units: readonly Observation[]): string =>
    planned(units).actions.flatMap((action) =>
      action.kind === 'propose' ? [action.action.wanted.body] : [],
    )[0] ?? ''
  const [old, young] = [
    began('edge-1', '2026-11-01T10:00:00Z'),
    began('edge-2', '2026-12-01T10:00:00Z'),
  ]
  const third = began('edge-3', '2026-12-02T10:00:00Z')
  for (const units of [
    [old, young, third],
    [third, young, old],
  ])
    assert.match(body(units), /\*\*Waiting\*\* for a decision since 2026-11-01 10:00 UTC/)
})

const HELD = {
  reason: 'storm',
  why: 'more than 50 packages began to differ within an hour',
} as const

/** The issues that follow the push, of a unit whose draft waits for the end of a storm. */
function issuesOf(
  units: readonly Observation[],
  parts: TurnParts = {},
): readonly (ForgeAction & { readonly kind: 'issue' })[] {
  const { policy, forge } = turnOf(units, parts)
  const { dialect } = turnOf(units, { ...parts, forge: { hosted: true } }).forge
  const ledger = { reports: new Map(), closed: new Map(), clusters: new Map() }
  const { actions } = planned(units, parts)
  const pushed = actions.flatMap((action) =>
    action.kind === 'push' ? [...action.units, ...action.clusters] : [],
  )
  const files = pushed.flatMap((part) => ('writes' in part ? part.writes : part).ledger)
  return actions.flatMap((action) => {
    if (action.kind !== 'issues') return []
    const { version, ...issues } = action
    const context = {
      ...issues,
      view: { policies: policy, proposals: forge.proposals },
      forge: { dialect, version, ledger },
    }
    return planIssues(context, files, new Map()).flatMap((write) =>
      write.kind === 'issue' ? [write] : [],
    )
  })
}

test('a storm has an issue while it lasts, and only while drift waits for its end', () => {
  const policy = policyText(
    '{mode: Propose, detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 1, stormShare: 0, digest: off}}',
  )
  const units = ['a', 'b', 'c'].map((name) => {
    const path = `apps/${name}`
    return {
      ...observationOf([REPLICAS]),
      unit: { ...UNIT.unit, packagePath: path, packageName: path, slug: `apps--${name}` },
    }
  })
  const topics = (parts: TurnParts) => issuesOf(units, parts).map(({ topic }) => topic)
  assert.deepEqual(topics({ policy }), ['storm', 'dashboard'])
  assert.deepEqual(topics({}), ['dashboard'])
  const waiting = {
    ...observationOf([REPLICAS]),
    policy: { ...UNIT.policy, mode: 'Warn' as const },
  }
  const draft = planReconcile(waiting, { hold: HELD })
  assert.equal(draft.report.status.held?.reason, 'storm')
})

test('the dashboard lists active rules and no expired ones', () => {
  const rules =
    '{mode: Warn, ignore: [{paths: [spec.a], reason: holds}, {paths: [spec.b], reason: ended, expires: "2026-01-01"}]}'
  const body = issuesOf([observationOf([REPLICAS])], { policy: policyText(rules) })
    .map((issue) => issue.body)
    .join()
  assert.match(body, /holds/)
  assert.doesNotMatch(body, /\bended\b(?! on)/)
})

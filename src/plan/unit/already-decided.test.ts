import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Failure } from '@backporch/kyaml/failure'
import { parseObjectId } from '@backporch/kyaml/files'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import {
  decidedOf,
  observationOf,
  proposedOf,
  refusalOf,
  verdictOf,
  withStatus,
} from '../../../test/fakes/observation-builder.ts'
import { DEPLOYMENT, refused, TurnWorld } from '../../../test/fakes/turn-world.ts'
import type { Drift, SetAside } from '../../drift/compare/drift.ts'
import { computeItemFingerprint } from '../../drift/compare/fingerprint.ts'
import { LEFT_OVER } from '../../drift/compare/last-applied.ts'
import type { Observation, ResolutionRequest } from '../observation/observation.ts'
import { createWaitingNotes } from './already-decided.ts'
import { planReconcile } from './plan-reconcile.ts'

const REPLICAS = driftOf('spec.replicas')
const COLOUR = driftOf('spec.color', { git: 'blue', live: 'red' })
const NO_FIELD = driftOf('', { change: 'missing', git: undefined, live: undefined })

/** A merge restored these differences, which live still shows; the others came after that. */
function applying(decided: readonly Drift[], later: readonly Drift[] = []): Observation {
  return { ...decidedOf(proposedOf(decided)), verdicts: [verdictOf([...decided, ...later])] }
}

function request(
  drifts: readonly Drift[] | undefined,
  resolution: ResolutionRequest['resolution'] = 'Restore',
): ResolutionRequest {
  const changes =
    drifts && new Set(drifts.map((drift) => computeItemFingerprint(drift, observationOf().key)))
  return { resolution, changes, message: undefined }
}

function refusedOf(unit: Observation, resolutionRequest: ResolutionRequest): Failure {
  const refused = refusalOf(() => planReconcile(unit, { resolutionRequest }))
  assert.equal(refused.code, 'BP2008')
  return refused
}

function planned(unit: Observation, resolutionRequest: ResolutionRequest): string[] | undefined {
  const changes = planReconcile(unit, { resolutionRequest }).record?.spec.changes
  return changes?.map(({ path, resolution }) => `${path} ${resolution}`)
}

for (const resolution of ['Restore', 'Adopt', 'Release'] as const) {
  test(`rejects ${resolution} of a change while its merged decision is applied, naming the decision`, () => {
    const failure = refusedOf(applying([REPLICAS], [COLOUR]), request([REPLICAS], resolution))
    assert.equal(
      failure.what,
      'the decision about Deployment shop/web spec.replicas is already made',
    )
    assert.match(
      failure.why,
      /^drift-[0-9a-f]{8} \(v1\) was merged to restore it, and the cluster does not agree yet$/,
    )
    assert.equal(
      failure.remedy,
      'let it be applied, then backporch scan apps/web; decide again if it differs after that',
    )
  })
}

test('a selection with a decided change is rejected as a whole, with how to select the rest', () => {
  const unit = applying([REPLICAS], [COLOUR])
  const failure = refusedOf(unit, request([COLOUR, REPLICAS], 'Adopt'))
  assert.match(
    failure.what,
    /^the decision about Deployment shop\/web spec\.replicas is already made$/,
  )
  assert.match(failure.remedy, /select only the changes that are still open/)
  assert.deepEqual(planned(unit, request([COLOUR], 'Release')), ['spec.color Release'])
  const more = { ...request([COLOUR]), more: [request([REPLICAS], 'Adopt')] }
  assert.match(
    refusedOf(unit, more).what,
    /spec\.replicas is already made$/,
    'a further choice of the same request counts',
  )
})

test('a request without a selection covers only the open changes', () => {
  assert.deepEqual(planned(applying([REPLICAS], [COLOUR]), request(undefined, 'Release')), [
    'spec.color Release',
  ])
})

test('names three decided changes, a whole object by its change, a decision without revision by name', () => {
  const fields = ['spec.a', 'spec.b', 'spec.c', 'spec.d'].map((field) => driftOf(field))
  const { what } = refusedOf(applying(fields), request(fields))
  assert.equal(
    what,
    'the decision about Deployment shop/web spec.a, Deployment shop/web spec.b, Deployment shop/web spec.c and 1 more is already made',
  )
  const whole = refusedOf(
    withStatus(applying([NO_FIELD]), { revision: undefined as never }),
    request([NO_FIELD]),
  )
  assert.equal(whole.what, 'the decision about Deployment shop/web missing is already made')
  assert.match(whole.why, /^drift-[0-9a-f]{8} was merged to restore it/)
})

test('a decided field can be decided again after it changed', () => {
  const moved = driftOf('spec.replicas', { live: 7 })
  const unit = { ...applying([REPLICAS]), verdicts: [verdictOf([COLOUR, moved])] }
  assert.deepEqual(planned(unit, request([moved], 'Release')), [
    'spec.color Restore',
    'spec.replicas Release',
  ])
})

const BEHIND = {
  drift: REPLICAS,
  state: 'Behind',
  why: 'live is what 1234567 rendered, git has 7654321 since',
} as const
const NOTHING: readonly (readonly [
  name: string,
  unit: Observation,
  why: string,
  remedy: string,
])[] = [
  [
    'everything is decided',
    applying([REPLICAS]),
    'all differences (1) are decided and merged, and the cluster does not agree yet',
    'let it be applied, then backporch scan apps/web',
  ],
  [
    'all changes wait for the syncer',
    waiting([BEHIND]),
    `the differences (1) wait for the syncer and are not drift: ${BEHIND.why}`,
    'let the syncer apply it, then backporch scan apps/web; to keep what is live, revert that commit',
  ],
  [
    'the syncer is suspended',
    waiting([{ ...BEHIND, state: 'Suspended' }]),
    `the differences (1) wait for the syncer and are not drift: ${BEHIND.why}`,
    'resume the syncer, then backporch scan apps/web; to keep what is live, revert that commit',
  ],
  [
    'all differences are ignored',
    waiting([{ ...BEHIND, state: 'Ignored' }]),
    'the differences (1) are ignored or released, so they are not drift',
    'backporch diff --show-ignored lists them',
  ],
  [
    'the observation is incomplete',
    observationOf([], { incomplete: [{ state: 'unreadable', code: 'BP3006', why: 'no answer' }] }),
    'no difference was found, but not everything could be observed',
    'backporch diff shows what could not be observed',
  ],
  ['nothing differs', observationOf(), 'live agrees with git', 'backporch diff shows the state'],
]

function waiting(setAside: readonly SetAside[]): Observation {
  return observationOf([], { verdicts: [verdictOf([], { setAside })] })
}

for (const [name, unit, why, remedy] of NOTHING) {
  test(`with nothing to decide because ${name}, the refusal says why and what to do`, () => {
    for (const resolution of ['Restore', 'Adopt', 'Release'] as const) {
      const refused = refusedOf(unit, request(undefined, resolution))
      assert.deepEqual([refused.why, refused.remedy], [why, remedy])
    }
  })
}

function noteOf(unit: Observation): string {
  return createWaitingNotes(unit, planReconcile(unit))
    .map(({ text }) => text.replace(/drift-[0-9a-f]{8}/g, 'drift-x'))
    .join()
}

test('the note about decided changes names the decision and fields that no apply removes', () => {
  const left = { ...COLOUR, notes: [LEFT_OVER] }
  const both = [REPLICAS, left]
  assert.equal(noteOf(observationOf([REPLICAS])), '', 'nothing is decided')
  assert.equal(
    noteOf(applying([REPLICAS])),
    '1 change is decided by drift-x (v1): it waits until the merged change is applied',
  )
  assert.match(
    noteOf(applying([REPLICAS, COLOUR])),
    /^2 changes are decided by drift-x \(v1\): they wait until the merged change is applied/,
  )
  const one = noteOf(applying([left]))
  assert.equal(
    one,
    '1 change is decided by drift-x (v1): no apply removes it, so remove it by hand',
  )
  assert.match(
    noteOf(applying([left, { ...REPLICAS, notes: [LEFT_OVER] }])),
    /: no apply removes them, so remove them by hand$/,
  )
  assert.match(
    noteOf(applying(both)),
    /: apply the merged change, and remove by hand the 1 that no apply removes$/,
  )
  const ours = applying([left])
  const settled = noteOf({ ...ours, policy: { ...ours.policy, settle: 'backporch' } })
  assert.match(settled, /: it waits until the merged change is applied$/, 'backporch removes it')
  assert.equal(noteOf({ ...applying(both), verdicts: [verdictOf([])] }), '', 'live agrees')
  const { git } = applying([REPLICAS])
  const report = git.ledger.report
  assert.ok(report !== undefined)
  const elsewhere = {
    ...report,
    spec: { ...report.spec, unit: { ...report.spec.unit, branch: 'release' } },
  }
  const refs = new Map([...git.refs, ['refs/heads/release', parseObjectId('e'.repeat(40))]])
  const moved = {
    ...applying([REPLICAS]),
    git: { ...git, refs, ledger: { ...git.ledger, report: elsewhere } },
  }
  assert.equal(noteOf(moved), '', 'the unit follows another branch')
})

test('for a package that waits for its syncer, the refusal names the commit and the next step', async () => {
  const world = new TurnWorld()
  const moved = world.repository.commitByHand('main', {
    'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', 'replicas: 4'),
  })
  for (const resolution of ['Restore', 'Adopt', 'Release'] as const) {
    const { why, remedy } = await refused(world.resolutionRequest(resolution), 'BP2008')
    assert.match(
      why,
      /^the differences \(1\) wait for the syncer and are not drift: live is what [0-9a-f]{7} rendered, git has /,
    )
    assert.ok(why.includes(`git has ${moved.slice(0, 7)} since`), why)
    assert.equal(
      remedy,
      'let the syncer apply it, then backporch scan apps/web; to keep what is live, revert that commit',
    )
  }
})

/** Plans that are partly impossible, over observations that are written by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { getLabels } from '@backporch/kyaml/resource'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import {
  desiredOf,
  gitOf,
  observationOf,
  proposedOf,
  refusalOf,
  turnOf,
  verdictOf,
} from '../../../test/fakes/observation-builder.ts'
import type { ObjectVerdict } from '../../drift/compare/drift.ts'
import type { PolicyWindow } from '../../policy/windows.ts'
import { findAdoptWindow } from '../observation/drift-age.ts'
import type { Observation, ResolutionRequest } from '../observation/observation.ts'
import type { UnitPlan } from '../observation/unit-plan.ts'
import { planTurn } from '../turn/plan-turn.ts'
import type { PlannedChange } from './commands/pick-changes.ts'
import { planReconcile } from './plan-reconcile.ts'
import { findPossiblePlan } from './possible-plan.ts'

const WHY = new Failure({
  code: 'BP2001',
  what: 'it is refused',
  why: 'as a whole',
  remedy: 'restore',
})

function changeOf(name: string, resolution: PlannedChange['resolution'] = 'Adopt'): PlannedChange {
  return {
    drift: driftOf(`spec.${name}`),
    desired: desiredOf({}),
    fingerprint: name,
    resolution,
    via: 'setter:x',
  }
}

/** The plan, where an attempt is refused that the condition is true of; by names of fields and of those that are adopted. */
function possible(
  names: readonly string[],
  refuses: (adopted: readonly string[]) => boolean,
): readonly string[] {
  const changes = names.map((name) => changeOf(name))
  const plan = findPossiblePlan(changes, WHY, (tried) => {
    const adopted = tried.flatMap(({ fingerprint, resolution }) =>
      resolution === 'Adopt' ? [fingerprint] : [],
    )
    if (refuses(adopted))
      throw new Failure({ code: 'BP2001', what: 'x', why: `not ${adopted.join()}`, remedy: 'y' })
  })
  assert.ok(
    plan.changes.every(({ resolution, via }) => (resolution === 'Restore') === (via === undefined)),
  )
  const planned = plan.changes
    .map(({ fingerprint, resolution }) => `${fingerprint} ${resolution}`)
    .join()
  return [planned, ...plan.notes.map(({ text }) => text)]
}

const has =
  (...names: readonly string[]) =>
  (adopted: readonly string[]): boolean =>
    names.every((name) => adopted.includes(name))
const asRestore = (name: string, why: string): string =>
  `spec.${name} of Deployment shop/web is planned as Restore and not as Adopt: ${why}`

const numbered = (count: number) => Array.from({ length: count }, (_none, at) => `f${at}`)
const IMPOSSIBLE = ['f0', 'f41']
const PLANS: readonly (readonly [
  name: string,
  names: readonly string[],
  refuses: (adopted: readonly string[]) => boolean,
  plan: readonly string[],
])[] = [
  [
    'the one impossible change',
    ['a', 'b'],
    has('a'),
    ['a Restore,b Adopt', asRestore('a', 'not a')],
  ],
  [
    'the only change, with the reason of the whole plan',
    ['a'],
    has('a'),
    ['a Restore', asRestore('a', 'as a whole')],
  ],
  [
    'both of two changes, each impossible alone',
    ['a', 'b'],
    (adopted) => adopted.length === 1,
    ['a Restore,b Restore', asRestore('a', 'not a'), asRestore('b', 'not b')],
  ],
  [
    'as few changes as possible',
    ['a', 'b', 'c'],
    (adopted) => adopted.length === 1 || adopted.length === 3,
    ['a Adopt,b Adopt,c Restore', asRestore('c', 'not a,b,c')],
  ],
  [
    'the impossible change among two that need each other',
    ['a', 'b', 'c'],
    (adopted) => adopted.includes('b') || adopted.length === 1,
    ['a Adopt,b Restore,c Adopt', asRestore('b', 'not b')],
  ],
  [
    'the later of two changes that exclude each other',
    ['a', 'b'],
    has('a', 'b'),
    ['a Adopt,b Restore', asRestore('b', 'not a,b')],
  ],
  [
    'the impossible changes among many',
    numbered(60),
    (adopted) => adopted.some((name) => IMPOSSIBLE.includes(name)),
    [
      numbered(60)
        .map((name) => `${name} ${IMPOSSIBLE.includes(name) ? 'Restore' : 'Adopt'}`)
        .join(),
      asRestore('f0', 'not f0'),
      asRestore('f41', `not ${numbered(42).slice(1).join()}`),
    ],
  ],
  [
    'a change among many that is impossible alone',
    ['password', ...Array.from({ length: 21 }, (_none, at) => `f${at}`)],
    has('password'),
    [
      `password Restore,${Array.from({ length: 21 }, (_none, at) => `f${at} Adopt`).join()}`,
      asRestore(
        'password',
        'the value is a credential, and a credential in git is readable by everybody who can read the repository',
      ),
    ],
  ],
]

for (const [name, names, refuses, plan] of PLANS) {
  test(`falls back to Restore: ${name}`, () => assert.deepEqual(possible(names, refuses), plan))
}

test('changes left after the last attempt become Restore, with a note', () => {
  const [planned, ...notes] = possible(numbered(200), () => true)
  assert.doesNotMatch(planned ?? '', /Adopt/)
  assert.match(
    notes.at(-1) ?? '',
    /^\d+ more changes are not planned as requested: 40 attempts did not say which of them are possible; request them by their numbers, a few at a time$/,
  )
})

test('a Restore is not tried, and a defect is thrown', () => {
  const restored = changeOf('a', 'Restore')
  const plan = findPossiblePlan([restored, changeOf('b')], WHY, () => undefined)
  assert.deepEqual(
    plan.changes.map(({ resolution }) => resolution),
    ['Restore', 'Restore'],
  )
  const broken = () => {
    throw new RangeError('mine')
  }
  assert.throws(() => findPossiblePlan([changeOf('a'), changeOf('b')], WHY, broken), RangeError)
})

const ADOPTED = { desired: desiredOf({ replicas: 3 }) }
const REPLICAS = driftOf('spec.replicas')
const VERDICTS = [verdictOf([REPLICAS], ADOPTED)]
const ADOPT: ResolutionRequest = { resolution: 'Adopt', changes: undefined, message: undefined }

/** The policy adopts what differs, and one file of the package cannot be read. */
function packageWithout(name: string): Observation {
  const git = gitOf()
  const files = git.files.map((file) =>
    file.path === name ? { ...file, content: new TextEncoder().encode('a: [') } : file,
  )
  const { policy } = observationOf()
  return observationOf([], {
    verdicts: VERDICTS,
    policy: { ...policy, defaultPlan: 'Adopt' },
    git: gitOf({ files }),
  })
}
const NOT_EDITABLE = packageWithout('deployment.yaml')
const BROKEN = packageWithout('Kptfile')

const texts = ({ notes }: UnitPlan): string => notes.map(({ text }) => text).join('\n')

test('an unrequested Adopt that is impossible is recorded as Restore, so drift stays visible', () => {
  const plan = planReconcile(NOT_EDITABLE)
  assert.deepEqual(
    plan.record?.spec.changes.map(({ resolution }) => resolution),
    ['Restore'],
  )
  assert.match(
    texts(plan),
    /^spec\.replicas of Deployment shop\/web is planned as Restore and not as Adopt: /,
  )
  refusalOf(() => planReconcile(NOT_EDITABLE, { resolutionRequest: ADOPT }))
  const { policy } = observationOf()
  const restored = { ...BROKEN, policy }
  refusalOf(() => planReconcile(restored))
})

const TOKEN = driftOf('spec.token', { git: 'a', live: 'b' })
const WITH_TOKEN = {
  verdicts: [verdictOf([TOKEN, REPLICAS], { desired: desiredOf({ token: 'a', replicas: 3 }) })],
}
const ALL_ADOPTED: ResolutionRequest = { ...ADOPT, isAll: true }

function resolutionsOf(unit: Observation, resolutionRequest: ResolutionRequest): readonly string[] {
  const plan = planReconcile(unit, { resolutionRequest })
  const notes = plan.notes.filter(({ cause }) => cause === 'planned-as-restore')
  return [
    ...(plan.record?.spec.changes ?? []).map(({ resolution }) => resolution),
    ...notes.map(({ text }) => text),
  ]
}

test('a request for all takes what is possible, and names the rest with the reason', () => {
  const why =
    'the value is a credential, and a credential in git is readable by everybody who can read the repository'
  const left = (resolution: string) =>
    `spec.token of Deployment shop/web is planned as ${resolution} and not as Adopt: ${why}`
  assert.deepEqual(resolutionsOf(observationOf([], WITH_TOKEN), ALL_ADOPTED), [
    'Restore',
    'Adopt',
    left('Restore'),
  ])
  const before = proposedOf([], WITH_TOKEN, {
    resolutionRequest: { ...ALL_ADOPTED, resolution: 'Release' },
  })
  assert.deepEqual(resolutionsOf(before, ALL_ADOPTED), ['Release', 'Adopt', left('Release')])
})

test('a request that names an impossible change, or finds nothing possible, is rejected', () => {
  const unit = observationOf([], WITH_TOKEN)
  const [token] = planReconcile(unit).report.spec.changes
  const named: ResolutionRequest = { ...ADOPT, changes: new Set([token?.fingerprint ?? '']) }
  for (const request of [named, { ...ALL_ADOPTED, more: [named] }])
    assert.equal(
      refusalOf(() => planReconcile(unit, { resolutionRequest: request })).code,
      'BP2002',
    )
  const only = observationOf([], {
    verdicts: [verdictOf([TOKEN], { desired: desiredOf({ token: 'a' }) })],
  })
  assert.equal(
    refusalOf(() => planReconcile(only, { resolutionRequest: ALL_ADOPTED })).code,
    'BP2002',
  )
})

test('a proposal that cannot be recreated is left unchanged', () => {
  const before = proposedOf([], { verdicts: VERDICTS })
  const verdicts = [verdictOf([driftOf('spec.replicas', { live: 9 })], ADOPTED)]
  const broken = { ...before, verdicts, git: { ...before.git, files: BROKEN.git.files } }
  const plan = planReconcile(broken)
  assert.deepEqual([plan.outcome, plan.writes.updates], ['frozen', []])
  assert.match(texts(plan), /cannot be rebuilt/)
  refusalOf(() => planReconcile(broken, { resolutionRequest: ADOPT }))
})

test('a large proposal has a report; a draft and a small proposal have none', () => {
  const many = Array.from({ length: 201 }, (_none, at) => driftOf(`spec.f${at}`))
  const reports = (unit: Observation): number =>
    planReconcile(unit).writes.commits.flatMap(({ changes }) =>
      changes.filter(({ path }) => path.endsWith('/report.md')),
    ).length
  const { policy } = observationOf()
  assert.deepEqual(
    [
      observationOf(many),
      observationOf(many, { policy: { ...policy, mode: 'Warn' } }),
      observationOf([REPLICAS]),
    ].map(reports),
    [1, 0, 0],
  )
})

test('a request about an unreadable record is rejected with the reason', () => {
  const branch = {
    location: 'branch',
    episode: '1a2b3c4d',
    where: 'x',
    code: 'BP1110',
    why: 'of another version',
  } as const
  const refused = (
    git: Parameters<typeof gitOf>[0],
    unit = observationOf([REPLICAS], { git: gitOf(git) }),
  ) =>
    refusalOf(() => planReconcile(unit, { resolutionRequest: { ...ADOPT, resolution: 'Restore' } }))
  assert.deepEqual(
    [refused({ unreadable: [branch] }).code, refused({ unreadable: [branch] }).remedy.slice(0, 15)],
    ['BP1110', 'merge or delete'],
  )
  assert.match(
    refused({ unreadable: [{ ...branch, location: 'base' }] }).remedy,
    /^restore the file/,
  )
  const open = proposedOf([REPLICAS, driftOf('spec.paused')])
  const frozen = {
    ...open,
    verdicts: [verdictOf([REPLICAS])],
    incomplete: [{ state: 'unreadable', code: 'BP3006', why: 'x' }] as never,
  }
  assert.match(refused({}, frozen).why, /^not all of its objects could be observed$/)
  const foreign = {
    ...open,
    git: { ...open.git, branches: open.git.branches.map((one) => ({ ...one, foreign: true })) },
  }
  assert.match(refused({}, foreign).why, /^the branch has a commit that backporch did not make$/)
})

const ANY_WINDOW = { name: 'w', kind: 'adopt', where: '.drift/policy.yaml:3', except: [] } as const
const MORNING: PolicyWindow = {
  ...ANY_WINDOW,
  schedule: '0 9 * * *',
  duration: 3_600,
  timezone: 'UTC',
}
const LABELLED: PolicyWindow = { ...ANY_WINDOW, labels: new Map([['incident', 'open']]) }

function adopts(
  windows: readonly PolicyWindow[],
  drift = REPLICAS,
  more: Partial<ObjectVerdict> = {},
): boolean {
  const { policy } = observationOf()
  return findAdoptWindow(
    observationOf([], { policy: { ...policy, windows }, verdicts: [verdictOf([drift], more)] }),
  )(drift)
}

test('manual changes are adopted in an open adopt window or while the object has its label', () => {
  const { actor } = REPLICAS
  const live = { metadata: { labels: { incident: 'open' } } }
  assert.equal(getLabels(live).get('incident'), 'open')
  assert.deepEqual(
    [adopts([]), adopts([MORNING]), adopts([{ ...MORNING, kind: 'hold' }])],
    [false, true, false],
  )
  assert.equal(
    adopts([MORNING], driftOf('spec.replicas', { actor: { ...actor, class: 'controller' } })),
    false,
  )
  assert.equal(
    adopts(
      [MORNING],
      driftOf('spec.replicas', { actor: { ...actor, at: '2026-11-21T08:00:00Z' } }),
    ),
    false,
  )
  assert.equal(
    adopts([MORNING], driftOf('spec.replicas', { actor: { ...actor, at: undefined } })),
    false,
    'observed at ten',
  )
  assert.equal(
    adopts(
      [{ ...MORNING, duration: 7_200 }],
      driftOf('spec.replicas', { actor: { ...actor, at: '2027-01-01T00:00:00Z' } }),
    ),
    true,
  )
  assert.deepEqual([adopts([LABELLED]), adopts([LABELLED], REPLICAS, { live })], [false, true])
  assert.equal(
    adopts([LABELLED], driftOf('metadata.labels.incident', { live: 'open' }), { live }),
    false,
    'the label itself',
  )
  const { policy } = observationOf()
  const unit = observationOf([], { verdicts: VERDICTS, policy: { ...policy, windows: [MORNING] } })
  assert.deepEqual(
    planReconcile(unit).record?.spec.changes.map(({ resolution }) => resolution),
    ['Adopt'],
  )
})

test('an age uses the largest unit that fits', () => {
  const heldFor = (minAge: string): string | undefined => {
    const policy = `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: x}\nspec: {limits: {digest: off}}\n`
    const unit = observationOf([
      driftOf('spec.replicas', { actor: { ...REPLICAS.actor, at: '2026-11-21T09:59:59Z' } }),
    ])
    const detect = { ...unit.policy.detect, minAge: Number(minAge) }
    const [result] = planTurn(
      turnOf([{ ...unit, policy: { ...unit.policy, detect } }], { policy }),
    ).units
    return result?.state === 'planned' ? result.plan.report.status.held?.why : undefined
  }
  assert.deepEqual(['7200', '300', '90'].map(heldFor), [
    'it is proposed when it has stayed as it is for 2 h',
    'it is proposed when it has stayed as it is for 5 min',
    'it is proposed when it has stayed as it is for 90 s',
  ])
})

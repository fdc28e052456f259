/** Requests on a proposal, over an observation that is written by hand: what each changes, and what is answered. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestedAction } from '@backporch/forge/check-run'
import { Failure } from '@backporch/kyaml/failure'
import {
  comment,
  POLICY_FILES,
  planned,
  resolutions,
  texts,
  UNIT,
  VERDICT,
} from '../../../../test/fakes/answered-requests.ts'
import { driftOf } from '../../../../test/fakes/drift-samples.ts'
import {
  desiredOf,
  observationOf,
  proposedOf,
  requestsOf,
  verdictOf,
} from '../../../../test/fakes/observation-builder.ts'
import { parsePolicyFiles } from '../../../policy/parse-policy.ts'
import type { Observation } from '../../observation/observation.ts'
import { planReconcile } from '../plan-reconcile.ts'
import {
  type AnsweredRequests,
  findNotAllowed,
  isOutside,
  mayWait,
  planRequests,
} from './plan-requests.ts'
import type { ProposalRequests } from './proposal-requests.ts'

const NO_ANSWER = new Failure({
  code: 'BP4001',
  what: 'no answer',
  why: 'timeout',
  remedy: 'wait',
  retry: 'backoff',
})

test('a comment that adopts all states what it leaves; one that names an impossible change is rejected', () => {
  const verdict = verdictOf(
    [driftOf('spec.token', { git: 'a', live: 'b' }), driftOf('spec.replicas')],
    {
      desired: desiredOf({ token: 'a', replicas: 3 }),
    },
  )
  const unit = proposedOf([], { verdicts: [verdict] })
  const answered = comment('/adopt', unit)
  assert.deepEqual(resolutions(answered), ['Restore', 'Adopt'])
  assert.match(
    texts(answered).join(),
    /^done: the plan is \*\*mixed\*\* .*decides it\. `spec\.token` of Deployment `shop\/web` is planned as Restore and not as Adopt: the value is a/,
  )
  assert.match(
    texts(comment('/adopt 1', unit)).join(),
    /^refused: cannot adopt `spec\.token` of Deployment `shop\/web`: the value is a credential/,
  )
})

const CHOICES: readonly (readonly [body: string, resolutions: readonly string[], text: RegExp])[] =
  [
    ['/release', ['Release', 'Release'], /^done: the plan is \*\*Release\*\*/],
    ['/adopt 2', ['Restore', 'Adopt'], /^done: the plan is \*\*mixed\*\*/i],
    ['/adopt 1\n/release 2', ['Adopt', 'Release'], /^done: /],
    ['/adopt\n/restore 2 -- git is right', ['Adopt', 'Restore'], /^done: /],
  ]

for (const [body, wanted, text] of CHOICES) {
  test(`the comment ${JSON.stringify(body)} plans ${wanted.join(' and ')}, with one answer`, () => {
    const answered = comment(body)
    assert.deepEqual(resolutions(answered), wanted)
    assert.equal(answered.answers.length, 1)
    assert.match(texts(answered)[0] ?? '', text)
    assert.equal(answered.comments.length, 1)
  })
}

test('a later comment wins for the changes it names, and reasons of one comment are joined', () => {
  const answered = planned(
    requestsOf(UNIT, [
      '/adopt 1,2',
      '/release 2 -- it is tuned by hand',
      '/release 1 -- so is this',
    ]),
  )
  assert.deepEqual(resolutions(answered), ['Release', 'Release'])
  assert.equal(answered.state.resolutionRequest?.message, 'so is this')
  const two = comment('/adopt 1 -- first\n/release 2 -- second').state.resolutionRequest
  assert.deepEqual([two?.message, two?.by], ['first; second', 'ada'])
  assert.equal(comment('/adopt 1').state.resolutionRequest?.message, undefined)
})

const ANSWERS: readonly (readonly [body: string, text: RegExp, unit?: Observation])[] = [
  ['/recheck', /^done: observed the cluster at .*: it differs as shown above\.$/],
  ['/recheck', /^done: .*: nothing differs any longer\. /, healed()],
  ['/recheck', /^done: .*: the syncer did not apply a difference in time\./, stuck()],
  ['/snooze 7d', /^done: no reminders until .*; this stays open and is kept up to date$/],
  ['/snooze 7d', /^refused: there is nothing to snooze: nothing differs any longer/, healed()],
  ['/unignore 1', /^done: $/],
  ['/unignore 3', /^refused: there is no ignore rule `"3"`: 2 apply here, numbered from 1/],
  ['/unignore x', /^refused: there is no ignore rule `"x"`/],
  ['/ignore 1 -- tuned', /^done: $/],
  ['/explain', /^done: see below$/],
  ['/help', /^done: see below$/],
  ['/show ignores', /^done: see below$/],
  ['/exclude prod', /^refused: no cluster is removed from this pull request/],
  ['/recreate', /^done: the branch has only content that backporch makes; the plan is/],
  ['/recreate', /^refused: the branch is left as it is: nothing differs any longer/, healed()],
  ['/adopt 9', /^refused: the selector `"9"` names no open change/],
  ['/adopt', /^refused: there is nothing to decide about `apps\/web`/, healed()],
]

function healed(): Observation {
  return { ...UNIT, verdicts: [verdictOf([])] }
}

function stuck(): Observation {
  const drift = driftOf('spec.replicas')
  const setAside = [
    { drift, state: 'Behind', why: 'git moved', stuckSince: '2026-11-21T09:00:00Z' },
  ] as const
  return { ...UNIT, verdicts: [verdictOf([], { setAside })] }
}

for (const [index, [body, text, unit]] of ANSWERS.entries()) {
  test(`answers the comment ${body} (${index + 1})`, () => {
    const answered = comment(body, unit)
    assert.match(texts(answered).join('\n'), text)
    assert.equal(answered.waiting.length, 0)
  })
}

test('a snooze that already ended is answered as done', () => {
  const [first] = requestsOf(UNIT, ['/snooze 1h']).comments
  assert.ok(first !== undefined)
  const requester = { ...first.requester, at: '2026-11-20T00:00:00Z' }
  const answered = planned(requestsOf(UNIT, [], { comments: [{ ...first, requester }] }))
  assert.match(texts(answered).join(), /^done: the time .* is over$/)
})

test('ticked boxes plan or recheck, with one joint answer without a person', () => {
  const ticks = (...all: ProposalRequests['ticks']): AnsweredRequests =>
    planned(requestsOf(UNIT, [], { ticks: all }))
  const both = ticks(
    { verb: 'adopt', drift: '', changes: [1] },
    { verb: 'restore', drift: '', changes: [2] },
  )
  assert.deepEqual(resolutions(both), ['Adopt', 'Restore'])
  assert.deepEqual(
    both.answers.map(({ by, line }) => [by, line]),
    [[undefined, 'a ticked box']],
  )
  assert.equal(both.state.resolutionRequest?.by, '')
  assert.match(
    texts(ticks({ verb: 'recheck', drift: '', changes: [] })).join(),
    /^done: observed the cluster/,
  )
  assert.deepEqual(texts(ticks()), [])
})

test('a comment with one rejected line is not carried out at all', () => {
  const answered = comment('/adopt 1\n/drift nonsense')
  assert.deepEqual(resolutions(answered), ['Restore', 'Restore'])
  assert.deepEqual(texts(answered), [
    'refused: there is no command nonsense; `/drift` help lists them',
    'refused: not done, because another line of the comment cannot be',
  ])
})

test('a requester without rights gets the reason, and nothing is done', () => {
  const refusal = new Failure({
    code: 'BP2013',
    what: 'no access',
    why: 'read only',
    remedy: 'ask',
  })
  const [first] = requestsOf(UNIT, ['/adopt 1']).comments
  assert.ok(first !== undefined)
  const answered = planned(
    requestsOf(UNIT, [], { comments: [{ ...first, refusal, mayCommand: false }] }),
  )
  assert.deepEqual(texts(answered), ['refused: no access: read only (ask)'])
  assert.deepEqual(resolutions(answered), ['Restore', 'Restore'])
  const { requester } = first
  assert.equal(findNotAllowed(requester, { packagePath: '', codeOwners: '' }), undefined)
  assert.equal(
    findNotAllowed({ ...requester, permission: 'read' }, { packagePath: '', codeOwners: '' })?.code,
    'BP2013',
  )
})

test('a request that can succeed later waits as a whole comment; an impossible one is rejected', () => {
  const broken = (failure: Error) => {
    let plans = 0
    return planRequests(
      requestsOf(UNIT, ['/adopt 1\n/recheck']),
      parsePolicyFiles([]),
      (state) => {
        plans += 1
        if (plans > 2) throw failure
        return planReconcile(state.observation, { resolutionRequest: state.resolutionRequest })
      },
      { observation: UNIT, resolutionRequest: undefined },
    )
  }
  const later = broken(NO_ANSWER)
  assert.deepEqual(
    [later.answers, later.comments, later.state.resolutionRequest],
    [[], [], undefined],
  )
  assert.deepEqual(
    later.waiting.map(({ by, line, failure }) => [by, line, failure]),
    [['ada', '/adopt 1', NO_ANSWER]],
  )
  const never = new Failure({
    code: 'BP2001',
    what: 'impossible',
    why: 'so it is',
    remedy: 'leave it',
  })
  const refused = broken(never)
  assert.deepEqual(
    refused.answers.map(({ done }) => done),
    [true, false],
  )
  assert.deepEqual(refused.waiting, [])
  assert.throws(() => broken(new RangeError('mine')), RangeError)
})

test('failures of git, the forge and retryable ones make a request wait', () => {
  const failure = (code: Failure['code'], retry: Failure['retry'] = 'on-change') =>
    mayWait(new Failure({ code, what: 'a', why: 'b', remedy: 'c', retry }))
  assert.deepEqual(
    [isOutside('BP4001'), isOutside('BP5001'), isOutside('BP4004'), isOutside('BP2001')],
    [true, true, false, false],
  )
  assert.deepEqual(
    [failure('BP4001'), failure('BP2001'), failure('BP3006', 'backoff')],
    [true, false, true],
  )
})

test('an unobserved unit answers with the reason, and answers commands that need no observation', () => {
  const lost = new Failure({
    code: 'BP3006',
    what: 'prod does not answer',
    why: 'timeout',
    remedy: 'wait',
  })
  const answered = planned(
    requestsOf(UNIT, ['/adopt', '/help', '/recheck'], { policyFiles: POLICY_FILES }),
    lost,
  )
  assert.deepEqual(texts(answered), [
    'refused: prod does not answer: timeout (wait)',
    'done: see below',
    'refused: prod does not answer: timeout (wait)',
  ])
})

test('a button click applies once, to the commit that was shown, for authorised people', () => {
  const head = UNIT.git.branches[0]?.commit ?? ''
  const action: RequestedAction = {
    id: '77',
    button: 'adopt',
    login: 'ada',
    bot: false,
    at: '2026-11-21T10:01:00Z',
    commit: head,
  } as never
  const click = (
    more: Partial<RequestedAction>,
    permission: 'write' | 'read' = 'write',
    answered = '',
  ) => {
    const requester = { login: 'ada', permission, comment: '77', at: action.at }
    const requestedActions = [{ requestedAction: { ...action, ...more }, requester }]
    return planned(requestsOf(UNIT, [], { requestedActions, answered }))
  }
  const done = click({})
  assert.deepEqual(resolutions(done), ['Adopt', 'Adopt'])
  assert.deepEqual(
    done.answers.map(({ line }) => line),
    ['button Switch to adopt'],
  )
  assert.deepEqual(
    done.requestedActions.map((one) => one.done),
    [true],
  )
  assert.match(
    texts(click({ commit: 'd'.repeat(40) as never })).join(),
    /^refused: it was clicked on `?ddddddd/,
  )
  assert.match(texts(click({}, 'read')).join(), /^refused: .*needs write access/)
  for (const again of [
    click({}, 'write', ',77,'),
    click({ bot: true }),
    click({ button: 'none' }),
  ]) {
    assert.deepEqual([again.answers, again.requestedActions.map((one) => one.done)], [[], [true]])
  }
})

test('an excluded cluster leaves a joint proposal, and a foreign branch is recreated', () => {
  const two = requestsOf(UNIT, ['/exclude prod'])
  const joint = planned({ ...two, unit: { ...two.unit, drifts: ['a', 'b'] } })
  assert.match(texts(joint).join(), /^done: clusters named `?prod`? are removed/)
  assert.ok(
    !(joint.state.observation instanceof Failure) && joint.state.observation.exclude === 'prod',
  )
  const branches = UNIT.git.branches.map((branch) => ({ ...branch, foreign: true }))
  const foreign = { ...UNIT, git: { ...UNIT.git, branches } }
  const recreated = comment('/adopt 1\n/recreate', foreign)
  assert.equal(
    recreated.answers[0]?.line,
    '/recreate',
    'a branch is taken back before anything is planned on it',
  )
  assert.deepEqual(resolutions(recreated), ['Adopt', 'Restore'])
  const incomplete = [{ state: 'unreadable', code: 'BP3006', why: 'no answer' }] as const
  assert.match(
    texts(comment('/recreate', { ...foreign, incomplete })).join(),
    /^refused: the branch of `apps\/web` is not rebuilt/,
  )
  const gone = { ...foreign, verdicts: [verdictOf([])] }
  assert.match(
    texts(comment('/recreate', gone)).join(),
    /^refused: the branch is left as it is: nothing differs any longer/,
  )
  const { branch } = planReconcile(observationOf([], { verdicts: [VERDICT] }))
  const refs = new Map([...observationOf().git.refs, [`refs/heads/${branch}`, head()]])
  const unknown = observationOf([], { verdicts: [VERDICT], git: { ...observationOf().git, refs } })
  assert.match(
    texts(comment('/recreate', unknown)).join(),
    /^refused: .*: it has no record of backporch, so its expected content is unknown/,
  )
})

function head() {
  const [branch] = UNIT.git.branches
  assert.ok(branch !== undefined)
  return branch.commit
}

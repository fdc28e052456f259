import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { AccessRule } from '@backporch/cluster/cluster'
import type { Finding } from '@backporch/kyaml/note'
import { judgeAccess, judgeClock } from './check-cluster.ts'

const rule = (verbs: string, resources: string, groups = ''): AccessRule => ({
  verbs: verbs.split(' '),
  groups: [groups],
  resources: resources.split(' '),
  names: [],
})
const REVIEWS = rule(
  'create',
  'selfsubjectaccessreviews selfsubjectrulesreviews',
  'authorization.k8s.io',
)
const READS = rule('get list watch', '*', 'apps')

function states(rules: readonly AccessRule[], settles = false, incomplete = false): string[] {
  const answers = new Map([['shop', { rules, incomplete, serverTime: undefined }]])
  return judgeAccess('prod', answers, settles).map(
    ({ check, state }: Finding) => `${check} ${state}`,
  )
}

it('passes an account with exactly the rights to read and dry-run', () => {
  assert.deepEqual(states([REVIEWS, READS, rule('patch', 'deployments', 'apps')]), [
    'cluster-read passed',
    'cluster-watch passed',
    'cluster-dry-run passed',
    'cluster-rbac passed',
  ])
})

it('warns of every write verb, and never of self-subject reviews', () => {
  for (const verb of [
    'update',
    'delete',
    'deletecollection',
    'impersonate',
    'bind',
    'escalate',
    '*',
  ]) {
    assert.ok(states([REVIEWS, READS, rule(verb, 'roles')]).includes('cluster-rbac warning'), verb)
  }
  const answers = new Map([
    [
      'shop',
      {
        rules: [READS, rule('update delete', 'deployments', 'apps')],
        incomplete: false,
        serverTime: undefined,
      },
    ],
  ])
  const found = judgeAccess('prod', answers, false).find(
    ({ state, check }) => check === 'cluster-rbac' && state === 'warning',
  )
  assert.match(found?.message ?? '', /may write: update, delete deployments\.apps in shop/)
})

it('accepts create rights for dry runs but not for a subresource, and states what is unknown without', () => {
  const dryRun = (...rules: readonly AccessRule[]): string =>
    judgeAccess(
      'prod',
      new Map([['shop', { rules, incomplete: false, serverTime: undefined }]]),
      false,
    )[2]?.message ?? ''
  assert.ok(
    states([READS, rule('patch create', 'deployments', 'apps')]).includes('cluster-rbac passed'),
  )
  assert.match(
    dryRun(READS, rule('patch create', 'deployments', 'apps')),
    /may patch and create, which dry runs need/,
  )
  assert.match(
    dryRun(REVIEWS, READS, rule('patch', 'deployments', 'apps')),
    /may not create, so objects without managers and missing objects/,
  )
  for (const resource of ['serviceaccounts/token', 'pods/exec', '*'])
    assert.ok(states([READS, rule('create', resource)]).includes('cluster-rbac warning'), resource)
})

it('lists four resources and counts the rest', () => {
  const answers = new Map([
    [
      'shop',
      {
        rules: [READS, rule('update', 'a b c d e f', 'apps')],
        incomplete: false,
        serverTime: undefined,
      },
    ],
  ])
  const found = judgeAccess('prod', answers, false).find(
    ({ state, check }) => check === 'cluster-rbac' && state === 'warning',
  )
  assert.match(found?.message ?? '', /update d\.apps in shop and 2 more$/)
})

it('states the missing rights for reading, dry runs and settling', () => {
  assert.deepEqual(states([REVIEWS]), [
    'cluster-read failed',
    'cluster-watch warning',
    'cluster-dry-run warning',
    'cluster-rbac passed',
  ])
  assert.equal(
    states([rule('get', '*', '*')])[0],
    'cluster-read failed',
    'one of the two is not enough',
  )
  assert.equal(
    states([{ ...READS, resources: [] }])[0],
    'cluster-read failed',
    'addresses that are no resource',
  )
  assert.deepEqual(states([READS], true), [
    'cluster-read passed',
    'cluster-watch passed',
    'cluster-dry-run warning',
    'cluster-rbac warning',
  ])
  assert.deepEqual(states([rule('*', '*', '*')], true), [
    'cluster-read passed',
    'cluster-watch passed',
    'cluster-dry-run passed',
    'cluster-rbac passed',
    'cluster-rbac warning',
  ])
  assert.ok(
    states([READS], false, true).includes('cluster-rbac skipped'),
    'a list that is not whole proves nothing',
  )
})

it('names the namespaces that lack a right, whatever others allow', () => {
  const answer = (...rules: readonly AccessRule[]) => ({
    rules,
    incomplete: false,
    serverTime: undefined,
  })
  const patch = rule('patch', 'deployments', 'apps')
  const answers = new Map([
    ['shop', answer(READS, patch)],
    ['db', answer(rule('get', 'secrets'))],
    ['mail', answer(READS)],
  ])
  const messages = judgeAccess('prod', answers, false).map(
    ({ state, message }) => `${state} ${message}`,
  )
  assert.equal(
    messages[0],
    'failed cluster prod: the account may not list anything in namespace db',
  )
  assert.match(
    messages[2] ?? '',
    /^warning cluster prod: the account may not patch in namespaces db, mail, so nothing can be dry-run there/,
  )
})

it('states what the controller does without watch rights, also on admission objects', () => {
  const watching = (...rules: readonly AccessRule[]): string =>
    judgeAccess(
      'prod',
      new Map([['shop', { rules, incomplete: false, serverTime: undefined }]]),
      false,
    )[1]?.message ?? ''
  assert.match(
    watching(rule('get list', '*', '*')),
    /may not watch, so the controller reads all packages in each interval/,
  )
  assert.match(
    watching(rule('get list watch', 'deployments customresourcedefinitions', '*')),
    /may not list and watch mutatingwebhookconfigurations, validatingwebhookconfigurations, validatingadmissionpolicies, validatingadmissionpolicybindings, so/,
  )
  assert.match(watching(READS), /the account may watch$/)
})

it('warns of clock skew in both directions', () => {
  const now = Date.UTC(2026, 10, 21)
  assert.deepEqual(judgeClock('x', undefined, now), [])
  assert.equal(judgeClock('x', now - 30_000, now)[0]?.state, 'passed')
  assert.match(judgeClock('x', now - 31_000, now)[0]?.message ?? '', /31 s ahead of x/)
  assert.match(judgeClock('x', now + 90_000, now)[0]?.message ?? '', /90 s behind x/)
})

/** Of the rules of one account. */
function judgeMore(user: string | undefined, ...rules: readonly AccessRule[]): Finding | undefined {
  const answer = { rules, incomplete: false, serverTime: undefined }
  const answers = new Map([['shop', user === undefined ? answer : { ...answer, user }]])
  return judgeAccess('prod', answers, false).find(({ message }) =>
    message.includes('the account may do more than Backporch ever does'),
  )
}

it('fails for a ServiceAccount that may take over others, and warns a person', () => {
  const account = 'system:serviceaccount:backporch:backporch'
  const takeovers: readonly (readonly [rule: AccessRule, what: string])[] = [
    [rule('get list watch', '*', '*'), 'get, list, watch * in shop'],
    [rule('get', 'pods/exec'), 'get pods/exec in shop'],
    [rule('create', 'pods/attach'), 'create pods/attach in shop'],
    [rule('get', 'nodes/proxy'), 'get nodes/proxy in shop'],
    [rule('create', 'serviceaccounts/token'), 'create serviceaccounts/token in shop'],
    [rule('impersonate', 'users'), 'impersonate users in shop'],
    [
      rule('escalate', 'clusterroles', 'rbac.authorization.k8s.io'),
      'escalate clusterroles in shop',
    ],
    [rule('bind', 'roles', 'rbac.authorization.k8s.io'), 'bind roles in shop'],
  ]
  for (const [given, what] of takeovers) {
    const failed = judgeMore(account, given)
    assert.deepEqual([failed?.state, failed?.message.endsWith(`: ${what}`)], ['failed', true], what)
    for (const user of ['ada@example.com', undefined])
      assert.equal(judgeMore(user, given)?.state, 'warning', what)
  }
})

it('accepts the rules that backporch rbac prints, and the rules of every account', () => {
  const account = 'system:serviceaccount:backporch:backporch'
  const rules = [
    REVIEWS,
    rule('list watch create patch', 'deployments', 'apps'),
    rule('list', 'pods'),
    rule('get list watch', '*', 'apps'),
  ]
  assert.equal(judgeMore(account, ...rules), undefined)
})

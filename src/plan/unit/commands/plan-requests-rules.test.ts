/** Requests about ignore rules and code owners: what each changes, and what is answered. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  comment,
  POLICY_FILES,
  planned,
  texts,
  UNIT,
} from '../../../../test/fakes/answered-requests.ts'
import { driftOf } from '../../../../test/fakes/drift-samples.ts'
import {
  desiredOf,
  proposedOf,
  requestsOf,
  verdictOf,
} from '../../../../test/fakes/observation-builder.ts'
import { policyText } from '../../../../test/fakes/turn-world.ts'
import { parsePolicyFiles } from '../../../policy/parse-policy.ts'

const EXPLAINED = /policy: Propose, from /

test('an ignore request adds an exact rule to the policy, an existing rule is not added, and all are listed', () => {
  const [ignored] = comment('/ignore 2 --for 3d -- scaled').answers
  const rule = {
    target: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
    paths: ['spec.replicas'],
    reason: 'scaled',
  }
  assert.deepEqual(ignored?.policy?.change.rules, [{ ...rule, expires: '2026-11-24' }])
  const files = ignored?.policy?.change.files ?? []
  assert.match(files[0]?.text ?? '', /paths: \[spec\.replicas\]|- spec\.replicas/)
  assert.deepEqual(texts(comment('/ignore 2 --for 3d -- scaled', UNIT, { policyFiles: files })), [
    'done: such a rule already exists',
  ])
  const [removed] = comment('/unignore 1').answers
  assert.deepEqual(
    removed?.policy?.change.rules.map(({ reason }) => reason),
    ['canary'],
  )
  const listed = comment('/show ignores').answers[0]?.details ?? ''
  assert.match(listed, /canary/)
  assert.match(listed, /over/)
  assert.deepEqual(texts(comment('/show ignores', UNIT, { policyFiles: [] })), [
    'done: no ignore rule applies here',
  ])
  assert.match(
    texts(comment('/unignore 1', UNIT, { policyFiles: [] })).join(),
    /there is no ignore rule `"1"`: no ignore rule applies here/,
  )
})

test('without a policy for the unit, its rules form a new policy in a free or existing file', () => {
  const placement =
    'apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: all}\nspec: {clusters: [prod], packages: [apps/web]}\n'
  const other = policyText('{match: {clusters: [edge]}}')
  const filesOf = (paths: readonly string[]) => {
    const policyFiles = paths.map((path, index) => ({
      path,
      text: index === 0 ? placement : other,
    }))
    return (
      comment('/ignore 2 -- scaled', UNIT, { policyFiles }).answers[0]?.policy?.change.files ?? []
    )
  }
  assert.deepEqual(
    filesOf([]).map(({ path }) => path),
    ['.drift/default.policy'],
  )
  for (const [first, ending] of [
    ['.drift/default.policy', 'policy'],
    ['.drift/policy.yaml', 'yaml'],
  ] as const) {
    assert.deepEqual(
      filesOf([first]).map(({ path }) => path),
      ['.drift/ignore-apps--web.policy'],
    )
    const [appended] = filesOf([first, `.drift/ignore-apps--web.${ending}`])
    assert.equal(appended?.path, `.drift/ignore-apps--web.${ending}`)
    assert.ok(appended.text.startsWith(other), 'what is there stays')
    assert.match(appended.text, /name: ignore-apps--web-in-prod/)
  }
})

test('without a number no rule is removed', () => {
  const [first] = requestsOf(UNIT, ['/unignore 1']).comments
  assert.ok(first !== undefined)
  const commands = {
    commands: first.commands.commands.map((command) => ({ ...command, selectors: [] })),
    refused: [],
  }
  const answered = planned(
    requestsOf(UNIT, [], { comments: [{ ...first, commands }], policyFiles: POLICY_FILES }),
  )
  assert.match(texts(answered).join(), /^refused: no rule is named: 2 apply here/)
})

test('an explanation lists the tried rules and why none hides the change', () => {
  const rules = parsePolicyFiles(POLICY_FILES).policies.flatMap(({ ignore }) => ignore)
  const unit = { ...UNIT, policy: { ...UNIT.policy, ignore: rules } }
  const details = comment('/explain 2', unit).answers[0]?.details ?? ''
  assert.match(details, /spec\.replicas/)
  assert.doesNotMatch(details, /spec\.color/)
  assert.match(details, /over since 2026-01-01/)
  assert.match(details, EXPLAINED)
  const many = proposedOf(Array.from({ length: 12 }, (_none, at) => driftOf(`spec.f${at}`)))
  assert.match(
    comment('/explain', many).answers[0]?.details ?? '',
    /\n- and 2 more, each with its number\n/,
  )
  assert.doesNotMatch(details, /more, each with its number/)
})

test('adopting or ignoring risky drift needs a code owner; restoring it does not', () => {
  const verdicts = [
    verdictOf([driftOf('spec.replicas', { risk: 'high' })], {
      desired: desiredOf({ replicas: 3 }),
    }),
  ]
  const risky = proposedOf([], { verdicts })
  const owned = { codeOwners: 'apps/ @grace\n', policyFiles: POLICY_FILES }
  for (const body of ['/adopt', '/release', '/ignore 1 -- tuned']) {
    const answered = comment(body, risky, owned)
    assert.match(texts(answered).join(), /^refused: .*is for its code owners/, body)
    assert.equal(answered.state.resolutionRequest, undefined)
  }
  assert.match(texts(comment('/restore', risky, owned)).join(), /^done: /)
  const ticks = [{ verb: 'adopt', drift: '', changes: [1] }] as const
  assert.match(
    texts(planned(requestsOf(risky, [], { ...owned, ticks }), risky)).join(),
    /^done: /,
    'the merge asks the owners',
  )
})

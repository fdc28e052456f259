/**
 * An unusable policy over whole turns: an earlier one decides, and nothing is opened, merged or
 * settled (docs/adr/0071-the-last-good-policy.md).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import {
  EVIL,
  everything,
  IMAGE,
  openIn,
  PLACEMENT,
  POLICY,
  reportOf,
  sceneOf,
  TYPO,
} from '../../../test/fakes/policy-scene.ts'
import { AT_ONCE, policyText, TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'
import * as fc from '../../../test/seeds/fast-check.ts'

test('critical drift is recorded with values despite a policy typo, and proposed after the fix', async () => {
  const scene = sceneOf()
  const { world, forge } = scene
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  const base = world.repository.head('main')
  world.edit(WEB, IMAGE, EVIL)
  const result = await world.scan()
  const report = world.repository.text(
    'drift-ledger',
    world.repository.paths('drift-ledger').find((path) => path.endsWith('/report.yaml')) ?? '',
  )
  assert.match(report ?? '', /live: evil\.example\.com\/miner:1\n/)
  assert.match(report ?? '', /risk: critical\n/)
  assert.match(
    report ?? '',
    /held:\n {4}reason: policy\n {4}why: the policy cannot be used \(\.drift\/policy\.yaml:4\)/,
  )
  assert.equal(openIn(scene), 0)
  assert.deepEqual(
    result.reported.map(({ code, where }) => [code, where]),
    [['BP1005', '.drift/policy.yaml:4']],
  )
  assert.match(
    result.reported[0]?.remedy ?? '',
    /the policy of commit [0-9a-f]{7} decides, and nothing is opened, merged or settled/,
  )
  const status = forge.statuses.get(`${base} drift/policy`)
  assert.equal(status?.state, 'failure')
  assert.match(
    status?.description ?? '',
    /^the policy cannot be used: \.drift\/policy\.yaml:4: spec\.mode: /,
  )
  assert.equal(status?.url, 'https://forge.example/main/.drift/policy.yaml')
  const body = (): string => forge.issues.get('dashboard')?.body ?? ''
  assert.match(body(), /\*\*The policy cannot be used:\*\* `\.drift\/policy\.yaml:4`: `spec\.mode`/)
  assert.doesNotMatch(body(), /- \[ \]|Tick a box/, 'no box promises what waits for the policy')
  const writes = [forge.writes.length, forge.issueWrites.length, world.repository.pushes.length]
  await world.scan()
  assert.deepEqual(
    [forge.writes.length, forge.issueWrites.length, world.repository.pushes.length],
    writes,
    'the same state is written once',
  )
  world.repository.commitByHand('main', { [POLICY]: policyText('{mode: Propose}') })
  assert.deepEqual((await world.scan()).reported, [])
  assert.equal(openIn(scene), 1)
  assert.doesNotMatch(body(), /cannot be used/)
})

test('file text in a problem mentions no person and adds no markup; the status is one short line', async () => {
  const { world, forge } = sceneOf()
  world.repository.commitByHand('main', {
    [POLICY]: policyText(`{mode: Propose, extends: ["@acme/all <b>\\nx${'y'.repeat(90)}"]}`),
  })
  const base = world.repository.head('main')
  await world.scan()
  const body = forge.issues.get('dashboard')?.body ?? ''
  assert.match(body, /acme/)
  assert.doesNotMatch(body.replaceAll(/`[^`]*`/g, ''), /@acme|<b>/)
  const { description = '' } = forge.statuses.get(`${base} drift/policy`) ?? {}
  assert.match(description, /^the policy cannot be used: \.drift\/policy\.yaml:4: /)
  assert.ok(description.length <= 140 && !description.includes('\n'), description)
})

test('a dashboard opened only for the policy reports all quiet after the fix', async () => {
  const { world, forge } = sceneOf()
  await world.scan()
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  await world.scan()
  assert.deepEqual(forge.issueWrites, ['open dashboard'])
  world.repository.commitByHand('main', { [POLICY]: policyText('{mode: Propose}') })
  await world.scan()
  assert.deepEqual(forge.issueWrites, ['open dashboard', 'edit dashboard'])
  assert.match(forge.issues.get('dashboard')?.body ?? '', /Nothing needs attention/)
  for (let turn = 0; turn < 3; turn += 1) await world.scan()
  assert.equal(forge.issueWrites.length, 2)
})

test('without the right to set a status the issues are still written, and the turn says why', async () => {
  const { world, forge } = sceneOf()
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  forge.ensureStatuses = async () => {
    throw new Failure({
      code: 'BP5003',
      what: 'cannot set a status',
      why: 'the token may not',
      remedy: 'allow it',
    })
  }
  const { reported } = await world.scan()
  assert.deepEqual(
    reported.map(({ code }) => code),
    ['BP1005', 'BP5003'],
  )
  assert.equal(forge.issues.size, 1)
})

const BROKEN: readonly (readonly [
  what: string,
  files: { readonly [path: string]: string | null },
  where: string,
])[] = [
  ['an unknown mode', { [POLICY]: TYPO }, `${POLICY}:4`],
  [
    'a preset that does not exist',
    { [POLICY]: policyText('{mode: Propose, extends: [recomended]}') },
    `${POLICY}:4`,
  ],
  [
    'a typo in one of two files',
    { '.drift/second.policy': TYPO.replace('name: test', 'name: second') },
    '.drift/second.policy:4',
  ],
  [
    'a duplicate name',
    { '.drift/second.policy': policyText('{mode: Off}') },
    '.drift/second.policy:1',
  ],
  [
    'a typo while a valid file is deleted',
    { [POLICY]: TYPO, '.drift/at-once.yaml': null },
    `${POLICY}:4`,
  ],
]
for (const [what, files, where] of BROKEN)
  test(`${what}: the last good policy applies and values are shown`, async () => {
    const { world } = sceneOf()
    world.edit(WEB, 'spec.replicas', 5)
    const before = await reportOf(world)
    world.repository.commitByHand('main', files)
    const { units, view } = await world.scan()
    const [unit] = units
    assert.equal(view.policies.lastGood?.problem.where, where)
    assert.equal(view.policies.lastGood?.withheld, undefined)
    assert.deepEqual(
      unit?.state === 'planned' ? unit.plan.report.spec.changes : [],
      before.spec.changes,
    )
  })

const UNREADABLE: readonly (readonly [
  what: string,
  files: { readonly [path: string]: string | null },
])[] = [
  ['invalid YAML', { [POLICY]: 'a: [\n' }],
  [
    'an unknown kind',
    { [POLICY]: policyText('{mode: Propose}').replace('DriftPolicy', 'DriftPolice') },
  ],
  ['an unknown field', { [POLICY]: policyText('{mode: Propose, conceal: [{paths: [spec]}]}') }],
  ['a misplaced field', { [POLICY]: `${policyText('{mode: Propose}')}hide: [{paths: [spec]}]\n` }],
  ['an unreadable placement', { '.drift/place.policy': PLACEMENT('{namespace: [shop]}') }],
  [
    'a new placement beside a typo',
    { [POLICY]: TYPO, '.drift/place.policy': PLACEMENT('{namespaces: [shop]}') },
  ],
  [
    'a new hiding rule beside a typo',
    {
      [POLICY]: TYPO,
      '.drift/hide.policy': policyText('{hide: [{paths: [spec]}]}').replace('test', 'hide'),
    },
  ],
  [
    'a hiding rule with a typo',
    { [POLICY]: policyText('{mode: Propose, hide: [{path: [spec]}]}') },
  ],
  [
    'a file that is too large',
    { [POLICY]: `${policyText('{mode: Propose}')}# ${'x'.repeat(300)}\n` },
  ],
]
for (const [what, files] of UNREADABLE)
  test(`${what}: drift is reported without values in git and forge, and no branch is written`, async () => {
    const scene = sceneOf('{mode: Propose}')
    const { world } = scene
    await world.scan()
    world.repository.commitByHand('main', files)
    if (what === 'a file that is too large') tooLarge(world, POLICY)
    world.edit(WEB, IMAGE, EVIL)
    const report = await reportOf(world)
    const [change] = report.spec.changes
    assert.equal(change?.risk, 'critical')
    assert.equal(change?.redacted, true)
    assert.equal(report.status.held?.reason, 'policy')
    assert.doesNotMatch(everything(scene), /evil\.example\.com/)
    assert.deepEqual(world.repository.names(), [])
    assert.match(scene.forge.issues.get('dashboard')?.body ?? '', /\*\*Held back\*\* \(1\)/)
    world.repository.commitByHand('main', {
      [POLICY]: policyText('{mode: Propose}'),
      '.drift/place.policy': null,
      '.drift/hide.policy': null,
    })
    await world.scan()
    assert.equal(openIn(scene), 1)
    assert.match(everything(scene), /evil\.example\.com/)
  })

/** The newest content of the file is more than what is read. */
function tooLarge({ repository }: TurnWorld, path: string): void {
  const read = repository.read.bind(repository)
  const base = repository.head('main')
  repository.read = async (blobs) => {
    const [file] = await repository.list(base, path)
    if (file !== undefined && blobs.includes(file.id)) {
      const { OversizedRead } = await import('@backporch/git-store/package-repository')
      throw new OversizedRead('x', 10, file.id)
    }
    return read(blobs)
  }
}

const EDITS = fc.array(
  fc.constantFrom<readonly [string, string, string | number]>(
    [WEB, 'spec.replicas', 5],
    [WEB, IMAGE, EVIL],
    [WEB_CONFIG, 'data.color', 'red'],
    [WEB_CONFIG, 'data.token', 'c4n4ry-token-1'],
    [WEB, 'metadata.labels.app', 'other'],
  ),
  { minLength: 1, maxLength: 4 },
)
const GOOD = fc.constantFrom(
  '{mode: Propose}',
  '{mode: Warn}',
  '{mode: Propose, hide: [{paths: [data.color], reason: x}]}',
  '{mode: Propose, ignore: [{target: {kind: ConfigMap}, paths: [data.color], reason: x}]}',
  '{mode: Propose, show: [{paths: [data.token], reason: x}], decide: {defaultPlan: Adopt}}',
)
test('a policy typo never changes which drift is detected and reported', async () => {
  await fc.assert(
    fc.asyncProperty(EDITS, GOOD, async (edits, good) => {
      const [sound, broken] = [new TurnWorld(good), new TurnWorld(good)]
      broken.repository.commitByHand('main', {
        [POLICY]: policyText(good.replace(/mode: \w+/, 'mode: Propse')),
      })
      for (const world of [sound, broken])
        for (const [object, path, value] of edits) world.edit(object, path, value)
      const [wanted, found] = [await reportOf(sound), await reportOf(broken)]
      assert.deepEqual(found.spec.changes, wanted.spec.changes)
      assert.deepEqual(
        [found.status.state, found.status.setAside],
        [wanted.status.state, wanted.status.setAside],
      )
    }),
    { numRuns: 25 },
  )
})

test("the operator's policies still apply and are not attributed to the repository", async () => {
  const { world } = sceneOf('{mode: Propose}', AT_ONCE)
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  const { parsePolicyFiles } = await import('../../policy/parse-policy.ts')
  const operator = parsePolicyFiles(
    [{ path: 'operator.yaml', text: policyText('{enforce: true, mode: Off}') }],
    'operator',
  )
  world.edit(WEB, 'spec.replicas', 5)
  const { units } = await world.scan({ operator })
  assert.equal(units[0]?.state === 'planned' && units[0].plan.report.status.state, 'Off')
})

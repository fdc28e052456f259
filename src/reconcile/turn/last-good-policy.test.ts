/** A policy that cannot be used, over whole turns: an earlier one decides, and nothing is opened, merged or settled (docs/adr/0071-the-last-good-policy.md). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { answer, ask, opened, resolutions, tick } from '../../../test/fakes/answered-proposal.ts'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import {
  AT_ONCE,
  policyText,
  refused,
  TurnWorld,
  WEB,
  WEB_CONFIG,
} from '../../../test/fakes/turn-world.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'

const IMAGE = 'spec.template.spec.containers[name=app].image'
const EVIL = 'evil.example.com/miner:1'
const POLICY = '.drift/policy.yaml'
const TYPO = policyText('{mode: Propse}')
const PLACEMENT = (allow: string): string =>
  `apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: test}\nspec: {clusters: ["*"], packages: ["**"], allow: ${allow}}\n`

interface Scene {
  readonly world: TurnWorld
  readonly forge: MemoryForge
}

function sceneOf(
  policy = '{mode: Propose}',
  files: { readonly [path: string]: string } = {},
): Scene {
  const world = new TurnWorld(policy, files)
  const forge = new MemoryForge(world.repository)
  forge.now = () => world.cluster.now
  world.forge = forge
  return { world, forge }
}

async function reportOf(world: TurnWorld): Promise<DriftReport> {
  return (await world.plan()).report
}

/** Every text that is in git or on the forge. */
function everything({ world: { repository }, forge }: Scene): string {
  const branches = [...repository.branches.keys()].flatMap((ref) => {
    const name = ref.replace(/^refs\/(?:heads|tags)\//, '')
    return name === 'main' || !ref.startsWith('refs/heads/')
      ? []
      : repository.paths(name).map((path) => repository.text(name, path) ?? '')
  })
  return [
    ...branches,
    JSON.stringify([forge.proposals, forge.comments, [...forge.issues], [...forge.statuses]]),
  ].join('\n')
}

function openIn({ forge }: Scene): number {
  return forge.proposals.filter(({ state }) => state === 'open').length
}

test('a critical change is recorded with its values while the policy has a typo, and opened in the turn after the correction', async () => {
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

test('what a problem quotes of the file calls nobody and is no markup, and a status is one line that fits', async () => {
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

test('a dashboard that told of nothing but the policy is quiet after the correction', async () => {
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

test('an account that may not write the status has the issues all the same, and the turn says why', async () => {
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
  ['a mode that is none', { [POLICY]: TYPO }, `${POLICY}:4`],
  [
    'a preset that does not exist',
    { [POLICY]: policyText('{mode: Propose, extends: [recomended]}') },
    `${POLICY}:4`,
  ],
  [
    'one of two files',
    { '.drift/second.policy': TYPO.replace('name: test', 'name: second') },
    '.drift/second.policy:4',
  ],
  [
    'a name that is there twice',
    { '.drift/second.policy': policyText('{mode: Off}') },
    '.drift/second.policy:1',
  ],
  [
    'a valid file is deleted beside it',
    { [POLICY]: TYPO, '.drift/at-once.yaml': null },
    `${POLICY}:4`,
  ],
]
for (const [what, files, where] of BROKEN)
  test(`${what}: the last good policy decides, values are told`, async () => {
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
  ['no YAML', { [POLICY]: 'a: [\n' }],
  [
    'a kind that is none',
    { [POLICY]: policyText('{mode: Propose}').replace('DriftPolicy', 'DriftPolice') },
  ],
  [
    'a field that this version does not know',
    { [POLICY]: policyText('{mode: Propose, conceal: [{paths: [spec]}]}') },
  ],
  [
    'a field at the wrong place',
    { [POLICY]: `${policyText('{mode: Propose}')}hide: [{paths: [spec]}]\n` },
  ],
  ['a placement that cannot be read', { '.drift/place.policy': PLACEMENT('{namespace: [shop]}') }],
  [
    'a placement that is new beside a typo',
    { [POLICY]: TYPO, '.drift/place.policy': PLACEMENT('{namespaces: [shop]}') },
  ],
  [
    'a rule that hides beside a typo',
    {
      [POLICY]: TYPO,
      '.drift/hide.policy': policyText('{hide: [{paths: [spec]}]}').replace('test', 'hide'),
    },
  ],
  [
    'a rule that hides with a typo of its own',
    { [POLICY]: policyText('{mode: Propose, hide: [{path: [spec]}]}') },
  ],
  [
    'a file that is too large',
    { [POLICY]: `${policyText('{mode: Propose}')}# ${'x'.repeat(300)}\n` },
  ],
]
for (const [what, files] of UNREADABLE)
  test(`${what}: drift is told without values, in git and on the forge, and no branch is written`, async () => {
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

test('an open proposal is kept up to date by the last good policy, says that its policy cannot be used, and ends with its drift', async () => {
  const scene = sceneOf()
  const { world, forge } = scene
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  await world.scan()
  const [proposal] = forge.proposals
  assert.equal(openIn(scene), 1)
  assert.equal(forge.statuses.get(`${proposal?.commit} drift/policy`)?.state, 'failure')
  world.edit(WEB, 'spec.replicas', 7)
  const updated = await world.plan()
  assert.equal(updated.outcome, 'updated')
  assert.match(forge.proposals[0]?.body ?? '', /`7`/)
  world.sync()
  assert.equal((await world.plan()).outcome, 'healed')
  assert.deepEqual(world.repository.names(), [])
})

test('while values are withheld an open proposal stays as it is, whatever changes, and ends with its drift', async () => {
  const scene = sceneOf()
  const { world, forge } = scene
  world.edit(WEB, 'spec.replicas', 5)
  await world.resolutionRequest('Adopt')
  const [before] = forge.proposals
  world.repository.commitByHand('main', { '.drift/place.policy': PLACEMENT('{namespace: [shop]}') })
  await world.scan()
  world.edit(WEB, IMAGE, EVIL)
  const { outcome, notes } = await world.plan()
  assert.equal(outcome, 'frozen')
  assert.match(
    notes.map(({ text }) => text).join('\n'),
    /the policy cannot be used \(\.drift\/place\.policy:4\).*it is left alone/,
  )
  const [after] = forge.proposals
  assert.deepEqual(
    [after?.commit, after?.body, after?.title],
    [before?.commit, before?.body, before?.title],
  )
  assert.doesNotMatch(everything(scene), /evil\.example\.com/)
  assert.doesNotMatch(forge.issues.get('dashboard')?.body ?? '', /Cannot adopt/)
  world.repository.commitByHand('main', { '.drift/place.policy': null })
  const corrected = await world.plan()
  assert.equal(corrected.outcome, 'updated')
  assert.deepEqual(
    corrected.report.spec.changes.map(({ path, resolution }) => [path, resolution]).sort(),
    [
      ['spec.replicas', 'Adopt'],
      [IMAGE, 'Restore'],
    ],
  )
})

test('a joint proposal stays as it is while values are withheld, and takes the next cluster after the correction', async () => {
  const world = new FleetWorld(4)
  world.edit([0, 1, 2])
  await world.scan()
  const [branch = ''] = world.repository.names()
  const [head, body] = [world.repository.head(branch), world.forge.proposals[0]?.body]
  world.repository.commitByHand('main', { '.drift/place.policy': PLACEMENT('{namespace: [shop]}') })
  world.edit([3])
  for (let turn = 0; turn < 3; turn += 1) await world.scan()
  assert.deepEqual(world.repository.names(), [branch])
  assert.deepEqual([world.repository.head(branch), world.forge.proposals[0]?.body], [head, body])
  world.repository.commitByHand('main', { '.drift/place.policy': null })
  await world.scan()
  assert.deepEqual(world.repository.names(), [branch])
  assert.match(world.forge.proposals[0]?.title ?? '', /in 4 clusters/)
})

test('nothing is approved, planned or opened on request; a rejection works', async () => {
  const { world, forge } = sceneOf()
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  const pushes = world.repository.pushes.length
  const approval = await refused(world.approve(), 'BP1005')
  assert.equal(approval.where, '.drift/policy.yaml:4')
  assert.match(approval.why, /the policy cannot be used: \.drift\/policy\.yaml:4: spec\.mode/)
  for (const resolution of ['Restore', 'Adopt', 'Release'] as const)
    await refused(world.resolutionRequest(resolution), 'BP1005')
  assert.equal(world.repository.pushes.length, pushes)
  assert.equal(forge.proposals[0]?.state, 'open')
  await world.reject()
  assert.equal(forge.proposals[0]?.state, 'closed')
})

test('commands that change or open something are refused with file and line; those that ask, and snooze, are answered', async () => {
  const scene = await opened()
  scene.world.repository.commitByHand('main', { [POLICY]: TYPO })
  const pushes = scene.world.repository.pushes.length
  for (const command of [
    '/adopt 1',
    '/restore 1',
    '/release 1',
    '/recreate',
    '/ignore 1 -- why',
    '/unignore 1',
  ]) {
    const { outcome, text } = await ask(scene, command)
    assert.equal(outcome, 'refused', command)
    assert.match(text, /the policy cannot be used: `\.drift\/policy\.yaml:4`: `spec\.mode`/)
  }
  for (const command of ['/explain 1', '/help', '/show ignores', '/recheck', '/snooze 7d'])
    assert.equal((await ask(scene, command)).outcome, 'done', command)
  await tick(scene, /backporch:adopt=.*Deployment/)
  await answer(scene)
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
  assert.equal(scene.forge.proposals.length, 1)
  assert.ok(
    scene.world.repository.pushes
      .slice(pushes)
      .every((updates) => updates.every(({ ref }) => ref === 'refs/heads/drift-ledger')),
  )
})

test('an approval that ended between its merge and the ledger is completed', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  const { commit } = await world.approve()
  world.repository.commitByHand('main', { [POLICY]: TYPO })
  assert.equal((await world.approve()).commit, commit)
})

test('a merge of earlier is not settled until the policy can be used', async () => {
  const world = new TurnWorld('{mode: Propose, settle: backporch}')
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  await world.approve()
  world.repository.commitByHand('main', {
    [POLICY]: policyText('{mode: Propse, settle: backporch}'),
  })
  const settles = async (): Promise<number> => {
    const { runFleetTurn } = await import('./run-turn.ts')
    const ports = {
      ...world.ports,
      clusters: [world.cluster],
      openWriter: () => assert.fail('a rehearsal opens no writer'),
    }
    world.pass(1)
    const { written } = await runFleetTurn(
      ports,
      world.request({ dryRun: true, rehearses: true }),
      new AbortController().signal,
    )
    return written.filter((line) => line.startsWith('apply')).length
  }
  assert.equal(await settles(), 0)
  world.repository.commitByHand('main', {
    [POLICY]: policyText('{mode: Propose, settle: backporch}'),
  })
  assert.equal(await settles(), 1)
})

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
test('whatever drifts and whatever the last good policy says, a typo changes nothing of what is detected and told', async () => {
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

test('the operator decides as before: what he gives is none of the repository', async () => {
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

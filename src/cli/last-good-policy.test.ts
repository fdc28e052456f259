/** A policy that cannot be used, on the command line: commands that read never fail for it, those that write say which one decides. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CliOptions, runInWorld } from '../../test/fakes/cli-world.ts'
import { logEvents } from '../../test/fakes/log-events.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { policyText, TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import { PrometheusMetrics } from '../adapters/metrics/prometheus-metrics.ts'
import type { Preview } from '../record/documents/preview.ts'

const POLICY = '.drift/policy.yaml'
const GOOD = policyText('{mode: Propose}')
const TYPO = policyText('{mode: Propse}')
const PLACEMENT = `apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: test}\nspec: {clusters: ["*"], packages: ["**"], allow: {namespace: [shop]}}\n`
const IMAGE = 'spec.template.spec.containers[name=app].image'

/** With an open proposal, and a policy that has a typo since. */
async function broken(
  policy: { readonly [path: string]: string } = { [POLICY]: TYPO },
): Promise<TurnWorld> {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  world.repository.commitByHand('main', policy)
  return world
}

const READS: readonly (readonly string[])[] = [
  ['status'],
  ['status', '-o', 'json'],
  ['get', 'packages'],
  ['get', 'drifts'],
  ['ignore', '--list'],
  ['history'],
  ['report'],
  ['diff'],
  ['explain', 'apps/web'],
  ['render', 'apps/web'],
]
for (const policy of [{ [POLICY]: TYPO }, { '.drift/place.policy': PLACEMENT }])
  for (const command of READS)
    test(`${command.join(' ')} uses the last good policy (${Object.keys(policy).join()}) and names file and line`, async () => {
      const world = await broken()
      world.repository.commitByHand('main', { [POLICY]: GOOD })
      const wanted = await runInWorld(world, command)
      world.repository.commitByHand('main', policy)
      const { code, stdout, stderr } = await runInWorld(world, command)
      assert.equal(code, wanted.code)
      if (command[0] !== 'render')
        assert.match(
          stderr,
          /\.drift\/(?:policy\.yaml|place\.policy):4: .*spec\..*the policy of commit [0-9a-f]{7} decides/,
        )
      assert.doesNotMatch(stderr, /error BP1005/)
      // A report names the commit that it compared.
      const timeless = (text: string): string =>
        text.replace(
          /[0-9a-f]{40}|[0-9a-f]{7}\b|hmac-sha256:\S+ \(\d+ bytes\)|2026-[-0-9T:]+Z/g,
          '',
        )
      if (Object.keys(policy).includes(POLICY) && command.join(' ') !== 'status -o json')
        assert.equal(timeless(stdout), timeless(wanted.stdout))
      else assert.notEqual(stdout === '', wanted.stdout !== '')
    })

test('scan records with the last good policy, reports the problem, opens nothing and fails', async () => {
  const world = await broken()
  world.edit(WEB, IMAGE, 'evil.example.com/miner:1')
  const { code, stdout, stderr } = await runInWorld(world, ['scan'])
  assert.equal(code, 2)
  assert.doesNotMatch(stdout, /next: backporch/, 'no command is named that is refused')
  assert.match(stderr, /error BP1005: the policy of the repository has a problem/)
  assert.match(stderr, /\.drift\/policy\.yaml:4: spec\.mode/)
  assert.match(
    stderr,
    /until then the policy of commit [0-9a-f]{7} decides, and nothing is opened, merged or settled/,
  )
  const drifts = await runInWorld(world, ['get', 'drifts'])
  assert.match(drifts.stdout, /evil\.example\.com\/miner:1/)
})

for (const command of [
  ['approve', 'apps/web', '--yes'],
  ['restore', 'apps/web'],
  ['adopt', 'apps/web'],
  ['release', 'apps/web', '1'],
  ['ignore', 'apps/web', '1', '-m', 'a test'],
  ['init', '--yes'],
])
  test(`${command.join(' ')} is refused with file and line, and writes nothing`, async () => {
    const world = await broken()
    const pushes = world.repository.pushes.length
    const { code, stderr } = await runInWorld(world, command)
    assert.equal(code, 2, stderr)
    assert.match(stderr, /BP1005/)
    assert.match(stderr, /\.drift\/policy\.yaml:4/)
    assert.equal(world.repository.pushes.length, pushes)
  })

test('reject still works', async () => {
  const world = await broken()
  const rejected = await runInWorld(world, ['reject', 'apps/web', '--yes'])
  assert.equal(rejected.code, 0, rejected.stderr)
})

async function previewRun(main: string, head: string, argv: readonly string[] = ['-o', 'json']) {
  const world = new TurnWorld()
  world.repository.commitByHand('main', { [POLICY]: main, 'README.md': 'x\n' })
  world.repository.branches.set('refs/heads/change', world.repository.head('main'))
  world.repository.commitByHand('change', { [POLICY]: head, 'NOTES.md': 'y\n' })
  return runInWorld(world, ['preview', '--head', 'change', ...argv])
}

async function previewOf(main: string, head: string): Promise<string> {
  return (await previewRun(main, head)).stdout
}

test('preview fails for a head that breaks the policy, and succeeds for one that fixes it', async () => {
  const broke = await previewRun(GOOD, TYPO, [])
  assert.equal(broke.code, 2)
  assert.match(
    broke.stderr,
    /error BP1005: after the merge the policy cannot be used\n {2}where: \.drift\/policy\.yaml:4/,
  )
  assert.equal((await previewRun(TYPO, GOOD, [])).code, 0)
})

for (const [what, main, head, problem, note] of [
  [
    'breaks the policy',
    GOOD,
    TYPO,
    '.drift/policy.yaml:4',
    /^after the merge the policy cannot be used \(\.drift\/policy\.yaml:4: spec\.mode/,
  ],
  [
    'corrects the policy',
    TYPO,
    GOOD,
    undefined,
    /^the merge corrects the policy, which cannot be used now \(\.drift\/policy\.yaml:4\)$/,
  ],
  [
    'leaves a policy that cannot be used',
    TYPO,
    TYPO,
    undefined,
    /^the policy of the base branch cannot be used .*; that of commit [0-9a-f]{7} was used$/,
  ],
] as const)
  test(`preview reports a head that ${what}`, async () => {
    const preview = JSON.parse(await previewOf(main, head)) as Preview
    assert.equal(preview.policyProblem?.where, problem)
    assert.match(preview.notes.join('\n'), note)
  })

test('preview of a head that edits a policy and leaves it broken reports the remaining problem', async () => {
  const preview = JSON.parse(
    await previewOf(TYPO, policyText('{mode: Warn, settle: nobody}')),
  ) as Preview
  assert.match(preview.policyProblem?.why ?? '', /spec\.settle/)
  assert.match(preview.notes.join('\n'), /^after the merge the policy cannot be used/)
})

test('preview of a head with another valid policy reports no problem', async () => {
  const preview = JSON.parse(await previewOf(GOOD, policyText('{mode: Warn}'))) as Preview
  assert.deepEqual([preview.policyProblem, preview.notes, preview.policies], [undefined, [], true])
})

test('status as JSON includes the note', async () => {
  const { notes } = JSON.parse(
    (await runInWorld(await broken(), ['status', '-o', 'json'])).stdout,
  ) as {
    notes: readonly { cause: string }[]
  }
  assert.deepEqual(
    notes.map(({ cause }) => cause),
    ['policy-not-used'],
  )
})

test('a pull request that edits no policy gets no comment for a broken base branch', async () => {
  const world = await broken()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.repository.branches.set('refs/heads/change', world.repository.head('main'))
  world.repository.commitByHand('change', { 'README.md': 'x\n' })
  const commit = world.repository.head('change')
  forge.pullRequests.push({
    number: 7,
    label: '#7',
    branch: 'change',
    baseBranch: 'main',
    commit,
    fork: false,
    open: true,
  } as never)
  assert.equal((await runInWorld(world, ['preview', '--pull-request', '7', '--comment'])).code, 0)
  assert.deepEqual(forge.comments, [])
})

test('a pull request that breaks the policy and changes nothing else gets the comment', async () => {
  const world = new TurnWorld()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.repository.branches.set('refs/heads/change', world.repository.head('main'))
  for (const [number, text] of [
    [7, policyText('{mode: Warn}')],
    [8, TYPO],
  ] as const) {
    world.repository.commitByHand('change', { [POLICY]: text })
    forge.pullRequests.length = 0
    forge.pullRequests.push({
      number,
      label: `#${number}`,
      branch: 'change',
      baseBranch: 'main',
      commit: world.repository.head('change'),
      fork: false,
      open: true,
    } as never)
    const { code } = await runInWorld(world, [
      'preview',
      '--pull-request',
      String(number),
      '--comment',
    ])
    assert.equal(code, number === 8 ? 2 : 0)
  }
  assert.deepEqual(
    forge.comments.map(({ number }) => number),
    [8],
  )
  assert.match(
    forge.comments[0]?.body ?? '',
    /\[!WARNING\][\s\S]*after the merge the policy cannot be used/,
  )
})

test('with a broken policy the controller records critical drift; failure and metric name the line', async () => {
  const world = new TurnWorld()
  const metrics = new PrometheusMetrics({
    version: '0.0.0',
    clock: { now: () => new Date(world.cluster.now) },
  })
  const openMonitoring: CliOptions['openMonitoring'] = async () => ({
    metrics,
    url: 'http://localhost/metrics',
    close: async () => undefined,
  })
  const samples = async (): Promise<string[]> =>
    (await metrics.renderExposition())
      .split('\n')
      .filter((line) => /^backporch_(?:policy_unusable|failures|held|drifted_objects)\{/.test(line))
  const seen: string[][] = []
  const { code, stderr } = await runInWorld(world, ['controller', '--http-address', '0'], {
    openMonitoring,
    waits: [
      () => void world.repository.commitByHand('main', { [POLICY]: TYPO }),
      () => world.edit(WEB, IMAGE, 'evil.example.com/miner:1'),
      async () => void seen.push(await samples()),
      () => void world.repository.commitByHand('main', { [POLICY]: GOOD }),
      async () => void seen.push(await samples()),
    ],
  })
  assert.equal(code, 0, stderr)
  assert.deepEqual(seen, [
    [
      'backporch_drifted_objects{cluster="prod",package="apps/web",risk="critical"} 1',
      'backporch_held{reason="policy"} 1',
      'backporch_policy_unusable{where=".drift/policy.yaml:4"} 1',
      'backporch_failures{code="BP1005"} 1',
    ],
    ['backporch_drifted_objects{cluster="prod",package="apps/web",risk="critical"} 1'],
  ])
  const told = logEvents(stderr).filter(({ event }) => event === 'failure' || event === 'recovered')
  assert.deepEqual(
    told.map(({ event, code: of, where }) => [event, of, where]),
    [
      ['failure', 'BP1005', '.drift/policy.yaml:4'],
      ['recovered', 'BP1005', '.drift/policy.yaml:4'],
    ],
  )
  const branches = logEvents(stderr, 'transition').map(({ outcome, state, branch }) => [
    outcome,
    state,
    String(branch).split('/')[0],
  ])
  assert.deepEqual(branches, [
    ['status', 'InSync', 'undefined'],
    ['recorded', 'Drifted', 'drafts'],
    ['proposed', 'Drifted', 'proposed'],
  ])
})

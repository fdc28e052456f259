import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openRecordedCluster } from '@backporch/cluster/recording'
import { LocalForge } from '@backporch/forge/local-forge'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { InProcessRenderer } from '../../test/fakes/in-process-renderer.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { BOT_EMAIL, MemoryRepository } from '../../test/fakes/memory-repository.ts'
import { ONBOARDING_FILES, onboardingRecording } from '../../test/fakes/onboarding-samples.ts'
import { turnRequest } from '../../test/fakes/turn-request.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import { runOnboarding } from '../reconcile/onboard/onboard.ts'

const SETTINGS =
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {a: "1"}\n'

function driftedWorld(hosted = true): TurnWorld {
  const world = new TurnWorld()
  const policies = world.repository.paths('main').filter((path) => path.startsWith('.drift/'))
  world.repository.commitByHand('main', Object.fromEntries(policies.map((path) => [path, null])))
  if (hosted) world.forge = new MemoryForge(world.repository)
  world.edit(WEB, 'spec.replicas', 5)
  return world
}

test('init requires confirmation and suggests a dry run first', async () => {
  const world = driftedWorld()
  const { code, stderr, stdout } = await runInWorld(world, ['init'])
  assert.equal(code, 2)
  assert.match(stderr, /error BP2011.*\n.*\n.*backporch init --yes \(--dry-run/)
  assert.match(
    stdout,
    /would open with mode Propose today: 1 pull request \(0 critical, 0 high\) · with the current policy: 0/,
  )
  assert.deepEqual(world.repository.names(), [])
})

test("init does not count drift that waits for the digest as today's", async () => {
  const world = driftedWorld()
  world.sync()
  world.edit(WEB, 'metadata.labels.team', 'night')
  const { stdout } = await runInWorld(world, ['init', '--dry-run'])
  assert.match(
    stdout,
    /today: 0 pull requests \(0 critical, 0 high\) · 1 of low risk waits for the digest · with the current policy: 0/,
  )
  const { items } = JSON.parse((await runInWorld(world, ['init', '--yes', '-o', 'json'])).stdout)
  assert.equal(items[0].expect.proposals[0].waitsFor, 'digest')
})

test('init --dry-run prints the files and the text of the proposal, and writes nothing', async () => {
  const world = driftedWorld()
  const { code, stdout } = await runInWorld(world, ['init', '--dry-run'])
  assert.equal(code, 0)
  for (const part of [
    '--- .drift/default.policy\n',
    '--- proposal: chore(drift): configure Backporch\n',
    'would push: drift/configure',
  ])
    assert.ok(stdout.includes(part), part)
  assert.deepEqual([world.repository.pushes, world.forge?.writes], [[], []])
})

test('init --yes proposes, and without a forge says how to review and merge with git', async () => {
  const world = driftedWorld(false)
  const { stdout } = await runInWorld(world, ['init', '--yes'])
  assert.match(
    stdout,
    /drift\/configure is pushed\n {2}review: {2}git fetch origin drift\/configure && /,
  )
  assert.match((await runInWorld(world, ['init'])).stdout, /drift\/configure is unchanged\n/)
  assert.match(
    (await runInWorld(world, ['init', '--remove', '--yes'])).stdout,
    /drift\/configure is removed\n/,
  )
  assert.match((await runInWorld(world, ['init', '--remove', '--yes'])).stdout, /nothing to remove/)
})

test('init in a clone says that the branch is only local, and how to push it', async () => {
  const world = driftedWorld(false)
  const { stdout } = await runInWorld(world, ['init', '--yes'], { cloneState: 'clone' })
  assert.match(
    stdout,
    /written to this clone: drift\/configure\n {2}review: {2}git diff main\.\.\.drift\/configure\n(?:.*\n){2} {2}publish: git push --atomic origin drift\/configure drift-ledger\n$/,
  )
  assert.match(
    (await runInWorld(world, ['init'], { cloneState: 'clone' })).stdout,
    /unchanged in this clone: drift\/configure\n/,
  )
  const alone = await runInWorld(world, ['init', '--repo', '../a b'], { cloneState: 'alone' })
  assert.match(
    alone.stdout,
    /unchanged in the repository \.\.\/a b: drift\/configure\n {2}review: {2}git -C '\.\.\/a b' diff main\.\.\.drift/,
  )
  assert.doesNotMatch(alone.stdout, /origin/)
  const removed = await runInWorld(world, ['init', '--remove', '--yes'], { cloneState: 'clone' })
  assert.match(
    removed.stdout,
    /is removed from this clone\n {2}where origin has it: git push origin :refs\/heads\/drift\/configure\n$/,
  )
})

test('init -o json prints exactly one list, even after the proposal was closed', async () => {
  const world = driftedWorld()
  const { items } = JSON.parse((await runInWorld(world, ['init', '--yes', '-o', 'json'])).stdout)
  const [{ state, expect, files, proposal }] = items
  assert.deepEqual([state, proposal.label, files.length], ['propose', '#1', 1])
  assert.deepEqual(expect.proposals, [
    { package: 'apps/web', cluster: 'prod', changes: 1, risk: 'medium', mode: 'Warn' },
  ])
  world.forge?.byHand(1, { state: 'closed' })
  const closed = JSON.parse((await runInWorld(world, ['init', '-o', 'json'])).stdout)
  assert.equal(closed.items[0].state, 'declined')
  const refused = await runInWorld(world, ['init', '--again', '-o', 'json'], { isTTY: true })
  assert.deepEqual([refused.code, refused.stdout], [2, ''])
})

test('init --print-ruleset prints only the ruleset and contacts no cluster', async () => {
  const world = driftedWorld()
  const { code, stdout } = await runInWorld(world, ['init', '--print-ruleset', '--forge', 'github'])
  assert.equal(code, 0)
  assert.match(
    stdout,
    /^# nothing reaches the base branch without a review\ngh api --method POST 'repos\/\{owner\}\/\{repo\}\/rulesets' --input - <<'JSON'\n\{/,
  )
  const { items } = JSON.parse(
    (await runInWorld(world, ['init', '--print-ruleset', '--forge', 'gitea', '-o', 'json'])).stdout,
  )
  assert.deepEqual(
    items.map(({ body }: { body: { rule_name: string } }) => body.rule_name),
    ['main', 'drift-ledger'],
  )
})

test('init --path enrols a folder without a Kptfile in a placement and keeps the packages', async () => {
  const world = driftedWorld()
  world.repository.commitByHand('main', { 'deploy/settings.yaml': SETTINGS })
  const { code, stdout } = await runInWorld(world, ['init', '--path', 'deploy', '--yes'])
  assert.equal(code, 0)
  const text = world.repository.text('drift/configure', '.drift/default.policy') ?? ''
  assert.match(
    text,
    /kind: Placement\n(?:.*\n)*? {2}packages:\n {2}- "?\*\*"?\n {2}paths:\n {2}- deploy\n---\n/,
  )
  assert.match(stdout, /drift\/configure/)
  world.repository.commitByHand('main', { '.drift/default.policy': text })
  const { items } = JSON.parse((await runInWorld(world, ['diff', '-o', 'json'])).stdout)
  assert.deepEqual(
    items.map(({ spec }: { spec: { unit: { package: string } } }) => spec.unit.package).sort(),
    ['apps/web', 'deploy'],
  )
})

test('init --path extends an existing placement unless it already has the folder', async () => {
  const placement = (spec: string): string =>
    `apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: all}\nspec: ${spec}\n`
  for (const [spec, added] of [
    ['{clusters: [prod], packages: [apps/web]}', true],
    ['{clusters: [prod], packages: [apps/web], paths: [deploy]}', false],
  ] as const) {
    const world = driftedWorld()
    world.repository.commitByHand('main', {
      'deploy/settings.yaml': SETTINGS,
      '.drift/placement.policy': placement(spec),
    })
    await runInWorld(world, ['init', '--path', './deploy/', '--yes'])
    const text = world.repository.text('drift/configure', '.drift/default.policy') ?? ''
    assert.equal(
      /kind: Placement\n(?:.*\n)*? {2}clusters:\n {2}- prod\n {2}paths:\n {2}- deploy\n---\n/.test(
        text,
      ),
      added,
      text,
    )
    assert.doesNotMatch(text, /packages:\n/)
  }
})

test('--again and --remove contradict each other', async () => {
  assert.equal((await runInWorld(driftedWorld(), ['init', '--again', '--remove'])).code, 2)
})

test('init on a recorded Argo CD and Flux cluster proposes rules, syncers, placement and count', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-onboard-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'live.json'), onboardingRecording())
  const repository = new MemoryRepository()
  repository.commitByHand('main', ONBOARDING_FILES)
  const cluster = openRecordedCluster({ path: join(folder, 'live.json'), observedAt: '' })
  const request = turnRequest({
    key: createRedactionKey(new Uint8Array(32)),
    bot: { email: BOT_EMAIL },
    clock: { now: () => new Date('2026-11-21T10:00:00Z') },
    renderer: new InProcessRenderer(),
  })
  const { subject, files } = await runOnboarding(
    { repository, cluster, forge: new LocalForge(repository) },
    { turn: { ...request, mode: 'read' }, again: false, remove: false, confirm: async () => true },
    new AbortController().signal,
  )
  assert.deepEqual(
    subject?.syncers.map(({ name }) => name),
    ['Argo CD Application shop', 'Flux Kustomization flux-system/apps'],
  )
  assert.deepEqual([subject?.packages, subject?.elsewhere, subject?.imported], [2, 1, 3])
  assert.deepEqual(subject?.autoscalers, [{ word: 'HPA', count: 1 }])
  assert.deepEqual(
    subject?.notImported.map(({ rule, why }) => `${rule}: ${why.split(',')[0]}`),
    ['Deployment /spec/template/spec/containers/0/resources: it names a list item by its index'],
  )
  assert.deepEqual(
    subject?.expected?.proposals.map(({ packageName, changes }) => [
      packageName,
      changes.map(({ path }) => path),
    ]),
    [['apps/web', ['spec.template.spec.containers[name=app].image']]],
  )
  assert.deepEqual(subject?.expected?.muted, { fields: 2, rules: 2 })
  const [{ text } = { text: '' }] = files
  assert.match(
    text,
    /- target:\n {6}kind: Deployment\n {6}name: api\n {4}paths:\n {4}- \/spec\/replicas\n {4}reason: Flux Kustomization flux-system\/apps ignores it\n/,
  )
  assert.match(
    text,
    /kind: Placement\n(?:.*\n)*? {2}packages:\n {2}- apps\/api\n {2}- apps\/web\n---\nbackporch: no manifest\n$/,
  )
  assert.match(
    subject?.notObserved.join('\n') ?? '',
    /every Kustomization, HelmRelease, Application(?!.*HorizontalPodAutoscaler)/,
  )
})

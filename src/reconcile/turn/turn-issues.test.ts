/** The dashboard issue over whole turns: what is on it, when it is written, and what its boxes do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { policyText, TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'
import { RolloutWorld } from '../../../test/hostile/rollout-world.ts'

const NOW = 'detect: {minAge: 0s, settle: 0s}'
const WINDOW = `{mode: Propose, ${NOW}, windows: [{name: freeze, kind: hold, schedule: "0 9 * * *", duration: 20h}]}`

function worldOf(policy: string): { world: TurnWorld; forge: MemoryForge } {
  const world = new TurnWorld('{}', {
    '.drift/policy.yaml': policyText(policy),
    '.drift/at-once.yaml': '',
  })
  const forge = new MemoryForge(world.repository)
  forge.now = () => world.cluster.now
  world.forge = forge
  return { world, forge }
}

function bodyOf(forge: MemoryForge): string {
  return forge.issues.get('dashboard')?.body ?? ''
}

/** A person ticks every box. */
function tickAll(forge: MemoryForge): void {
  const issue = forge.issues.get('dashboard')
  assert.ok(issue !== undefined)
  assert.match(issue.body, /- \[ \] /)
  forge.issues.set('dashboard', { ...issue, body: issue.body.replaceAll('- [ ] ', '- [x] ') })
}

test('without drift there is no issue', async () => {
  const { world, forge } = worldOf(`{mode: Propose, ${NOW}}`)
  await world.scan()
  assert.deepEqual(forge.issueWrites, [])
})

test('the dashboard lists a pull request by number, is not rewritten unchanged, and drops ended ones', async () => {
  const { world, forge } = worldOf(`{mode: Propose, ${NOW}}`)
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  assert.match(bodyOf(forge), /\*\*Needs a decision\*\* \(1\)/)
  assert.match(bodyOf(forge), /\[`#1`\]\(https:\/\/forge\.example\/pulls\/1\)/)
  for (let turn = 0; turn < 5; turn += 1) await world.scan()
  assert.deepEqual(forge.issueWrites, ['open dashboard'])
  world.sync()
  await world.scan()
  assert.match(bodyOf(forge), /Nothing needs attention/)
  for (let turn = 0; turn < 5; turn += 1) await world.scan()
  assert.deepEqual(forge.issueWrites, ['open dashboard', 'edit dashboard'])
})

test('expired ignore rules are listed with their place, but do not open an issue alone', async () => {
  const ended = 'ignore: [{target: {kind: Service}, reason: trial, expires: "2026-10-01"}]'
  const { world, forge } = worldOf(`{mode: Propose, ${NOW}, ${ended}}`)
  await world.scan()
  assert.deepEqual(forge.issueWrites, [])
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  assert.match(
    bodyOf(forge),
    /\*\*Ignore rules that match nothing\*\* \(1\)\n\n.*\n\n- the ignore rule at `\.drift\/policy\.yaml:4` ended on `2026-10-01` and no longer matches anything\n/,
  )
  world.sync()
  await world.scan()
  assert.match(bodyOf(forge), /No drift needs attention\. Some ignore rules do\./)
})

test('a crash before the all-quiet edit repeats it in the next turn', async () => {
  const { world, forge } = worldOf(`{mode: Propose, ${NOW}}`)
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  world.sync()
  forge.beforeWrite = (write) => {
    if (write === 'edit dashboard') throw new Error('killed')
  }
  await assert.rejects(world.scan())
  forge.beforeWrite = () => undefined
  await world.scan()
  assert.match(bodyOf(forge), /Nothing needs attention/)
})

test('a tick opens held drift in the next turn, and only that drift', async () => {
  const { world, forge } = worldOf(WINDOW)
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  assert.match(bodyOf(forge), /\*\*Held back\*\* \(1\)/)
  tickAll(forge)
  world.edit(WEB, 'spec.replicas', 6)
  assert.equal(
    (await world.plan()).report.status.held?.reason,
    'window',
    'the box was drawn for another drift',
  )
  assert.doesNotMatch(bodyOf(forge), /- \[x\]/, 'it is drawn anew, for this one')
  tickAll(forge)
  const { report } = await world.plan()
  assert.deepEqual([report.status.lifecycle, report.status.held], ['Proposed', undefined])
  assert.equal(forge.proposals.length, 1)
  assert.doesNotMatch(bodyOf(forge), /Held back/)
  const sent = forge.issueWrites.length
  await world.scan()
  assert.deepEqual([forge.proposals.length, forge.issueWrites.length], [1, sent])
})

test('a tick on closed drift ends its silence and opens a new pull request', async () => {
  const { world, forge } = worldOf(`{mode: Propose, ${NOW}}`)
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  forge.byHand(1, { state: 'closed', decidedBy: 'grace', decidedAt: world.cluster.now })
  await world.scan()
  assert.match(bodyOf(forge), /\*\*Silenced by close\*\* \(1\)/)
  assert.match(bodyOf(forge), /closed by `grace`/)
  tickAll(forge)
  const { report, outcome } = await world.plan()
  assert.deepEqual([outcome, report.status.lifecycle], ['created', 'Proposed'])
  assert.equal(forge.proposals.length, 2)
  assert.doesNotMatch(bodyOf(forge), /Silenced by close/)
  forge.byHand(2, { state: 'closed', decidedBy: 'grace', decidedAt: world.cluster.now })
  assert.equal(
    (await world.plan()).report.status.state,
    'Silenced',
    'closed again it is silent again',
  )
  assert.equal((await world.plan()).report.status.state, 'Silenced')
})

test('the dashboard lists an unreadable cluster when its last observation is stale, and partly read packages', async () => {
  const world = new FleetWorld(2)
  world.edit([0], 5)
  await world.scan()
  assert.doesNotMatch(bodyOf(world.forge), /Not observed/)
  world.cluster(1).identify = async () => {
    throw new Failure({
      code: 'BP3001',
      what: 'cannot read',
      why: 'connection refused at 10.0.0.7:12345',
      remedy: 'wait',
    })
  }
  await world.scan()
  assert.doesNotMatch(bodyOf(world.forge), /Not observed/)
  for (let minute = 0; minute < 20; minute += 1) await world.scan()
  assert.match(bodyOf(world.forge), /\*\*Not observed\*\* \(1\)/)
  assert.match(bodyOf(world.forge), /`edge-02` \| all of them/)
  assert.doesNotMatch(bodyOf(world.forge), /10\.0\.0\.7/)
  assert.deepEqual(world.forge.issueWrites, ['open dashboard', 'edit dashboard'])
})

test('in a repository without issues the pull requests are still written', async () => {
  const { world, forge } = worldOf(`{mode: Propose, ${NOW}}`)
  forge.ensureIssue = async () => {
    throw new Failure({
      code: 'BP5006',
      what: 'cannot open an issue',
      why: 'issues are disabled',
      remedy: 'enable them',
    })
  }
  world.edit(WEB_CONFIG, 'data.color', 'red')
  const { reported } = await world.scan()
  assert.equal(forge.proposals.length, 1)
  assert.deepEqual(
    reported.map(({ code }) => code),
    ['BP5006'],
  )
})

test('a restore that is late is reported after its time limit', async () => {
  const { world, forge } = worldOf(`{mode: Propose, ${NOW}}`)
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  await world.approve()
  forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: world.cluster.now })
  await world.scan()
  assert.doesNotMatch(bodyOf(forge), /Restore failed/)
  world.pass(10)
  await world.scan()
  assert.match(bodyOf(forge), /\*\*Restore failed\*\* \(1\)/)
})

test('a stuck syncer is listed once with its reason, and leaves when it catches up', async () => {
  const world = new RolloutWorld({ a: { color: 'blue' } })
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.apply({ a: { color: 'blue' } })
  await world.scan()
  world.commit({ a: { color: 'green' } })
  await world.scan()
  assert.deepEqual(forge.issueWrites, [], 'behind, and in time')
  world.pass(61)
  await world.scan()
  assert.match(
    bodyOf(forge),
    /\*\*Stuck\*\* \(1\)\n\n.*\n\n\| Package \| Cluster \| Stuck since \| Why \|\n/,
  )
  assert.match(
    bodyOf(forge),
    /\| \[`apps\/web`\].*\| `.*` \| 2026-.* UTC \| live is what `[0-9a-f]{7}` rendered.*within `1h` \|/,
  )
  for (let turn = 0; turn < 5; turn += 1) await world.scan()
  assert.deepEqual(forge.issueWrites, ['open dashboard'])
  world.apply({ a: { color: 'green' } })
  await world.scan()
  assert.match(bodyOf(forge), /Nothing needs attention/)
})

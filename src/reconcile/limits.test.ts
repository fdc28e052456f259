/** Limits over whole turns: what is held is a draft that says why, and follows when there is room. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { policyText, TurnWorld } from '../../test/fakes/turn-world.ts'
import type { DriftReport } from '../record/schema.ts'

/** Packages `a`, `b`, … with a ConfigMap each; nothing else, and the limits that the policy gives. */
function worldOf(names: string, policy: string): { world: TurnWorld; forge: MemoryForge } {
  const files: Record<string, string> = { 'apps/web/Kptfile': '', '.drift/policy.yaml': policyText(policy), '.drift/at-once.yaml': '' }
  for (const name of names) {
    files[`apps/${name}/Kptfile`] = `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: ${name}}\n`
    files[`apps/${name}/config.yaml`] = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: {color: blue}\n`
  }
  const world = new TurnWorld('{}', files)
  world.packages = [...names].map((name) => `apps/${name}`)
  const forge = new MemoryForge(world.repository)
  forge.now = () => world.cluster.now
  world.forge = forge
  return { world, forge }
}

function edit(world: TurnWorld, names: string, color = 'red'): void {
  for (const name of names) world.edit(`/ConfigMap/shop/${name}`, 'data.color', color)
}

/** By package: `Proposed`, `Draft hourly-limit`, or the state. */
async function statesOf(world: TurnWorld, dryRun = false): Promise<Record<string, string>> {
  const { units } = await world.scan({ dryRun })
  return Object.fromEntries(
    units.map((unit) => {
      if (unit.state === 'failed') throw unit.failures[0]
      return [unit.unit.packagePath.replace('apps/', ''), wordOf(unit.plan.report)]
    }),
  )
}

function wordOf({ status: { state, lifecycle, held } }: DriftReport): string {
  if (state !== 'Drifted') return state
  return held === undefined ? lifecycle : `${lifecycle} ${held.reason}`
}

const NOW = 'detect: {minAge: 0s, settle: 0s}'

test('more drift than the hour allows is recorded, and follows an hour later, the same ones in the same order', async () => {
  const { world, forge } = worldOf('abcde', `{mode: Propose, ${NOW}}`)
  edit(world, 'abcde')
  assert.deepEqual(await statesOf(world, true), await statesOf(world), 'a dry run says the same')
  assert.deepEqual(forge.proposals.length, 2)
  assert.equal(world.repository.names().filter((name) => name.startsWith('drafts/')).length, 3)
  const pushes = world.repository.pushes.length
  const written = [forge.writes.length, forge.issueWrites.length]
  for (let turn = 0; turn < 10; turn += 1) await world.scan()
  assert.equal(world.repository.pushes.length, pushes, 'nothing new, nothing written')
  assert.deepEqual([forge.writes.length, forge.issueWrites.length], written)
  world.pass(60)
  assert.deepEqual(await statesOf(world), { a: 'Proposed', b: 'Proposed', c: 'Proposed', d: 'Proposed', e: 'Draft hourly-limit' })
  await world.scan()
  assert.equal(forge.proposals.length, 4, 'the time at which they were opened counts, not that at which they were seen')
})

test('where git alone is the forge the hour counts too', async () => {
  const { world } = worldOf('abcde', `{mode: Propose, ${NOW}}`)
  world.forge = undefined
  edit(world, 'abcde')
  const proposed = async (): Promise<number> => Object.values(await statesOf(world)).filter((word) => word === 'Proposed').length
  assert.deepEqual([await proposed(), await proposed()], [2, 2])
  world.pass(60)
  assert.deepEqual([await proposed(), await proposed()], [4, 4])
})

test('no more are open at once than allowed; one that is decided makes room', async () => {
  const { world, forge } = worldOf('abc', `{mode: Propose, ${NOW}, limits: {prHourlyLimit: 0, prConcurrentLimit: 2}}`)
  edit(world, 'abc')
  assert.deepEqual(await statesOf(world), { a: 'Proposed', b: 'Proposed', c: 'Draft concurrent-limit' })
  forge.byHand(1, { state: 'closed', decidedBy: 'grace', decidedAt: world.cluster.now })
  assert.deepEqual(await statesOf(world), { a: 'Silenced', b: 'Proposed', c: 'Proposed' })
})

test('drift waits until it has rested, and is proposed in the same episode', async () => {
  const { world, forge } = worldOf('a', '{mode: Propose}')
  world.cluster.change('/ConfigMap/shop/a', () => undefined as never)
  assert.deepEqual(await statesOf(world), { a: 'Draft min-age' })
  const [draft] = world.repository.names()
  assert.deepEqual(await statesOf(world), { a: 'Draft min-age' })
  assert.equal(forge.proposals.length, 0)
  assert.deepEqual(await statesOf(world), { a: 'Proposed' })
  assert.deepEqual(world.repository.names(), [draft?.replace('drafts/', 'proposed/')])
})

test('an object that changes again makes its pull request a draft until it has rested', async () => {
  const { world, forge } = worldOf('a', '{mode: Propose, detect: {minAge: 0s}}')
  edit(world, 'a')
  await world.scan()
  assert.equal(forge.proposals[0]?.draft, false)
  world.cluster.change('/ConfigMap/shop/a', () => undefined as never)
  await world.scan()
  assert.equal(forge.proposals[0]?.draft, true)
  assert.match(forge.proposals[0]?.body ?? '', /still changing/)
  await world.scan()
  await world.scan()
  assert.equal(forge.proposals[0]?.draft, false)
})

test('a window holds new drift, leaves what is open, and lets what somebody asks for through', async () => {
  const { world } = worldOf('abc', `{mode: Propose, ${NOW}, windows: [{name: freeze, kind: hold, schedule: "0 11 * * *", duration: 1h}]}`)
  edit(world, 'a')
  assert.deepEqual(await statesOf(world), { a: 'Proposed', b: 'InSync', c: 'InSync' })
  world.pass(60)
  edit(world, 'a', 'green')
  edit(world, 'b')
  assert.deepEqual(await statesOf(world), { a: 'Proposed', b: 'Draft window', c: 'InSync' })
  world.packages = ['apps/b']
  assert.equal((await world.wish('Adopt')).report.status.lifecycle, 'Proposed')
  world.packages = ['apps/a', 'apps/b', 'apps/c']
  edit(world, 'c')
  assert.equal((await statesOf(world))['c'], 'Draft window')
  world.pass(60)
  assert.equal((await statesOf(world))['c'], 'Proposed')
})

test('what people change by hand in a window of that kind is planned as Adopt', async () => {
  const { world } = worldOf('ab', `{mode: Propose, ${NOW}, windows: [{name: night, kind: adopt, schedule: "0 9 * * *", duration: 2h}]}`)
  edit(world, 'a')
  world.edit('/ConfigMap/shop/b', 'data.color', 'red', 'some-controller')
  const { units } = await world.scan()
  const plans = units.map((unit) => (unit.state === 'failed' ? '' : unit.plan.report.status.plan))
  assert.deepEqual(plans, ['Adopt', 'Restore'])
})

test('a storm: no pull requests but critical ones, one issue, closed when it is over, and then the usual limits', async () => {
  const { world, forge } = worldOf('abcde', `{mode: Propose, ${NOW}, limits: {stormThreshold: 3}}`)
  edit(world, 'abcd')
  const held = { a: 'Draft storm', b: 'Draft storm', c: 'Draft storm', d: 'Draft storm', e: 'InSync' }
  assert.deepEqual(await statesOf(world), held)
  assert.equal(forge.proposals.length, 0)
  assert.match(forge.issues.get('storm')?.title ?? '', /Drift storm: 4 packages .* 100 % by kubectl-edit/)
  const sent = [forge.issueWrites.length, world.repository.pushes.length]
  await world.scan()
  assert.deepEqual([forge.issueWrites.length, world.repository.pushes.length], sent)
  world.pass(60)
  assert.equal(Object.values(await statesOf(world)).filter((word) => word === 'Proposed').length, 2)
  assert.equal(forge.issues.get('storm')?.open, false)
  const after = forge.issueWrites.length
  await world.scan()
  assert.equal(forge.issueWrites.length, after)
})

test('a process that ends before the issue is closed closes it in the next turn', async () => {
  const { world, forge } = worldOf('abcd', `{mode: Propose, ${NOW}, limits: {stormThreshold: 3}}`)
  edit(world, 'abcd')
  await world.scan()
  world.pass(60)
  forge.beforeWrite = (write) => {
    if (write === 'close storm') throw new Error('killed')
  }
  await assert.rejects(world.scan())
  forge.beforeWrite = () => undefined
  await world.scan()
  assert.equal(forge.issues.get('storm')?.open, false)
})

/** Limits over whole turns: held drift is a draft that says why, and is proposed when there is room. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { policyText, TurnWorld } from '../../../test/fakes/turn-world.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'

/** Packages `a`, `b`, … with a ConfigMap each; nothing else, and the limits that the policy gives. */
function worldOf(names: string, policy: string): { world: TurnWorld; forge: MemoryForge } {
  const files: Record<string, string> = {
    'apps/web/Kptfile': '',
    '.drift/policy.yaml': policyText(policy),
    '.drift/at-once.yaml': '',
  }
  for (const name of names) {
    files[`apps/${name}/Kptfile`] =
      `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: ${name}}\n`
    files[`apps/${name}/config.yaml`] =
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: {color: blue}\n`
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

test('drift over the hourly limit is recorded and proposed an hour later, in a stable order', async () => {
  const { world, forge } = worldOf('abcde', `{mode: Propose, ${NOW}}`)
  edit(world, 'abcde')
  assert.deepEqual(await statesOf(world, true), await statesOf(world), 'a dry run says the same')
  assert.deepEqual(forge.proposals.length, 2)
  assert.equal(world.repository.names().filter((name) => name.startsWith('drafts/')).length, 3)
  const pushes = world.repository.pushes.length
  const written = [forge.writes.length, forge.issueWrites.length]
  for (let turn = 0; turn < 8; turn += 1) await world.scan()
  assert.equal(world.repository.pushes.length, pushes, 'nothing new, nothing written')
  assert.deepEqual([forge.writes.length, forge.issueWrites.length], written)
  world.pass(60)
  assert.deepEqual(await statesOf(world), {
    a: 'Proposed',
    b: 'Proposed',
    c: 'Proposed',
    d: 'Proposed',
    e: 'Draft hourly-limit',
  })
  await world.scan()
  assert.equal(
    forge.proposals.length,
    4,
    'the time at which they were opened counts, not that at which they were seen',
  )
})

test('the hourly limit also applies on git alone', async () => {
  const { world } = worldOf('abcde', `{mode: Propose, ${NOW}}`)
  world.forge = undefined
  edit(world, 'abcde')
  const proposed = async (): Promise<number> =>
    Object.values(await statesOf(world)).filter((word) => word === 'Proposed').length
  assert.deepEqual([await proposed(), await proposed()], [2, 2])
  world.pass(60)
  assert.deepEqual([await proposed(), await proposed()], [4, 4])
})

test('the number of open proposals is limited, and a decided one makes room', async () => {
  const { world, forge } = worldOf(
    'abc',
    `{mode: Propose, ${NOW}, limits: {prHourlyLimit: 0, prConcurrentLimit: 2}}`,
  )
  edit(world, 'abc')
  assert.deepEqual(await statesOf(world), {
    a: 'Proposed',
    b: 'Proposed',
    c: 'Draft concurrent-limit',
  })
  forge.byHand(1, { state: 'closed', decidedBy: 'grace', decidedAt: world.cluster.now })
  assert.deepEqual(await statesOf(world), { a: 'Silenced', b: 'Proposed', c: 'Proposed' })
})

test('drift waits for its minimum age, and is proposed in the same episode', async () => {
  const { world, forge } = worldOf('a', '{mode: Propose}')
  world.cluster.objects.delete('/ConfigMap/shop/a')
  assert.deepEqual(await statesOf(world), { a: 'Draft min-age' })
  const [draft] = world.repository.names()
  assert.deepEqual(await statesOf(world), { a: 'Draft min-age' })
  assert.equal(forge.proposals.length, 0)
  assert.deepEqual(await statesOf(world), { a: 'Proposed' })
  assert.deepEqual(world.repository.names(), [draft?.replace('drafts/', 'proposed/')])
})

test('an object that changes again makes its pull request a draft until it settles', async () => {
  const { world, forge } = worldOf('a', '{mode: Propose, detect: {minAge: 0s}}')
  edit(world, 'a')
  await world.scan()
  assert.equal(forge.proposals[0]?.draft, false)
  world.cluster.objects.delete('/ConfigMap/shop/a')
  await world.scan()
  assert.equal(forge.proposals[0]?.draft, true)
  assert.match(forge.proposals[0]?.body ?? '', /still changing/)
  await world.scan()
  await world.scan()
  assert.equal(forge.proposals[0]?.draft, false)
})

test('a draft mark that a person set stays', async () => {
  const { world, forge } = worldOf('a', '{mode: Propose, detect: {minAge: 0s}}')
  edit(world, 'a')
  await world.scan()
  const [opened] = forge.proposals
  assert.ok(opened !== undefined)
  forge.proposals[0] = { ...opened, draft: true, title: 'their title' }
  await world.scan()
  const [{ draft, title } = opened] = forge.proposals
  assert.deepEqual([draft, title], [true, opened.title])
})

test('a window holds new drift, but neither open proposals nor requested ones', async () => {
  const { world } = worldOf(
    'abc',
    `{mode: Propose, ${NOW}, windows: [{name: freeze, kind: hold, schedule: "0 11 * * *", duration: 1h}]}`,
  )
  edit(world, 'a')
  assert.deepEqual(await statesOf(world), { a: 'Proposed', b: 'InSync', c: 'InSync' })
  world.pass(60)
  edit(world, 'a', 'green')
  edit(world, 'b')
  assert.deepEqual(await statesOf(world), { a: 'Proposed', b: 'Draft window', c: 'InSync' })
  world.packages = ['apps/b']
  assert.equal((await world.resolutionRequest('Adopt')).report.status.lifecycle, 'Proposed')
  world.packages = ['apps/a', 'apps/b', 'apps/c']
  edit(world, 'c')
  assert.equal((await statesOf(world))['c'], 'Draft window')
  world.pass(60)
  assert.equal((await statesOf(world))['c'], 'Proposed')
})

test('manual changes during an adopt window are planned as Adopt', async () => {
  const { world } = worldOf(
    'ab',
    `{mode: Propose, ${NOW}, windows: [{name: night, kind: adopt, schedule: "0 9 * * *", duration: 2h}]}`,
  )
  edit(world, 'a')
  world.edit('/ConfigMap/shop/b', 'data.color', 'red', 'some-controller')
  const { units } = await world.scan()
  const plans = units.map((unit) => (unit.state === 'failed' ? '' : unit.plan.report.status.plan))
  assert.deepEqual(plans, ['Adopt', 'Restore'])
})

test('a storm opens one issue and only critical pull requests, and ends with the usual limits', async () => {
  const { world, forge } = worldOf('abcde', `{mode: Propose, ${NOW}, limits: {stormThreshold: 3}}`)
  edit(world, 'abcd')
  const held = {
    a: 'Draft storm',
    b: 'Draft storm',
    c: 'Draft storm',
    d: 'Draft storm',
    e: 'InSync',
  }
  assert.deepEqual(await statesOf(world), held)
  assert.equal(forge.proposals.length, 0)
  assert.match(
    forge.issues.get('storm')?.title ?? '',
    /Drift storm: 4 packages .* 100 % by kubectl-edit/,
  )
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

test('an issue left open by a crash is closed in the next turn', async () => {
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

const LABEL = 'metadata.labels.team'

function editLabel(world: TurnWorld, names: string, value = 'night', label = LABEL): void {
  for (const name of names) world.edit(`/ConfigMap/shop/${name}`, label, value)
}

test('label-only drift waits for the digest, is listed on the dashboard, and follows later', async () => {
  const { world, forge } = worldOf('ab', `{mode: Propose, ${NOW}}`)
  editLabel(world, 'a')
  edit(world, 'b')
  assert.deepEqual(
    await statesOf(world, true),
    { a: 'Draft digest', b: 'Proposed' },
    'a dry run says the same',
  )
  const { units } = await world.scan()
  const [a] = units
  // A Saturday.
  assert.equal(a?.state === 'planned' && a.plan.report.status.held?.until, '2026-11-23T08:00:00Z')
  assert.match(
    forge.issues.get('dashboard')?.body ?? '',
    /low risk and wait for the digest:\n\n.*`apps\/a`.*, until 2026-11-23 08:00 UTC$/m,
  )
  const sent = [forge.writes.length, forge.issueWrites.length, world.repository.pushes.length]
  await world.scan()
  assert.deepEqual(
    [forge.writes.length, forge.issueWrites.length, world.repository.pushes.length],
    sent,
  )
  world.pass(45 * 60 + 40)
  assert.equal((await statesOf(world))['a'], 'Draft digest', 'a quarter of an hour before')
  world.pass(20)
  assert.deepEqual(await statesOf(world), { a: 'Proposed', b: 'Proposed' })
})

test('label drift is proposed at once with other drift, on request, by tick or without a digest', async () => {
  const { world, forge } = worldOf('abc', `{mode: Propose, ${NOW}, limits: {prHourlyLimit: 0}}`)
  editLabel(world, 'abc')
  edit(world, 'b')
  assert.deepEqual(await statesOf(world), { a: 'Draft digest', b: 'Proposed', c: 'Draft digest' })
  world.packages = ['apps/a']
  assert.equal((await world.resolutionRequest('Adopt')).report.status.lifecycle, 'Proposed')
  world.packages = ['apps/a', 'apps/b', 'apps/c']
  const issue = forge.issues.get('dashboard')
  assert.ok(issue !== undefined)
  forge.issues.set('dashboard', { ...issue, body: issue.body.replaceAll('- [ ] ', '- [x] ') })
  assert.deepEqual(await statesOf(world), { a: 'Proposed', b: 'Proposed', c: 'Proposed' })

  const other = worldOf('a', `{mode: Propose, ${NOW}, limits: {digest: off}}`)
  editLabel(other.world, 'a')
  assert.deepEqual(await statesOf(other.world), { a: 'Proposed' })
})

test('waiting for the digest does not count as waiting for a decision', async () => {
  const { world, forge } = worldOf('a', `{mode: Propose, ${NOW}, limits: {digest: "0 8 1 * *"}}`)
  editLabel(world, 'a')
  await world.scan()
  world.pass(10 * 24 * 60)
  assert.deepEqual(await statesOf(world), { a: 'Proposed' })
  assert.doesNotMatch(forge.issues.get('dashboard')?.body ?? '', /waits long/)
  world.pass(8 * 24 * 60)
  await world.scan()
  assert.match(forge.issues.get('dashboard')?.body ?? '', /waits long/)
})

test('very many drifted objects in several packages of one cluster are a storm with one issue', async () => {
  const { world, forge } = worldOf(
    'abcde',
    `{mode: Propose, ${NOW}, limits: {stormObjects: 2, stormShare: 50}}`,
  )
  edit(world, 'ab')
  assert.deepEqual(await statesOf(world, true), {
    a: 'Proposed',
    b: 'Proposed',
    c: 'InSync',
    d: 'InSync',
    e: 'InSync',
  })
  edit(world, 'c')
  assert.deepEqual(await statesOf(world), {
    a: 'Draft storm',
    b: 'Draft storm',
    c: 'Draft storm',
    d: 'InSync',
    e: 'InSync',
  })
  assert.deepEqual(forge.proposals, [])
  const issue = forge.issues.get('storm')
  assert.match(issue?.title ?? '', /^Drift storm: 3 objects of 3 packages since/)
  assert.match(issue?.body ?? '', /more than 2 objects and more than 50 %/)
  assert.match(forge.issues.get('dashboard')?.body ?? '', /objects of the cluster `?prod/)
  const sent = [forge.issueWrites.length, world.repository.pushes.length]
  await world.scan()
  assert.deepEqual([forge.issueWrites.length, world.repository.pushes.length], sent)
  world.pass(60)
  assert.equal(Object.values(await statesOf(world)).filter((word) => word === 'Proposed').length, 2)
  assert.equal(forge.issues.get('storm')?.open, false)
})

test("while an object has an adopt window's label, its manual changes except that label are adopted", async () => {
  const window =
    'windows: [{name: break-glass, kind: adopt, when: {label: {example.com/incident: open}}}]'
  const { world } = worldOf('abc', `{mode: Propose, ${NOW}, ${window}}`)
  edit(world, 'ab')
  editLabel(world, 'a', 'open', 'metadata.labels["example.com/incident"]')
  editLabel(world, 'b', 'over', 'metadata.labels["example.com/incident"]')
  world.edit('/ConfigMap/shop/c', 'data.color', 'red', 'some-controller')
  editLabel(world, 'c', 'open', 'metadata.labels["example.com/incident"]')
  const { units } = await world.scan()
  const plans = units.flatMap((unit) =>
    unit.state === 'failed' ? [] : [unit.plan.report.spec.changes],
  )
  assert.deepEqual(
    plans.map((changes) => changes.map(({ path, resolution }) => `${path} ${resolution}`).sort()),
    [
      ['data.color Adopt', 'metadata.labels["example.com/incident"] Restore'],
      ['data.color Restore', 'metadata.labels["example.com/incident"] Restore'],
      ['data.color Restore', 'metadata.labels["example.com/incident"] Restore'],
    ],
  )
})

test("while a drifted object has a hold window's label, its drift is held until the label goes", async () => {
  const { world } = worldOf(
    'ab',
    `{mode: Propose, ${NOW}, windows: [{name: calm, kind: hold, when: {label: {incident: open}}}]}`,
  )
  edit(world, 'ab')
  editLabel(world, 'a', 'open', 'metadata.labels.incident')
  assert.deepEqual(await statesOf(world), { a: 'Draft window', b: 'Proposed' })
  editLabel(world, 'a', 'over', 'metadata.labels.incident')
  assert.deepEqual(await statesOf(world), { a: 'Proposed', b: 'Proposed' })
})

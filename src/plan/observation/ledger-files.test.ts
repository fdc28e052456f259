import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'

test('without rights to read the cluster identity, fingerprint and recorded identity stay the same', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  const first = await world.plan()
  assert.equal(first.outcome, 'created')
  const identity = identityIn(world)
  assert.match(identity, /^[0-9a-f]{16}$/)

  world.cluster.uid = undefined
  const blind = await world.plan()
  assert.deepEqual([blind.outcome, blind.updates], ['unchanged', []])
  assert.equal(blind.report.spec.fingerprint, first.report.spec.fingerprint)
  world.edit(WEB, 'spec.replicas', 6)
  assert.equal((await world.plan()).outcome, 'updated')
  assert.equal(identityIn(world), identity)
})

/** What a machine that is thrown away makes: a key that no earlier run had. */
const newKey = (byte: number) => createRedactionKey(new Uint8Array(32).fill(byte), true)

/** A world with drift whose value is hidden, and drift whose value is shown where `shown` says so; and its ledger, run after run. */
function driftedWorld(
  mode: string,
  shown: boolean,
): { readonly world: TurnWorld; readonly scan: (byte: number) => Promise<string> } {
  const world = new TurnWorld(`{mode: ${mode}}`)
  if (shown) world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB_CONFIG, 'data.password', 'hunter-two')
  const scan = async (byte: number): Promise<string> => {
    world.key = newKey(byte)
    await world.plan()
    return world.repository.head('drift-ledger')
  }
  return { world, scan }
}

for (const mode of ['Propose', 'Warn'])
  for (const shown of [true, false])
    test(`a new key in each run creates no commit while nothing differs: ${mode}${shown ? '' : ', all of it hidden'}`, async () => {
      const { world, scan } = driftedWorld(mode, shown)
      const first = await scan(1)
      assert.deepEqual([await scan(2), await scan(3)], [first, first])
      world.edit(WEB, 'spec.replicas', 6)
      const second = await scan(4)
      assert.notEqual(second, first)
      assert.equal(await scan(5), second)
    })

test('a key created in this run recognises its own hidden values, also in the next run', async () => {
  const { world, scan } = driftedWorld('Warn', false)
  const first = await scan(1)
  assert.equal(await scan(1), first)
  world.key = createRedactionKey(new Uint8Array(32).fill(1))
  await world.plan()
  assert.equal(world.repository.head('drift-ledger'), first)
  const report = (): string | undefined =>
    world.repository.text('drift-ledger', 'clusters/prod/apps--web/report.yaml')
  const before = report()
  // Its length, its writer and the time are the same.
  world.cluster.change(WEB_CONFIG, (live) => ({
    ...live,
    data: { color: 'blue', size: '5', password: 'hunter-six' },
  }))
  await scan(1)
  assert.notEqual(report(), before)
})

test('a persistent key rewrites the report once, so that later runs recognise its hidden values', async () => {
  const { world, scan } = driftedWorld('Warn', false)
  const first = await scan(1)
  world.key = createRedactionKey(new Uint8Array(32).fill(2))
  await world.plan()
  const second = world.repository.head('drift-ledger')
  assert.notEqual(second, first)
  await world.plan()
  assert.deepEqual([world.repository.head('drift-ledger'), await scan(3)], [second, second])
})

function identityIn(world: TurnWorld): string {
  const path =
    world.repository.paths('drift-ledger').find((name) => name.endsWith('/observation.yaml')) ?? ''
  return (
    /identity: "?([0-9a-f]*)"?$/m.exec(world.repository.text('drift-ledger', path) ?? '')?.[1] ??
    assert.fail('no identity')
  )
}

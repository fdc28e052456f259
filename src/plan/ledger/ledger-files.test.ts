import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'

test('an account that may not read the identity of the cluster gives the same fingerprint, and the ledger keeps what it knows', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  const first = await world.plan()
  assert.equal(first.outcome, 'created')
  const identity = identityIn(world)
  assert.match(identity, /^[0-9a-f]{16}$/)

  world.cluster.uid = ''
  const blind = await world.plan()
  assert.deepEqual([blind.outcome, blind.updates], ['unchanged', []])
  assert.equal(blind.report.spec.fingerprint, first.report.spec.fingerprint)
  world.edit(WEB, 'spec.replicas', 6)
  assert.equal((await world.plan()).outcome, 'updated')
  assert.equal(identityIn(world), identity)
})

function identityIn(world: TurnWorld): string {
  const path = world.repository.paths('drift-ledger').find((name) => name.endsWith('/observation.yaml')) ?? ''
  return /identity: "?([0-9a-f]*)"?$/m.exec(world.repository.text('drift-ledger', path) ?? '')?.[1] ?? assert.fail('no identity')
}

/** Which requests about a differing object are repeated from turn to turn. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { formatJson } from '@backporch/kyaml/json'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import { appliedBy, editedBy } from '../../../test/fakes/live-object.ts'
import { WEB, WEB_CONFIG, yaml } from '../../../test/fakes/turn-world.ts'
import { WorkerRenderer } from '../../adapters/functions/worker-renderer.ts'
import { TurnCache } from './turn-cache.ts'

const SEALED = `apiVersion: v1
kind: ConfigMap
metadata: {name: sealed, namespace: shop, labels: {team: shop}}
data:
  token: ENC[AES256_GCM,data:dG9rZW4=,iv:c29tZSBpdg==,tag:c29tZSB0YWc=,type:str]
`
const SOPS = 'sops:\n  mac: ENC[AES256_GCM,data:bWFj,iv:c29tZSBpdg==,tag:c29tZSB0YWc=,type:str]\n'

/** One cluster with an object that is encrypted in git and one that is not; each call is a turn of a process that lives on. */
function began() {
  const world = new FleetWorld(1)
  const cluster = world.cluster(0)
  world.repository.commitByHand('main', { 'apps/web/sealed.yaml': SEALED + SOPS })
  cluster.put(appliedBy('kustomize-controller', yaml(SEALED.replace(/ENC\[.*\]/, 'plain-canary'))))
  const sent: string[] = []
  const { predict } = cluster
  cluster.predict = (resource, manager) => {
    sent.push(formatJson(resource.object))
    return predict.call(cluster, resource, manager)
  }
  const renderer = new WorkerRenderer({
    allowed: { exec: [], images: [] },
    engine: undefined,
    environment: {},
  })
  const memory = { between: new TurnCache(), renderer }
  const turn = async () => {
    sent.length = 0
    const { units } = await world.scan(memory)
    const [unit] = units
    assert.ok(unit?.state === 'planned')
    const changes = unit.plan.report.spec.changes.map(
      ({ ref, path, live }) => `${ref.name} ${path} ${live}`,
    )
    return { dryRuns: sent.length, changes }
  }
  const edit = (key: string, field: string, value: string): void =>
    cluster.change(key, (live) => editedBy('kubectl-edit', live, field, value))
  return { world, turn, edit, sent }
}

for (const [what, key, field] of [
  ['a value encrypted in git', '/ConfigMap/shop/sealed', 'data.token'],
  ['a plain field beside encrypted ones', '/ConfigMap/shop/sealed', 'metadata.labels.team'],
  ['a field of an ordinary object', WEB_CONFIG, 'data.color'],
] as const) {
  test(`drift of ${what} costs one dry run until expiry or a change, and sends no ciphertext`, async () => {
    const { world, turn, edit, sent } = began()
    assert.deepEqual(await turn(), { dryRuns: 0, changes: [] })
    edit(key, field, 'hand-canary')
    const first = await turn()
    assert.deepEqual([first.dryRuns, first.changes.length], [1, 1])
    assert.ok(!sent.join().includes('ENC['))
    if (field === 'data.token')
      assert.match(first.changes[0] ?? '', /^sealed data.token hmac-sha256:/)
    for (let again = 0; again < 3; again += 1)
      assert.deepEqual(await turn(), { ...first, dryRuns: 0 })
    world.pass(40)
    assert.deepEqual(await turn(), first)
    edit(key, field, 'second-canary')
    const second = await turn()
    assert.equal(second.dryRuns, 1)
    assert.notDeepEqual(second.changes, first.changes)
    assert.ok(!sent.join().includes('ENC['))
    // Beside what differs; the kept answer was about the object before.
    edit(key, 'metadata.annotations.note', 'x')
    assert.equal((await turn()).dryRuns, 1)
    assert.equal((await turn()).dryRuns, 0)
    // Another object of the unit moved on.
    world.cluster(0).change(WEB, (live) => ({ ...live, status: { replicas: 1 } }))
    assert.equal((await turn()).dryRuns, 0)
  })
}

test('a failed dry run is retried in every turn', async () => {
  const { world, turn, edit } = began()
  edit(WEB_CONFIG, 'data.color', 'red')
  world.cluster(0).outage = new Failure({
    code: 'BP3003',
    what: 'cannot try',
    why: 'it is forbidden',
    remedy: 'allow it',
  })
  const dryRuns = []
  for (let again = 0; again < 3; again += 1) dryRuns.push((await turn()).dryRuns)
  assert.deepEqual(dryRuns, [1, 1, 1])
})

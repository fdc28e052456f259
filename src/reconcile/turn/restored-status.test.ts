/** `drift/restored` on a merge commit shows what the syncer's own resource reports about the merge. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { withMetadata } from '../../../test/fakes/live-object.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { mergeByHand, TurnWorld, WEB, yaml } from '../../../test/fakes/turn-world.ts'

const LABELS = {
  app: 'web',
  'kustomize.toolkit.fluxcd.io/name': 'apps',
  'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
}

class FluxWorld extends TurnWorld {
  /** The Kustomization reports this. */
  report(status: JsonObject, spec: JsonObject = {}): void {
    const own = yaml(
      'apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n',
    )
    this.cluster.put({ ...own, spec: { interval: '10m', prune: true, ...spec }, status })
  }

  mark(): void {
    this.cluster.change(WEB, (live) => withMetadata(live, { labels: LABELS }))
  }
}

async function merged(): Promise<{ world: FluxWorld; forge: MemoryForge; first: string }> {
  const world = new FluxWorld('{mode: Propose, decide: {verifyTimeout: 10m}}')
  const first = world.repository.head('main')
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.mark()
  world.report({ lastAppliedRevision: `main@sha1:${first}` })
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  await mergeByHand(world, (forge.proposals[0]?.ref ?? '').replace('refs/heads/', ''))
  forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  return { world, forge, first }
}

function statusOf(world: FluxWorld, forge: MemoryForge): string {
  const { state, description } =
    forge.statuses.get(`${world.repository.head('main')} drift/restored`) ?? {}
  return `${state ?? 'none'}: ${description ?? ''}`
}

test('the status shows the last applied commit, follows the syncer, and ends with the cluster', async () => {
  const { world, forge, first } = await merged()
  await world.plan()
  const waits = 'waiting for prod to match the merged revision'
  assert.equal(
    statusOf(world, forge),
    `pending: ${waits}: Flux Kustomization flux-system/apps applied ${first.slice(0, 7)} last`,
  )
  world.report({ conditions: [{ type: 'Ready', status: 'False', reason: 'BuildFailed' }] })
  await world.plan()
  assert.equal(
    statusOf(world, forge),
    `failure: ${waits}: Flux Kustomization flux-system/apps says Ready is False: BuildFailed`,
  )
  world.report({ lastAppliedRevision: `main@sha1:${world.repository.head('main')}` })
  await world.plan()
  assert.equal(
    statusOf(world, forge),
    `pending: ${waits}: Flux Kustomization flux-system/apps applied it`,
  )
  world.sync()
  world.mark()
  await world.plan()
  assert.equal(statusOf(world, forge), 'success: prod matches the merged revision')
})

test('a suspended syncer is a failure, and the final comment has its report', async () => {
  const { world, forge } = await merged()
  world.report({}, { suspend: true })
  await world.plan()
  assert.match(
    statusOf(world, forge),
    /^failure: .*Flux Kustomization flux-system\/apps is suspended$/,
  )
  world.pass(10)
  await world.plan()
  assert.match(
    forge.comments.at(-1)?.body ?? '',
    /still differs from git\*\*: Flux Kustomization `flux-system\/apps` is suspended: merging changes nothing/,
  )
})

test('an equal status is not sent again', async () => {
  const { world, forge } = await merged()
  await world.plan()
  const sent = forge.writes.length
  await world.plan()
  assert.deepEqual(forge.writes.slice(sent), [])
})

test('the proposal names the resource, its interval and the command to apply at once', async () => {
  const { forge } = await merged()
  const body = forge.proposals[0]?.body ?? ''
  assert.match(
    body,
    /Flux Kustomization `?flux-system\/apps`? applies the package again .* every `?10m/,
  )
  assert.match(
    body,
    /To apply it without waiting for the syncer, run after the merge:\n\n```sh\nflux reconcile kustomization apps -n flux-system --with-source\n/,
  )
})

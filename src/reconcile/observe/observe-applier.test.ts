import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, type LiveView, type WantedObject } from '@backporch/kyaml/resource'
import { KUSTOMIZATION, present, WEB } from '../../../test/fakes/applier-world.ts'
import { MemoryCluster } from '../../../test/fakes/memory-cluster.ts'
import { deploymentOf, type MarkedBy } from '../../../test/fakes/syncer-marks.ts'
import { createUnknownBuild } from '../../sources/registry.ts'
import type { Applier } from '../../status/applier.ts'
import { listClaims } from '../../syncers/claims.ts'
import { observeApplier } from './observe-applier.ts'
import { OwnResources } from './own-resources.ts'

class RequestDescription extends MemoryCluster {
  readonly requested: string[][] = []
  broken: Failure | undefined

  override async readLive(wanted: readonly WantedObject[]): Promise<LiveView> {
    this.requested.push(wanted.map(({ id }) => getResourceKey(id)))
    if (this.broken !== undefined) throw this.broken
    return super.readLive(wanted)
  }
}

function observe(
  cluster: MemoryCluster,
  by: readonly MarkedBy[],
  signal = new AbortController().signal,
): Promise<Applier> {
  const live = new Map([[WEB, present(deploymentOf(by))]])
  const side = { live, claims: listClaims(live), verdicts: [], syncer: undefined }
  return observeApplier(
    new OwnResources(cluster),
    side,
    { packagePath: 'apps/web', pipeline: false },
    signal,
  )
}

const FLUX: JsonObject = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { name: 'web', namespace: 'apps' },
  spec: { interval: '10m', suspend: true },
}

test('the resources of all syncers are read in one request, and none if no object names one', async () => {
  const cluster = new RequestDescription()
  cluster.put(FLUX)
  assert.match((await observe(cluster, ['kustomization'])).sentence, /is suspended/)
  await observe(cluster, ['kustomization', 'helmrelease'])
  await observe(cluster, ['ci'])
  await observe(cluster, ['kptLive'])
  assert.deepEqual(cluster.requested, [
    [KUSTOMIZATION],
    ['helm.toolkit.fluxcd.io/HelmRelease/apps/web', KUSTOMIZATION],
  ])
})

test('an unreadable syncer resource makes the applier unknown, and the unit continues', async () => {
  const cluster = new RequestDescription()
  cluster.put(FLUX)
  cluster.unreadable.add(KUSTOMIZATION)
  const unreadable = await observe(cluster, ['kustomization'])
  assert.equal(unreadable.restores, 'unknown')
  assert.match(unreadable.sentence, /BP3005: the server is down/)
  cluster.broken = new Failure({
    code: 'BP3006',
    what: 'cannot list',
    why: 'no answer in time',
    remedy: 'try again',
  })
  const broken = await observe(cluster, ['kustomization'])
  assert.equal(broken.restores, 'unknown')
  assert.match(broken.sentence, /BP3006: no answer in time/)
})

test('an abort is rethrown, not reported as an unknown applier', async () => {
  const cluster = new RequestDescription()
  const interrupt = new AbortController()
  interrupt.abort(new Error('interrupted'))
  cluster.broken = new Failure({
    code: 'BP3006',
    what: 'cannot list',
    why: 'no answer in time',
    remedy: 'try again',
  })
  await assert.rejects(observe(cluster, ['kustomization'], interrupt.signal), /interrupted/)
})

test('in a folder with kpt files, the apply command names the object files', async () => {
  const path = 'apps/web/web.yaml'
  const verdicts = [{ desired: { location: { path } }, items: [] }] as unknown as Parameters<
    typeof observeApplier
  >[1]['verdicts']
  const live = new Map([[WEB, present(deploymentOf(['ci']))]])
  const side = { live, claims: listClaims(live), verdicts, syncer: undefined }
  const command = async (paths: readonly string[]): Promise<string | undefined> => {
    const of = { packagePath: 'apps/web', pipeline: false, paths }
    return (
      await observeApplier(
        new OwnResources(new MemoryCluster()),
        side,
        of,
        new AbortController().signal,
      )
    ).command
  }
  assert.match((await command(['Kptfile', 'README.md', 'web.yaml'])) ?? '', / -R -f apps\/web$/)
  assert.match(
    (await command(['Kptfile', 'package-context.yaml', 'web.yaml'])) ?? '',
    / -f apps\/web\/web\.yaml$/,
  )
})

test('without marks the resource that found the unit applies it; a pinned one restores nothing on merge', async () => {
  const cluster = new RequestDescription()
  cluster.put(FLUX)
  const live = new Map([[WEB, present(deploymentOf(['ci']))]])
  const side = { live, claims: listClaims(live), verdicts: [], syncer: undefined }
  const observed = (pinned: string | undefined): Promise<Applier> => {
    const build = { ...createUnknownBuild('Flux Kustomization apps/web', ''), object: FLUX, pinned }
    const of = {
      packagePath: 'apps/web',
      pipeline: false,
      render: { tool: 'flux', build },
    } as const
    return observeApplier(new OwnResources(cluster), side, of, new AbortController().signal)
  }
  const found = await observed(undefined)
  assert.deepEqual(
    [found.name, found.restores, found.report?.title],
    ['Flux Kustomization apps/web', 'when-told', 'Flux Kustomization apps/web'],
  )
  assert.match(found.sentence, /is suspended/)
  const pinned = await observed(
    'it applies the tag v1: a merge is applied once spec.ref of it moves',
  )
  assert.deepEqual(
    [pinned.restores, pinned.warning],
    ['when-told', 'it applies the tag v1: a merge is applied once spec.ref of it moves'],
  )
})

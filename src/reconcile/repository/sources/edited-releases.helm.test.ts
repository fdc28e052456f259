/** A HelmRelease that somebody edited in the cluster, and that helm-controller has rolled out since: `kubectl edit helmrelease`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refused } from '../../../../test/fakes/turn-world.ts'
import { helmOrThrow } from '../../../../test/helm/find-helm.ts'
import { FILES, GIVEN, ReleaseWorld } from '../../../../test/helm/stored-release-world.ts'

const { helm3, helm4 } = await helmOrThrow()
const RELEASE = { key: 'helm.toolkit.fluxcd.io/HelmRelease/shop/web', unit: 'apps/production' }
const OVERLAY = 'apps/production/release.yaml'
const BASE = 'apps/base/release.yaml'

const FOUR = FILES[OVERLAY].replace('replicas: 3', 'replicas: 4')
const REPLICAS = 'helmrelease/web:spec.values.replicas'

function adopt(world: ReleaseWorld, selectors: readonly string[] = []) {
  return world.plan({
    packages: [RELEASE.unit],
    resolutionRequest: { resolution: 'Adopt', selectors, message: undefined },
  })
}

/** The replicas of the overlay's values, and an annotation that only the chart has a key for. */
function edited(helm: string): ReleaseWorld {
  const world = new ReleaseWorld(helm)
  world.edit(RELEASE.key, 'spec.values.replicas', 4)
  world.edit(RELEASE.key, 'spec.values.podAnnotations', { team: 'shop' })
  world.release({ ...GIVEN, replicas: 4, podAnnotations: { team: 'shop' } })
  return world
}

for (const [version, helm] of [
  ['Helm 3', helm3],
  ['Helm 4', helm4],
] as const)
  describe(`a HelmRelease that was edited in the cluster, with ${version}`, () => {
    test('shows the edit, and its release is in sync', async () => {
      const states = await edited(helm).states()
      assert.match(states['apps/production'] ?? '', /Drifted$/)
      assert.match(states['apps/production/web'] ?? '', /InSync$/)
    })

    test('adopts one value without the other', async () => {
      const world = edited(helm)
      const { branch } = await adopt(world, [REPLICAS])
      assert.equal(world.repository.text(branch, OVERLAY), FOUR)
      assert.equal(world.repository.text(branch, BASE), FILES[BASE])
    })

    test('adopts both values', async () => {
      const world = edited(helm)
      const { branch } = await adopt(world)
      assert.equal(world.repository.text(branch, OVERLAY), FOUR)
      assert.match(world.repository.text(branch, BASE) ?? '', /podAnnotations:\n\s+team: shop/)
    })

    test('rejects a value that is not rolled out yet, since the release would change', async () => {
      const world = edited(helm)
      world.edit(RELEASE.key, 'spec.values.replicas', 5)
      const { why, remedy } = await refused(adopt(world, [REPLICAS]), 'BP2001')
      assert.match(remedy, /^wait until the release has the value too/)
      assert.match(
        why,
        /which apps\/production\/web is built from too: .*change spec\.replicas of Deployment (shop\/)?shop-web there/,
      )
    })
  })

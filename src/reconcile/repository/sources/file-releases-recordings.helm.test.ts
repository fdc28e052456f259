/** Flux HelmReleases that a Kustomization of the repository builds, with a recording that contains their releases. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { openRecordedCluster } from '@backporch/cluster/recording'
import { formatJson } from '@backporch/kyaml/json'
import { KUSTOMIZATION, release, UNIT } from '../../../../test/fakes/declared-release.ts'
import { appliedBy, editedBy } from '../../../../test/fakes/live-object.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import {
  DEPLOYMENT,
  DeclaredReleaseWorld,
  STORED,
} from '../../../../test/helm/declared-release-world.ts'
import { helmOrThrow } from '../../../../test/helm/find-helm.ts'

const { helm3 } = await helmOrThrow()
describe('a HelmRelease declared in files', () => {
  test('with a chart elsewhere is compared with the recorded Helm release', async () => {
    const world = new DeclaredReleaseWorld(
      helm3,
      release([
        'GitRepository, name: flux-system, namespace: flux-system',
        'HelmRepository, name: charts',
      ]),
    )
    world.cluster.releases.set('shop/shop', {
      source: 'the Helm release shop/shop',
      resources: [],
      applied: [],
      release: STORED,
    })
    assert.deepEqual(await world.states(), {
      ...KUSTOMIZATION,
      [UNIT]: 'Flux HelmRelease shop/web: InSync',
    })
    assert.deepEqual(await world.notes(), [])
  })

  test('stays the same unit when its release is no longer recorded', async () => {
    const world = new DeclaredReleaseWorld(
      helm3,
      release([
        'GitRepository, name: flux-system, namespace: flux-system',
        'HelmRepository, name: charts',
      ]),
    )
    world.cluster.releases.set('shop/shop', {
      source: 'the Helm release shop/shop',
      resources: [],
      applied: [],
      release: STORED,
    })
    await world.scan()
    world.cluster.releases.clear()
    assert.match(
      (await world.states())[UNIT] ?? '',
      /^BP1210 no stored Helm release is recorded for it/,
    )
  })

  test('uses the values of the build if the recording may lack them', async () => {
    const world = new DeclaredReleaseWorld(helm3)
    world.cluster.unreadable.add('/ConfigMap/shop/web-values')
    assert.equal((await world.states())[UNIT], 'Flux HelmRelease shop/web: InSync')
  })

  test('is compared with a recording that has no release or only its Secret metadata', async () => {
    const secret = `apiVersion: v1
kind: Secret
metadata: {name: sh.helm.release.v1.shop.v1, namespace: shop, labels: {owner: helm, name: shop, status: deployed, version: "1"}}
`
    const hand = editedBy(
      'kubectl-edit',
      appliedBy('helm-controller', yaml(DEPLOYMENT)),
      'spec.replicas',
      5,
    )
    for (const objects of [[hand], [hand, yaml(secret)]]) {
      const folder = mkdtempSync(join(tmpdir(), 'backporch-recording-'))
      try {
        objects.forEach(
          (object, at) => void writeFileSync(join(folder, `${at}.json`), formatJson(object)),
        )
        const world = new DeclaredReleaseWorld(helm3)
        world.recording = openRecordedCluster({
          path: folder,
          name: 'prod',
          observedAt: world.cluster.now,
        })
        const { report } = await world.plan({ packages: [UNIT] })
        assert.deepEqual(
          report.spec.changes.map(({ path, git, live }) => [path, git, live]),
          [['spec.replicas', 3, 5]],
        )
      } finally {
        rmSync(folder, { recursive: true })
      }
    }
  })

  test('uses values of the recording that no file has, and alone fails if there are none', async () => {
    const world = new DeclaredReleaseWorld(helm3, {
      'apps/base/kustomization.yaml': 'resources:\n- release.yaml\n',
    })
    assert.equal((await world.states())[UNIT], 'Flux HelmRelease shop/web: InSync')
    world.cluster.unreadable.add('/ConfigMap/shop/web-values')
    const states = await world.states()
    assert.match(
      states[UNIT] ?? '',
      /^BP1210 valuesFrom names the ConfigMap shop\/web-values, which cannot be read/,
    )
    assert.equal(states['apps/production'], KUSTOMIZATION['apps/production'])
  })
})

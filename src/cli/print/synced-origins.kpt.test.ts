/** Where the values of a folder come from that Flux builds, as `explain` prints it after a real build. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { InProcessRenderer } from '../../../test/fakes/in-process-renderer.ts'
import { appliedBy } from '../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../test/fakes/synced-world.ts'
import { yaml } from '../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../test/kpt/find-kubectl.ts'
import { addPackageBuilds, PackageBuilds } from '../../adapters/functions/package-builds.ts'

const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, ref: {branch: main}, url: ssh://git@/deploy}
`
const APPS = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./apps/production
  commonMetadata:
    labels: {tier: front}
  postBuild:
    substitute:
      size: "6"
    substituteFrom:
    - {kind: Secret, name: credentials}
`
const CONFIG =
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {size: "${size} m", user: "${user}"}\n'
const LIVE =
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop, labels: {tier: front}}\ndata: {size: "6 m", user: canary}\n'

test('explain names the variable, the common label and the Secret of a folder that Flux builds', {
  skip: whyNoKubectl(),
}, async () => {
  const world = new SyncedWorld(
    { 'clusters/apps.yaml': APPS, 'apps/production/settings.yaml': CONFIG },
    ['kubectl'],
  )
  for (const object of [SYNC, APPS]) world.cluster.put(yaml(object))
  const encoded = Buffer.from('canary').toString('base64')
  world.cluster.put(
    yaml(
      `apiVersion: v1\nkind: Secret\nmetadata: {name: credentials, namespace: flux-system}\ndata: {user: ${encoded}}\n`,
    ),
  )
  world.cluster.put(appliedBy(world.syncer, yaml(LIVE)))
  const settings = '/ConfigMap/shop/settings'
  world.edit(settings, 'data.size', '7 m')
  world.edit(settings, 'data.user', 'other-canary')
  world.edit(settings, 'metadata.labels.tier', 'back')
  const renderer = addPackageBuilds(
    new InProcessRenderer(),
    new PackageBuilds({ allowed: ['kubectl'], environment: process.env }),
  )
  const { stdout } = await runInWorld(world, ['explain', 'apps/production'], { renderer })
  for (const line of [
    'written by the variable clusters/apps.yaml:11:13 (size), which decides a part of it',
    'written by the variable Secret flux-system/credentials (user), which decides',
    'written by commonMetadata of clusters/apps.yaml:8:20',
  ])
    assert.ok(stdout.includes(line), stdout)
  assert.doesNotMatch(stdout, /canary/)
})

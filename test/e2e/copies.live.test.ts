/** What a merged Restore deletes can be had back from its record, by hand and with nothing but kubectl. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { policy, webPackage } from './packages.ts'
import { createResourceGroupKind } from './shop-package.ts'
import { assertExit, openWorld } from './world.ts'

const INVENTORY = 'web-inventory'

await controlPlaneSuite('copies of deleted objects', { controllerManager: true }, (plane) => {
  before(() => createResourceGroupKind(plane))

  test('restores objects that a merge deleted from their copies', async (t) => {
    const namespace = await plane.namespace('copies')
    const ns = ['-n', namespace]
    const group = `apiVersion: kpt.dev/v1alpha1\nkind: ResourceGroup\nmetadata:\n  name: web\n  namespace: ${namespace}\n  labels:\n    cli-utils.sigs.k8s.io/inventory-id: ${INVENTORY}\n`
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      ...policy('mode: Propose\nsettle: backporch'),
      'apps/web/resourcegroup.yaml': group,
    })
    await world.sync('apps/web')
    const big = 'a line of text\n'.repeat(69_000)
    await world.pipe(
      `apiVersion: v1
kind: ConfigMap
metadata: {name: large, namespace: ${namespace}, labels: {app: old}, annotations: {example.com/owner: "shop, team ä"}}
data: {big: ${JSON.stringify(big)}, empty: "", odd: "no\\ttab\\n\\n", "true": "null"}
binaryData: {bytes: AAEC/w==}
---
apiVersion: v1
kind: Service
metadata: {name: old, namespace: ${namespace}}
spec: {selector: {app: old}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: ${namespace}}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: app, image: "busybox:1", command: ["true"]}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: old, namespace: ${namespace}}
spec:
  replicas: 0
  selector: {matchLabels: {app: old}}
  template: {metadata: {labels: {app: old}}, spec: {containers: [{name: app, image: "busybox:1", env: [{name: A, value: b}]}]}}
---
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: ${namespace}}
stringData: {password: swordfish}
`,
      'create',
      '--filename=-',
    )
    const objects = ['configmap/large', 'service/old', 'job/once', 'deployment/old']
    const listed = [
      ['', 'ConfigMap', 'web'],
      ['', 'ConfigMap', 'large'],
      ['', 'Service', 'old'],
      ['batch', 'Job', 'once'],
      ['apps', 'Deployment', 'old'],
      ['', 'Secret', 'login'],
    ].map(
      ([of, kind, name]) =>
        `  - {group: "${of}", kind: ${kind}, namespace: ${namespace}, name: ${name}}\n`,
    )
    await world.pipe(`${group}spec:\n  resources:\n${listed.join('')}`, 'create', '--filename=-')
    const before = await Promise.all(
      objects.map(async (name) => content(await world.kubectl('get', name, ...ns, '-o', 'json'))),
    )

    const scanned = assertExit(await world.backporch('scan', 'apps/web'), 1)
    assert.match(scanned.stdout, /The record keeps a copy of /)
    assert.match(
      scanned.stdout,
      /A Restore loses the live value of data\.password of Secret .*\/login: git never keeps credentials\./,
    )
    const approved = assertExit(
      await world.backporch('approve', 'apps/web', '--yes', '--wait', '--wait-timeout', '10m'),
      0,
    )
    assert.match(approved.stdout, /A Restore loses the live value of data\.password/)
    for (const name of [...objects, 'secret/login'])
      assert.equal(await world.kubectl('get', name, ...ns, '--ignore-not-found', '-o', 'name'), '')

    await world.git('pull', '--quiet', '--ff-only', 'origin', 'main')
    const { items } = JSON.parse(
      assertExit(await world.backporch('history', 'apps/web', '-o', 'json'), 0).stdout,
    )
    const copies: { ref: { kind: string }; manifest: string; lost?: string[] }[] =
      items[0].spec.copies
    assert.equal(copies.length, 5)
    for (const { ref, manifest } of copies) {
      if (ref.kind === 'Secret') continue
      await world.pipe(manifest, 'apply', '--server-side', '--filename=-')
    }
    const after = await Promise.all(
      objects.map(async (name) => content(await world.kubectl('get', name, ...ns, '-o', 'json'))),
    )
    assert.deepEqual(after, before)
    // The Secret came back to nobody: its copy says which key it had, and the server takes no hash for its content.
    const login = copies.find(({ ref }) => ref.kind === 'Secret')
    assert.deepEqual(login?.lost, ['data.password'])
    assert.doesNotMatch(JSON.stringify(items), /swordfish|c3dvcmRmaXNo/)
    await assert.rejects(world.pipe(login?.manifest ?? '', 'apply', '--filename=-'), /base64/)
  })
})

/** Without what the server writes anew, and without what `kubectl apply` keeps for itself. */
function content(text: string): unknown {
  const { status: _status, metadata, ...rest } = JSON.parse(text)
  const {
    managedFields: _m,
    uid,
    resourceVersion: _r,
    creationTimestamp: _c,
    generation: _g,
    annotations = {},
    ...retained
  } = metadata
  delete annotations['kubectl.kubernetes.io/last-applied-configuration']
  return JSON.parse(
    JSON.stringify({ ...rest, metadata: { ...retained, annotations } }).replaceAll(
      uid,
      'its own uid',
    ),
  )
}

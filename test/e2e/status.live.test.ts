/** What status says of a cluster that cannot be read, and of objects that are in sync and fail. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneStartSuite } from '../controlplane/control-plane-suite.ts'
import { handsOf } from '../controlplane/server-hands.ts'
import { startControlPlane } from '../controlplane/start-control-plane.ts'
import { webPackage } from './packages.ts'
import { assertExit, openWorld, type World } from './world.ts'

await controlPlaneStartSuite('what status says of a cluster', () => {
  /** A plane of this test's own: it is stopped. */
  async function ownPlane(t: TestContext): Promise<ControlPlane> {
    const plane = await startControlPlane()
    if (plane.state === 'unavailable') throw new Error(plane.why)
    t.after(() => plane.stop())
    return plane
  }

  test('reports Unknown with its age and exit 3 while the API server is down, and InSync afterwards', async (t) => {
    const plane = await ownPlane(t)
    const namespace = await plane.namespace('status')
    const world = await openWorld(t, plane, webPackage(namespace))
    await world.sync('apps/web')
    await world.kubectl(
      'patch',
      'deployment/web',
      '-n',
      namespace,
      '--subresource=status',
      '--type=merge',
      '-p',
      rolledOut(3),
    )
    assertExit(await world.backporch('scan'), 0)
    assert.match(assertExit(await world.backporch('status'), 0).stdout, /✓ InSync +✓ Current/)

    const server = handsOf(t, plane, 'kube-apiserver')
    await server.kill()
    assert.match(assertExit(await world.backporch('scan'), 3).stderr, /^error BP3001: /)
    const lost = await status(world, 3)
    assert.match(lost.stdout, /^test +apps\/web +- +\? Unknown +\? Unknown +\? +- +2/m)
    assert.doesNotMatch(lost.stdout, /InSync/)
    assert.match(
      lost.stderr,
      /^note: test: cannot be observed since 20\S+Z \(\d+s\), last observed 20\S+Z \(\d+s\): the cluster could not be observed \(BP3001\)$/m,
    )
    const document = parse((await world.backporch('status', '-o', 'yaml')).stdout)
    const [item] = document.items
    const [cluster] = document.clusters
    assert.deepEqual(
      [cluster.name, cluster.reachable, cluster.failure.code],
      ['test', false, 'BP3001'],
    )
    assert.deepEqual(
      [item.status.state, item.status.lastKnown.state, item.status.incomplete[0].code],
      ['Unknown', 'InSync', 'BP3001'],
    )
    const group = parse(
      await world.show('drift-ledger', 'clusters/test/apps--web/resourcegroup.yaml'),
    )
    assert.deepEqual(
      [...new Set(group.status.resourceStatuses.map((each: { status: string }) => each.status))],
      ['Unknown'],
    )
    assert.match((await world.backporch('get', 'packages')).stdout, /apps\/web .*\? +- +\? Unknown/)

    const head = await world.remote('rev-parse', 'drift-ledger')
    assertExit(await world.backporch('scan'), 3)
    assert.equal(await world.remote('rev-parse', 'drift-ledger'), head, 'it is written once')

    await server.start()
    assertExit(await world.backporch('scan'), 0)
    const back = await status(world, 0)
    assert.match(back.stdout, /✓ InSync +✓ Current/)
    assert.doesNotMatch(back.stderr, /cannot be observed/)
  })

  test('shows failing health of an in-sync package in every output, with another exit code than drift', async (t) => {
    const plane = await ownPlane(t)
    const namespace = await plane.namespace('health')
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      'apps/job/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: job}\n',
      'apps/job/job.yaml': `apiVersion: batch/v1\nkind: Job\nmetadata: {name: once, namespace: ${namespace}}\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: app, image: "registry.example/app:1"}]\n`,
      'apps/pod/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: pod}\n',
      'apps/pod/pod.yaml': `apiVersion: v1\nkind: Pod\nmetadata: {name: lone, namespace: ${namespace}}\nspec:\n  automountServiceAccountToken: false\n  containers: [{name: app, image: "registry.example/none:1"}]\n`,
    })
    await plane.kubectl(['create', 'serviceaccount', 'default', '-n', namespace])
    for (const path of ['apps/web', 'apps/job', 'apps/pod']) await world.sync(path)
    const write = (object: string, patch: object) =>
      world.kubectl(
        'patch',
        object,
        '-n',
        namespace,
        '--subresource=status',
        '--type=merge',
        '-p',
        JSON.stringify({ status: patch }),
      )
    const now = '2026-11-21T10:00:00Z'
    const condition = (type: string, state: string, reason: string) => ({
      type,
      status: state,
      reason,
      message: '',
      lastTransitionTime: now,
    })
    await write('deployment/web', {
      observedGeneration: 1,
      conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')],
    })
    await write('job/once', {
      startTime: now,
      failed: 1,
      conditions: [
        { ...condition('FailureTarget', 'True', 'BackoffLimitExceeded'), lastProbeTime: now },
        { ...condition('Failed', 'True', 'BackoffLimitExceeded'), lastProbeTime: now },
      ],
    })
    await write('pod/lone', {
      phase: 'Pending',
      conditions: [condition('PodScheduled', 'True', '')],
      containerStatuses: [
        {
          name: 'app',
          ready: false,
          restartCount: 0,
          image: 'registry.example/none:1',
          imageID: '',
          state: { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } },
        },
      ],
    })
    assertExit(await world.backporch('scan'), 0)

    const failed = await status(world, 5)
    assert.match(failed.stdout, /^CLUSTER +PACKAGE +REVISION +STATE +HEALTH +DRIFT/m)
    assert.match(failed.stdout, /^test +apps\/web .*✓ InSync +✗ Failed/m)
    assert.match(failed.stdout, /^test +apps\/job .*✓ InSync +✗ Failed/m)
    assert.match(failed.stdout, /^test +apps\/pod .*✓ InSync +~ InProgress/m)
    assert.match(
      failed.stderr,
      /^3 recorded: 3 in sync, 0 drifted, 2 failed \(-o wide names the objects\)$/m,
    )
    assertExit(await world.backporch('status', 'apps/pod'), 0)
    assertExit(await world.backporch('status', '--no-exit-code'), 0)
    const wide = (await world.backporch('status', '-o', 'wide')).stdout
    assert.match(wide, /Deployment\/web: Progress deadline exceeded/)
    assert.match(wide, /Job\/once: Job Failed\. failed: 1\/1/)
    const list = JSON.parse((await world.backporch('status', 'apps/web', '-o', 'json')).stdout)
    assert.deepEqual(list.items[0].status.health, {
      status: 'Failed',
      objects: [
        {
          ref: { group: 'apps', kind: 'Deployment', namespace, name: 'web' },
          status: 'Failed',
          message: 'Progress deadline exceeded',
        },
      ],
    })
    const packages = await world.backporch('get', 'packages')
    assert.match(packages.stdout, /apps\/web .*✗ Failed/)
    const listed = JSON.parse((await world.backporch('get', 'packages', '-o', 'json')).stdout)
    assert.deepEqual(
      listed.items.map((each: { packagePath: string; drift: { health: string }[] }) => [
        each.packagePath,
        each.drift[0]?.health,
      ]),
      [
        ['apps/job', 'Failed'],
        ['apps/pod', 'InProgress'],
        ['apps/web', 'Failed'],
      ],
    )
    const group = parse(
      await world.show('drift-ledger', 'clusters/test/apps--web/resourcegroup.yaml'),
    )
    const stalled = group.status.conditions.find(({ type }: { type: string }) => type === 'Stalled')
    assert.equal(stalled.status, 'True')
    // Drift beside it is drift.
    await world.kubectl('patch', 'deployment/web', '-n', namespace, '-p', '{"spec":{"replicas":7}}')
    assertExit(await world.backporch('scan'), 1)
    await status(world, 1)
  })
})

async function status(world: World, exit: number) {
  return assertExit(await world.backporch('status'), exit)
}

/** The status of a Deployment as its controller writes it when all Pods run. */
function rolledOut(replicas: number): string {
  const conditions = [
    { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
    { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
  ]
  const counts = {
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  }
  return JSON.stringify({ status: { observedGeneration: 1, ...counts, conditions } })
}

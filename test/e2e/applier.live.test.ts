/** What people are told about who applies, on a real API server: `explain` and the closing words of `approve`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../apiserver/live-cluster.ts'
import { createSyncer, installSyncerKinds, SYNCER_KINDS } from '../apiserver/syncer-kinds.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { policy, webPackage } from './packages.ts'
import { assertExit, type Files, openWorld } from './world.ts'

await controlPlaneSuite('who applies', { controllerManager: true }, (plane) => {
  /** The labels stand in git here, because there is no Flux that puts them on. */
  function labelled(files: Files, namespace: string): Files {
    const labels = `labels: {app: web, team: "shop", kustomize.toolkit.fluxcd.io/name: web, kustomize.toolkit.fluxcd.io/namespace: ${namespace}}`
    return Object.fromEntries(
      Object.entries(files).map(([path, text]) => [
        path,
        text.replace('labels: {app: web, team: "shop"}', labels),
      ]),
    )
  }

  test('reports a suspended Kustomization before and after the merge, with the command that resumes it', async (t) => {
    await installSyncerKinds(plane, await connect(plane))
    const namespace = await plane.namespace('applier')
    await createSyncer(plane, SYNCER_KINDS.kustomization, namespace, 'web', {
      interval: '10m',
      suspend: true,
    })
    const world = await openWorld(t, plane, {
      ...labelled(webPackage(namespace), namespace),
      ...policy('mode: Propose'),
    })
    await world.sync('apps/web')
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)

    const explained = assertExit(await world.backporch('explain', 'apps/web'), 0)
    assert.match(
      explained.stdout,
      new RegExp(
        `^applier Flux Kustomization ${namespace}/web\\n   .* is suspended: .*\\n   run: flux resume`,
        'm',
      ),
    )
    assertExit(await world.backporch('scan', 'apps/web'), 1)
    const approved = assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
    assert.match(
      approved.stdout,
      new RegExp(`^  run: flux resume kustomization web -n ${namespace}$`, 'm'),
    )
    assert.doesNotMatch(approved.stdout, /kubectl apply/)
  })
})

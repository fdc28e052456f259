/** A merge that adds an object, before a push applier runs again: it waits, at every look within the hour. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ApplierTool, findAppliers } from '../appliers/appliers.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { kptfile, policy } from './packages.ts'
import { assertExit, assertNoDrift, openWorld } from './world.ts'

const TOOLS: readonly ApplierTool[] = [
  'kubectl-client-side',
  'kubectl-server-side',
  'kpt-client-side',
  'kpt-server-side',
  'helm3',
  'helm4',
  'helm4-client-side',
]

const appliers = await findAppliers()

await controlPlaneSuite('an object that a merge adds', {}, (plane) => {
  if (appliers.state === 'unavailable') {
    test('with each push applier', { skip: appliers.why }, () => {})
    return
  }
  for (const tool of TOOLS)
    test(`waits for ${tool} at each of five scans, and no record is written`, async (t) => {
      const namespace = await plane.namespace('added')
      const config = (name: string): string =>
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {color: blue}\n`
      const world = await openWorld(t, plane, {
        'apps/web/Kptfile': kptfile('web'),
        'apps/web/first.yaml': config('first'),
        ...policy('mode: Propose'),
      })
      await appliers.applyWith(tool, {
        kubeconfig: plane.kubeconfig,
        namespace,
        manifests: config('first'),
      })
      assertExit(await world.backporch('scan'), 0)
      await world.commit({ 'apps/web/second.yaml': config('second') }, 'feat: another object')
      for (let scan = 0; scan < 5; scan += 1) {
        const { stdout } = assertExit(await world.backporch('scan'), 0)
        assert.doesNotMatch(stdout, /missing/)
      }
      assert.match(assertNoDrift(await world.backporch('status')).stdout, /apps\/web .*Behind/)
      assert.deepEqual(await world.proposals(), [])
      await world.kubectl('get', 'configmap/first', '-n', namespace)
    })
})

/** `render -o unwrap | kubectl apply -f -` on a real API server, and why that is not what kpt prints. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { kptfile } from './packages.ts'
import { assertExit, openWorld } from './world.ts'

function configMap(name: string, data: string, more = ''): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}data: {${data}}\n`
}

await controlPlaneSuite('the output of render', {}, (plane) => {
  test('kubectl applies the output of a pipeline with setters, a Secret and local config, and one edit is one line', async (t) => {
    const namespace = await plane.namespace('unwrapped')
    const setters = `pipeline:\n  mutators:\n    - image: ghcr.io/kptdev/krm-functions-catalog/set-namespace:v0.4.1\n      configMap:\n        namespace: ${namespace}\n`
    const world = await openWorld(t, plane, {
      'apps/web/Kptfile': `${kptfile('web')}${setters}`,
      'apps/web/config.yaml': configMap('web', 'color: blue'),
      'apps/web/secret.yaml':
        'apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {token: hunter2}\n',
      'apps/web/local.yaml': configMap(
        'local',
        'a: b',
        '  annotations: {config.kubernetes.io/local-config: "true"}\n',
      ),
      'apps/web/below/Kptfile': kptfile('below'),
      'apps/web/below/config.yaml': configMap('below', 'a: b'),
    })
    const { stdout } = assertExit(await world.backporch('render', 'apps/web', '-o', 'unwrap'), 0)
    await world.pipe(stdout, 'apply', '--filename=-')
    assert.equal(assertExit(await world.backporch('diff', 'apps/web'), 0).stdout, '')
    await world.kubectl(
      'patch',
      'configmap/web',
      '--patch={"data":{"color":"red"}}',
      '-n',
      namespace,
    )
    assert.match(assertExit(await world.backporch('diff', 'apps/web'), 1).stdout, /color/)
  })

  test('kpt prints its Kptfile among the documents, and kubectl refuses it', {
    skip: whyNoKpt(),
  }, async (t) => {
    const namespace = await plane.namespace('kpt-unwrapped')
    const world = await openWorld(t, plane, {
      'apps/web/Kptfile': kptfile('web'),
      'apps/web/config.yaml': configMap('web', 'color: blue', `  namespace: ${namespace}\n`),
    })
    const { stdout } = await world.kpt(world.checkout, 'fn', 'render', 'apps/web', '-o', 'unwrap')
    await assert.rejects(
      world.pipe(stdout, 'apply', '--filename=-'),
      /no matches for kind "Kptfile" in version "kpt.dev\/v1"/,
    )
  })
})

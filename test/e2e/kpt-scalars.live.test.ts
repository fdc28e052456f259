/** A package with scalars that kpt and kubectl read differently, applied with each. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { assertExit, openWorld } from './world.ts'

const SPEC =
  'spec: {a: yes, b: No, n: 1, on: 2, day: 2001-1-2, at: 2001-01-02 03:04:05, big: 9007199254740993, mode: 0755}'

await controlPlaneSuite('scalars of a package', {}, (plane) => {
  for (const applier of ['kpt', 'kubectl'] as const)
    test(`reports nothing when ${applier} applied them, and one line for an edit`, {
      skip: applier === 'kpt' ? whyNoKpt() : false,
    }, async (t) => {
      const namespace = await plane.namespace('scalars')
      const group = `${namespace}.example.com`
      const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.${group}}
spec:
  group: ${group}
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`
      const thing = `apiVersion: ${group}/v1\nkind: Thing\nmetadata: {name: web, namespace: ${namespace}}\n${SPEC}\n`
      const inventory =
        applier === 'kpt'
          ? `inventory: {namespace: ${namespace}, name: inv, inventoryID: ${namespace}-inv}\n`
          : ''
      const world = await openWorld(t, plane, {
        'apps/web/Kptfile': `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: web}\n${inventory}`,
        'apps/web/thing.yaml': thing,
      })
      await world.pipe(definition, 'apply', '--server-side', '--filename=-')
      t.after(() =>
        plane.request(
          'DELETE',
          `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`,
        ),
      )
      await world.kubectl(
        'wait',
        `crd/things.${group}`,
        '--for=condition=Established',
        '--timeout=4m',
      )
      if (applier === 'kubectl') await world.pipe(thing, 'apply', '--filename=-')
      else
        await world.kpt(
          world.checkout,
          'live',
          'apply',
          'apps/web',
          '--install-resource-group',
          '--reconcile-timeout=4m',
        )
      const quiet = assertExit(await world.backporch('diff', '-q'), 0)
      assert.equal(quiet.stdout, '')
      await world.kubectl(
        'patch',
        `things.${group}/web`,
        '-n',
        namespace,
        '--type=merge',
        '--patch={"spec":{"a":"no"}}',
      )
      const { stdout } = assertExit(await world.backporch('diff', '-o', 'json'), 1)
      const changes: { path: string }[] = JSON.parse(stdout).items[0].spec.changes
      assert.deepEqual(
        changes.map(({ path }) => path),
        ['spec.a'],
      )
    })
})

/** Custom resources: with a definition that is gone or not there yet, and with nulls. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { untilPublished } from './desired-package.ts'
import { kptfile, policy } from './packages.ts'
import { assertExit, openWorld, type World } from './world.ts'

const NULLS =
  '\n  template:\n    data: null\n    metadata: {creationTimestamp: null, labels: {app: db}}'

await controlPlaneSuite('custom resources', {}, (plane) => {
  async function open(
    t: TestContext,
    spec = '',
  ): Promise<{ world: World; group: string; lamp: string }> {
    const namespace = await plane.namespace('lamps')
    // No other test has the kind.
    const group = `${namespace}.example.com`
    const lamp = `apiVersion: ${group}/v1\nkind: Lamp\nmetadata: {name: one, namespace: ${namespace}}\nspec:\n  lit: true${spec}\n`
    const world = await openWorld(t, plane, {
      'apps/lamps/Kptfile': kptfile('lamps'),
      'apps/lamps/crd.yaml': definition(group),
      'apps/lamps/lamp.yaml': lamp,
      ...policy('mode: Propose'),
    })
    t.after(() =>
      plane.request(
        'DELETE',
        `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/lamps.${group}`,
      ),
    )
    return { world, group, lamp }
  }

  test('appear with their definition and disappear with it', async (t) => {
    const { world, group, lamp } = await open(t)
    const waits = assertExit(await world.backporch('diff'), 0)
    assert.match(waits.stdout, /^Behind: the package is new, .* \(2 differences, no drift\)$/m)

    await applyBoth(world, group, lamp)
    assertExit(await world.backporch('scan'), 0)
    await world.kubectl('delete', 'crd', `lamps.${group}`)
    const list: DriftReportList = JSON.parse(
      assertExit(await world.backporch('diff', '-o', 'json'), 1).stdout,
    )
    assert.deepEqual(list.incomplete, [])
    assert.deepEqual(
      list.items.flatMap(({ spec }) =>
        spec.changes.map(({ change, ref }) => `${change} ${ref.kind}`),
      ),
      ['missing CustomResourceDefinition', 'missing Lamp'],
    )
  })

  for (const [how, flags] of [
    ['client-side', []],
    ['server-side', ['--server-side']],
  ] as const)
    test(`with nulls are in sync after a ${how} apply`, async (t) => {
      const { world, group, lamp } = await open(t, NULLS)
      await applyBoth(world, group, lamp, ...flags)
      const run = assertExit(await world.backporch('diff', 'apps/lamps'), 0)
      assert.equal(run.stdout, '')
      await world.edit(
        'true',
        'false',
        'lamp/one',
        '-n',
        /namespace: ([^}]+)/.exec(lamp)?.[1] ?? '',
      )
      assertExit(await world.backporch('diff', 'apps/lamps'), 1)
    })
})

async function applyBoth(
  world: World,
  group: string,
  lamp: string,
  ...flags: readonly string[]
): Promise<void> {
  await world.pipe(definition(group), 'apply', ...flags, '--filename=-')
  await world.kubectl('wait', '--for=condition=Established', `crd/lamps.${group}`, '--timeout=4m')
  await untilPublished(world.plane, group, ['v1'])
  await world.pipe(lamp, 'apply', ...flags, '--filename=-')
}

function definition(group: string): string {
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.${group}}
spec:
  group: ${group}
  scope: Namespaced
  names: {plural: lamps, singular: lamp, kind: Lamp, listKind: LampList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              lit: {type: boolean}
              template:
                type: object
                nullable: true
                properties:
                  data: {type: object, nullable: true, additionalProperties: {type: string}}
                  metadata: {type: object, nullable: true, x-kubernetes-preserve-unknown-fields: true}
`
}

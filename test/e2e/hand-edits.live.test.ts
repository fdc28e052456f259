/** Every hand edit is named, with field, both values and who did it, and nothing else is. */
import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import type { Change } from '../../src/record/documents/change.ts'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { HIDDEN, INJECTED } from './injected-edits.ts'
import {
  type CustomKind,
  calmPackage,
  createResourceGroupKind,
  createWidgetKind,
  shopPackage,
} from './shop-package.ts'
import { assertExit, openWorld, type World } from './world.ts'

await controlPlaneSuite('hand edits', { controllerManager: true }, (plane) => {
  let widget: CustomKind
  before(async () => {
    widget = await createWidgetKind(plane)
    await createResourceGroupKind(plane)
  })

  async function shop(t: TestContext): Promise<{ world: World; namespace: string }> {
    const namespace = await plane.namespace('hand')
    const world = await openWorld(t, plane, {
      ...shopPackage(namespace, widget),
      ...calmPackage(namespace, widget),
    })
    await world.sync('apps/shop')
    await world.sync('apps/calm')
    return { world, namespace }
  }

  test(`diff names all ${INJECTED.length} injected edits and nothing else`, async (t) => {
    const { world, namespace } = await shop(t)
    // Before anybody touches anything, nothing differs.
    const calm = assertExit(await world.backporch('diff'), 0)
    assert.equal(calm.stdout, '')

    for (const { edit } of INJECTED) await edit(world, namespace, widget)

    const run = assertExit(await world.backporch('diff', 'apps/shop', '-o', 'json'), 1)
    const list: DriftReportList = JSON.parse(run.stdout)
    assert.equal(list.kind, 'DriftReportList')
    assert.deepEqual(list.incomplete, [])
    const [report, ...more] = list.items
    assert.ok(report !== undefined && more.length === 0)
    assert.equal(report.spec.observed.syncer, 'ci')
    assert.equal(report.spec.unit.package, 'apps/shop')

    const observed = report.spec.changes.map(lineOf).sort()
    assert.deepEqual(
      observed,
      INJECTED.map(({ object, change, path }) => [object, change, path ?? ''].join(' ')).sort(),
    )
    for (const injected of INJECTED) {
      const change: Change | undefined = report.spec.changes.find(
        (one) => lineOf(one) === [injected.object, injected.change, injected.path ?? ''].join(' '),
      )
      assert.ok(change !== undefined)
      assertValue(change.git, injected.git, `${injected.how}: git`)
      assertValue(change.live, injected.live, `${injected.how}: live`)
      assert.equal(change.actor.manager, injected.manager, injected.how)
      const confidence =
        injected.confidence ?? (injected.manager === 'unknown' ? 'none' : 'field-manager')
      assert.equal(change.actor.confidence, confidence, injected.how)
      assert.equal(change.ref.namespace, namespace)
      assert.ok(change.risk !== undefined && change.reason !== '')
    }

    const untouched = assertExit(await world.backporch('diff', 'apps/calm'), 0)
    assert.equal(untouched.stdout, '')
    // The package has its Secret in git in plain text, which is told and is no drift.
    assert.match(
      untouched.stderr,
      /^note: apps\/calm\/rest\.yaml:\d+: Secret .* in plain text: data\.token, stringData\.password\n$/,
    )
  })

  test('a write that changes no declared value is no drift, whoever owns the field afterwards', async (t) => {
    const { world, namespace } = await shop(t)
    const status =
      '{"status":{"conditions":[{"type":"Available","status":"False","reason":"ByHand","message":""}]}}'
    await world.kubectl('scale', 'deployment/web', '--replicas=3', '-n', namespace)
    await world.kubectl('annotate', 'deployment/web', 'example.com/note=x', '-n', namespace)
    await world.kubectl('annotate', 'deployment/web', 'example.com/note-', '-n', namespace)
    await world.kubectl(
      'patch',
      'deployment/web',
      '--subresource=status',
      '-n',
      namespace,
      '-p',
      status,
    )
    await world.pipe(
      await world.show('main', 'apps/shop/api.yaml'),
      'apply',
      '--server-side',
      '--field-manager=twin',
      '--filename=-',
    )
    const run = assertExit(await world.backporch('diff', 'apps/shop'), 0)
    assert.equal(run.stdout, '')
  })

  test('reports only what differs in an object that somebody deleted and recreated, and who recreated it', async (t) => {
    const { world, namespace } = await shop(t)
    await world.kubectl('delete', 'configmap/settings', '-n', namespace)
    await world.kubectl(
      'create',
      'configmap',
      'settings',
      '--from-literal=timeout=30',
      '--from-literal=more=x',
      '-n',
      namespace,
    )
    const run = assertExit(await world.backporch('diff', 'apps/shop', '-o', 'json'), 1)
    const list: DriftReportList = JSON.parse(run.stdout)
    const changes = list.items[0]?.spec.changes ?? []
    assert.deepEqual(
      changes
        .map((change) => `${lineOf(change)} ${change.actor.manager} ${change.actor.confidence}`)
        .sort(),
      [
        'ConfigMap/settings added data.more kubectl-create field-manager',
        'ConfigMap/settings removed data["app.properties"] kubectl-create last-writer',
      ],
    )
  })
})

function lineOf({ ref, change, path }: Change): string {
  return [`${ref.kind}/${ref.name}`, change, path ?? ''].join(' ')
}

function assertValue(actual: unknown, expected: unknown, what: string): void {
  if (expected === HIDDEN)
    assert.match(String(actual), /^hmac-sha256:[0-9a-f]{16} \(\d+ bytes\)$/, what)
  else if (expected instanceof RegExp) assert.match(String(actual), expected, what)
  else assert.deepEqual(actual, expected, what)
}

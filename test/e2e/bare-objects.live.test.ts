/**
 * A Namespace with a name only, an empty ServiceAccount, a ConfigMap and a Deployment, however they were
 * applied: untouched there is no line, and each hand edit is found. Also where the object says nothing of who wrote it.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Change } from '../../src/record/documents/change.ts'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { type ApplierTool, findAppliers } from '../appliers/appliers.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { BARE_EDITS, BARE_LINES, bareObjects, barePackage, editAll } from './bare-package.ts'
import { assertExit, openWorld, type World } from './world.ts'

const TOOLS: readonly ApplierTool[] = ['kpt-client-side', 'kpt-server-side', 'helm3', 'helm4']
const found = await findAppliers()

await controlPlaneSuite('bare objects', { controllerManager: true }, (plane) => {
  let count = 0
  async function open(
    t: TestContext,
    kubeconfig?: string,
  ): Promise<{ world: World; namespace: string }> {
    // The package makes its namespace: this only gives a name that no other test has.
    count += 1
    const namespace = `${await plane.namespace('bare')}-${count}`
    const world = await openWorld(
      t,
      plane,
      barePackage(namespace),
      kubeconfig === undefined ? {} : { kubeconfig },
    )
    return { world, namespace }
  }

  async function untouchedThenEdited(
    world: World,
    namespace: string,
    knows: 'writers' | 'nobody' | 'some',
  ): Promise<void> {
    await world.settled(namespace, 'web', 2)
    const calm = assertExit(await world.backporch('diff'), 0)
    assert.deepEqual([calm.stdout, calm.stderr], ['', ''])
    await editAll(world, namespace)
    const changes = await changesOf(world)
    assert.deepEqual(changes.map(lineOf).sort(), BARE_LINES)
    for (const { line, manager } of BARE_EDITS) {
      const actor = changes.find((change) => lineOf(change) === line)?.actor
      if (knows === 'writers') assert.equal(actor?.manager, manager, line)
      if (knows === 'nobody')
        assert.deepEqual([actor?.manager, actor?.confidence], ['unknown', 'none'], line)
    }
  }

  for (const [how, args, knows] of [
    ['kubectl apply', ['apply', '-f', '-'], 'some'],
    ['kubectl apply --server-side', ['apply', '--server-side', '-f', '-'], 'some'],
    ['kubectl create', ['create', '-f', '-'], 'some'],
  ] as const) {
    test(`${how}: reports nothing for untouched objects, and finds each hand edit`, async (t) => {
      const { world, namespace } = await open(t)
      await world.pipe(bareObjects(namespace), ...args)
      await untouchedThenEdited(world, namespace, knows)
    })
  }

  for (const tool of TOOLS) {
    test(`${tool}: reports nothing for untouched objects, and finds each hand edit`, {
      skip: found.state === 'unavailable' ? found.why : false,
    }, async (t) => {
      const { world, namespace } = await open(t)
      // kpt wants its inventory where the objects are.
      const release = tool.startsWith('kpt') ? namespace : await plane.namespace('release')
      assert.ok(found.state === 'ready')
      const order = {
        kubeconfig: plane.kubeconfig,
        namespace: release,
        manifests: bareObjects(namespace),
        name: namespace,
      }
      await found.applyWith(tool, order)
      await untouchedThenEdited(world, namespace, 'writers')
    })
  }

  test('with cleared managers: reports nothing untouched, finds each hand edit and names no actor', async (t) => {
    const { world, namespace } = await open(t)
    await world.pipe(bareObjects(namespace), 'apply', '-f', '-')
    await world.settled(namespace, 'web', 2)
    await clearManagers(world, namespace)
    const reported = assertExit(await world.backporch('explain', 'apps/bare'), 0).stdout
    assert.match(reported, /^syncer not found: the objects do not say who applied them$/m)
    assert.match(
      reported,
      /the objects do not show who applied them: apply the package after the merge/,
    )
    await untouchedThenEdited(world, namespace, 'nobody')
  })

  test('finds an edit between two applies although the server records earlier fields under before-first-apply', async (t) => {
    const { world, namespace } = await open(t)
    const apply = () => world.pipe(bareObjects(namespace), 'apply', '--server-side', '-f', '-')
    await apply()
    await world.kubectl('label', 'namespace', namespace, 'team=shop')
    await apply()
    const [label, ...more] = await changesOf(world)
    assert.ok(label !== undefined && more.length === 0)
    assert.deepEqual(
      [lineOf(label), label.actor.confidence],
      ['Namespace added metadata.labels.team', 'none'],
    )
    // Of the others the syncer owns what git declares, and that name all the rest.
    await clearManagers(world, namespace)
    await world.kubectl('annotate', 'deployment/web', '-n', namespace, 'example.com/note=x')
    await apply()
    const lines = (await changesOf(world)).map(
      (change) => `${lineOf(change)} ${change.actor.confidence}`,
    )
    assert.deepEqual(lines.sort(), [
      'Deployment added metadata.annotations["example.com/note"] none',
      'Namespace added metadata.labels.team none',
    ])
  })

  test('an object without managers costs one dry run if git does not explain it, and none otherwise', async (t) => {
    const { world, namespace } = await open(t)
    await world.pipe(bareObjects(namespace), 'apply', '-f', '-')
    await world.settled(namespace, 'web', 2)
    await clearManagers(world, namespace)
    const dryRuns = async () =>
      [
        ...(await world.backporch('diff', '-v')).stderr.matchAll(
          /PATCH (\S+)\?dryRun=All\S* {2}(\d+)/g,
        ),
      ].map((each) => each.slice(1))
    assert.deepEqual(await dryRuns(), [])
    await world.kubectl(
      'patch',
      'deployment/web',
      '-n',
      namespace,
      '-p',
      '{"spec":{"template":{"spec":{"priority":0,"enableServiceLinks":true}}}}',
    )
    const [[path, status] = [], ...more] = await dryRuns()
    assert.match(`${path} ${status}`, /\/deployments\/web-backporch-[0-9a-f]{6} 201$/)
    // The second one asks whether an apply would be refused, because something differs.
    assert.ok(more.every(([other]) => other?.endsWith('/deployments/web')))
  })

  test('without the create right, finds edits of kinds stored as sent, and explains the unverified rest', async (t) => {
    const user = `reader-of-${await plane.namespace('bare')}`
    const { world, namespace } = await open(t, await plane.kubeconfigFor(user))
    await world.pipe(bareObjects(namespace), 'apply', '-f', '-')
    await grant(plane, user, ['get', 'list', 'patch'])
    await world.settled(namespace, 'web', 2)
    await clearManagers(world, namespace)
    assert.equal(assertExit(await world.backporch('diff'), 0).stdout, '')
    await world.kubectl('label', 'namespace', namespace, 'team=shop')
    await world.kubectl(
      'patch',
      'deployment/web',
      '-n',
      namespace,
      '-p',
      '{"spec":{"template":{"spec":{"hostNetwork":true}}}}',
    )
    const run = assertExit(await world.backporch('diff'), 3)
    assert.match(run.stdout, /^ {2}1 \+ {2}metadata\.labels\.team .*unknown/m)
    assert.match(
      run.stdout,
      /^\? Deployment \S+\/web unverified \(BP3012\): .*spec\.template\.spec\.hostNetwork.*may not create/m,
    )
    const notified = assertExit(
      await world.backporch('explain', 'apps/bare', 'deployment/web'),
      0,
    ).stdout.replace(/\s+/g, ' ')
    assert.match(
      notified,
      /2 Deployment \S+\/web \(unverified\) state unverified: .* why the object does not say who wrote .*spec\.template\.spec\.hostNetwork/,
    )
    assert.match(notified, /fix .*create/)
    await grant(plane, user, ['create'])
    const after = await world.backporch('diff')
    assert.match(assertExit(after, 1).stdout, /\+ {2}spec\.template\.spec\.hostNetwork .*unknown/)
  })

  async function changesOf(world: World): Promise<readonly Change[]> {
    const list: DriftReportList = JSON.parse(
      assertExit(await world.backporch('diff', '-o', 'json'), 1).stdout,
    )
    assert.deepEqual(list.incomplete, [])
    return list.items.flatMap(({ spec }) => spec.changes)
  }
})

function lineOf({ ref, change, path }: Change): string {
  return `${ref.kind} ${change} ${path ?? ''}`
}

async function clearManagers(world: World, namespace: string): Promise<void> {
  const clear = '[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]'
  for (const object of [
    `namespace/${namespace}`,
    'serviceaccount/web',
    'configmap/web',
    'deployment/web',
  ])
    await world.kubectl('patch', object, '-n', namespace, '--type=json', '-p', clear)
}

async function grant(plane: ControlPlane, user: string, verbs: readonly string[]): Promise<void> {
  const name = `${user}-${verbs[0]}`
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const rules = [
    {
      apiGroups: ['', 'apps'],
      resources: ['namespaces', 'serviceaccounts', 'configmaps', 'deployments'],
      verbs,
    },
  ]
  await plane.request('POST', `${rbac}/clusterroles`, { body: { metadata: { name }, rules } })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }]
  await plane.request('POST', `${rbac}/clusterrolebindings`, {
    body: { metadata: { name }, roleRef, subjects },
  })
}

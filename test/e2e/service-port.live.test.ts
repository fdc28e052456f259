/** A drift that makes its own repair impossible is named, with why, and hides nothing else. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Change } from '../../src/record/documents/change.ts'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { policy, webPackage } from './packages.ts'
import { assertExit, assertNoDrift, openWorld, SYNCER, type World } from './world.ts'

await controlPlaneSuite('a Service whose port was changed by hand', {}, (plane) => {
  async function drifted(t: TestContext): Promise<{ world: World; namespace: string }> {
    const namespace = await plane.namespace('port')
    const service = `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: ${namespace}
spec:
  selector: {app: web}
  ports:
  - {name: http, port: 80, targetPort: 8080}
  - {name: metrics, port: 9090}
`
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      'apps/web/service.yaml': service,
      ...policy('mode: Propose'),
    })
    await world.sync('apps/web')
    const edit = '[{"op":"replace","path":"/spec/ports/0/port","value":8081}]'
    await world.kubectl('patch', 'service/web', '-n', namespace, '--type=json', '-p', edit)
    await world.kubectl(
      'patch',
      'configmap/web',
      '-n',
      namespace,
      '-p',
      '{"data":{"timeout":"60"}}',
    )
    return { world, namespace }
  }

  test('diff reports the change and why a re-apply fails, and kubectl diff on the folder fails as a whole', async (t) => {
    const { world, namespace } = await drifted(t)
    const folder = `${world.checkout}/apps/web`
    const kubectl = await plane.kubectl(
      ['diff', '--server-side', '--force-conflicts', `--field-manager=${SYNCER}`, '-f', folder],
      {
        exitCodes: [0, 1, 2, 3],
      },
    )
    assert.ok(kubectl.code > 1, `kubectl diff ended with ${kubectl.code}`)
    assert.match(kubectl.stderr, /Duplicate value/)
    assert.doesNotMatch(kubectl.stdout, /8081/)

    const table = assertExit(await world.backporch('diff', 'apps/web'), 1)
    assert.match(
      table.stdout,
      /^! a plain re-apply of Service .*\/web fails: .*spec\.ports\[\d\]\.name: Duplicate value: "…"/m,
    )
    assert.equal(table.stderr, '')

    const run = assertExit(await world.backporch('diff', 'apps/web', '-o', 'json'), 1)
    const list: DriftReportList = JSON.parse(run.stdout)
    assert.deepEqual(list.incomplete, [])
    const changes = list.items[0]?.spec.changes ?? []
    assert.deepEqual(changes.map(lineOf).sort(), [
      'ConfigMap/web modified data.timeout kubectl-patch',
      'Service/web added spec.ports[port=8081,protocol=TCP] kubectl-patch',
      'Service/web removed spec.ports[port=80,protocol=TCP] kubectl-patch',
    ])
    assert.ok(changes.every(({ ref }) => ref.namespace === namespace))
    assert.deepEqual(changes.find(({ change }) => change === 'added')?.live, {
      name: 'http',
      port: 8081,
      protocol: 'TCP',
      targetPort: 8080,
    })
    assert.deepEqual(changes.find(({ change }) => change === 'removed')?.git, {
      name: 'http',
      port: 80,
      targetPort: 8080,
    })
  })

  test('adopt lets the syncer apply again', async (t) => {
    const { world } = await drifted(t)
    assertExit(await world.backporch('scan', 'apps/web'), 1)
    assertExit(await world.backporch('adopt', 'apps/web', 'service/web'), 0)
    const [branch = ''] = await world.proposals()
    const changed = (
      await world.remote('diff', '--unified=0', 'main', branch, '--', 'apps/web/service.yaml')
    ).split('\n')
    assert.deepEqual(
      changed.filter((line) => /^[+-](?![+-])/.test(line)),
      [
        '-  - {name: http, port: 80, targetPort: 8080}',
        '+  - name: http',
        '+    port: 8081',
        '+    targetPort: 8080',
      ],
    )
    assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
    await world.sync('apps/web')
    assertExit(await world.backporch('scan', 'apps/web'), 0)
    assert.match(assertNoDrift(await world.backporch('status', 'apps/web')).stdout, /✓ InSync/)
  })

  test('settle: backporch restores the port with one guarded patch when an apply is refused', async (t) => {
    const { world, namespace } = await drifted(t)
    await world.commit(policy('mode: Propose\nsettle: backporch'), 'settle')
    assertExit(await world.backporch('scan', 'apps/web'), 1)
    assertExit(await world.backporch('approve', 'apps/web', '--yes', '--wait'), 0)
    const ports = await world.kubectl(
      'get',
      'service/web',
      '-n',
      namespace,
      '-o',
      'jsonpath={.spec.ports[*].port}',
    )
    assert.deepEqual(ports.split(' ').sort(), ['80', '9090'])
    assert.match(assertNoDrift(await world.backporch('status', 'apps/web')).stdout, /✓ InSync/)
  })
})

function lineOf({ ref, change, path, actor }: Change): string {
  return `${ref.kind}/${ref.name} ${change} ${path} ${actor.manager}`
}

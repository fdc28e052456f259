/** Design §8, "Settle": nothing is written to a cluster unless a merged commit authorises it, and then exactly that. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, type TestContext, test } from 'node:test'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { policy, webPackage } from './packages.ts'
import { createResourceGroupKind } from './shop-package.ts'
import { assertExit, assertNoDrift, type Files, openWorld, type World } from './world.ts'

const INVENTORY = 'web-inventory'

await controlPlaneSuite(
  'settle: backporch',
  { controllerManager: true, auditLevel: 'RequestResponse' },
  (plane) => {
    before(() => createResourceGroupKind(plane))

    /** The person has all rights and a name of their own, by which the audit log tells their requests. */
    async function open(
      t: TestContext,
    ): Promise<{ world: World; namespace: string; user: string }> {
      const namespace = await plane.namespace('settle')
      const user = `${namespace}-user`
      const kubeconfig = await plane.kubeconfigFor(user, ['system:masters'])
      const world = await openWorld(
        t,
        plane,
        { ...packageOf(namespace), ...policy('mode: Propose\nsettle: backporch') },
        { kubeconfig },
      )
      await world.sync('apps/web')
      return { world, namespace, user }
    }

    test('settles every kind of approved change, writes nothing else, and names the merged commit in each write', async (t) => {
      const { world, namespace, user } = await open(t)
      const ns = ['-n', namespace]
      await world.kubectl('scale', 'deployment/web', '--replicas=5', ...ns)
      await world.kubectl(
        'set',
        'env',
        'deployment/web',
        '-c',
        'app',
        'CURRENCY-',
        'TRACE=1',
        ...ns,
      )
      await world.kubectl(
        'patch',
        'configmap/web',
        ...ns,
        '--type=merge',
        '-p',
        '{"data":{"timeout":"60","theme":null,"more":"yes"}}',
      )
      await world.kubectl('annotate', 'configmap/web', 'example.com/stray=yes', ...ns)
      await world.kubectl('delete', 'configmap/doomed', ...ns)
      await world.kubectl(
        'patch',
        'secret/login',
        ...ns,
        '-p',
        '{"stringData":{"password":"changed by hand"}}',
      )
      await world.kubectl('create', 'configmap', 'leftover', '--from-literal=a=b', ...ns)
      await world.pipe(inventory(namespace), 'create', '--filename=-')

      assertExit(await world.backporch('scan', 'apps/web'), 1)
      assertExit(await world.backporch('restore', 'apps/web', '-m', 'back to git'), 0)
      const before = writesOf(plane, user)
      assert.ok(before.length > 0, 'dry runs are in the audit log')
      assert.deepEqual(
        before.filter(({ dryRun }) => !dryRun),
        [],
      )

      const approved = assertExit(
        await world.backporch('approve', 'apps/web', '--yes', '--wait', '--wait-timeout', '10m'),
        0,
      )
      assert.match(
        approved.stdout,
        /✓ sent 8 writes to test for 10 approved changes, gave 4 objects back to the syncer \(drift-[0-9a-f]{8}\)\n/,
      )
      assert.match(approved.stdout, /✓ test matches git: verified\n/)
      const commit = await world.remote('rev-parse', 'main')
      const writes = writesOf(plane, user).filter(({ dryRun }) => !dryRun)
      for (const write of writes) {
        assert.ok(write.userAgent.includes(`commit ${commit}`), JSON.stringify(write))
        if (write.verb !== 'delete')
          assert.equal(write.fieldManager, `backporch.dev/${commit.slice(0, 12)}`)
      }
      // The deployment controller writes the same object meanwhile: the guard then refuses a write, and it is sent again.
      for (const write of writes.filter(({ code }) => code !== 2)) {
        assert.match(JSON.stringify(write.body), /resourceVersion/, JSON.stringify(write))
        assert.ok(
          writes.some(
            (other) =>
              other.code === 2 &&
              other.object === write.object &&
              Array.isArray(other.body) === Array.isArray(write.body),
          ),
          JSON.stringify(write),
        )
      }
      assert.deepEqual([...new Set(writes.map(({ verb, object }) => `${verb} ${object}`))].sort(), [
        'delete configmaps/leftover',
        'patch configmaps/doomed',
        'patch configmaps/web',
        'patch deployments/web',
        'patch secrets/login',
      ])

      // Of an object that is applied, only the approved fields are sent, and its version as a guard.
      const sent = writes.find(
        ({ object, body }) => object === 'deployments/web' && !Array.isArray(body),
      )?.body
      assert.deepEqual(sent?.spec, {
        replicas: 3,
        template: {
          spec: { containers: [{ name: 'app', env: [{ name: 'CURRENCY', value: 'EUR' }] }] },
        },
      })
      assert.deepEqual(Object.keys(sent?.metadata ?? {}).sort(), [
        'name',
        'namespace',
        'resourceVersion',
        'uid',
      ])

      const config = JSON.parse(await world.kubectl('get', 'configmap/web', ...ns, '-o', 'json'))
      assert.deepEqual(config.data, { timeout: '30', theme: 'light' })
      assert.deepEqual(config.metadata.annotations, { 'example.com/contact': 'shop@example.com' })
      const app = JSON.parse(await world.kubectl('get', 'deployment/web', ...ns, '-o', 'json')).spec
      assert.equal(app.replicas, 3)
      assert.deepEqual(
        app.template.spec.containers[0].env.toSorted((a: { name: string }, b: { name: string }) =>
          a.name < b.name ? -1 : 1,
        ),
        [
          { name: 'CURRENCY', value: 'EUR' },
          { name: 'LOG_LEVEL', value: 'info' },
        ],
      )
      assert.equal(
        await world.kubectl('get', 'secret/login', ...ns, '-o', 'jsonpath={.data.password}'),
        'c3dvcmRmaXNo',
      )
      assertExit(await world.backporch('diff', 'apps/web'), 0)
      assert.match(assertNoDrift(await world.backporch('status')).stdout, /✓ InSync/)
    })

    test('leaves what was not approved, and the syncer can apply afterwards without force', async (t) => {
      const { world, namespace } = await open(t)
      await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
      await world.kubectl(
        'patch',
        'configmap/web',
        '-n',
        namespace,
        '-p',
        '{"data":{"timeout":"60"}}',
      )
      assertExit(await world.backporch('scan'), 1)
      assertExit(await world.backporch('release', 'apps/web', 'deployment/web'), 0)
      assertExit(await world.backporch('approve', '--yes'), 0)
      assert.equal(
        await world.kubectl(
          'get',
          'deployment/web',
          '-n',
          namespace,
          '-o',
          'jsonpath={.spec.replicas}',
        ),
        '5',
      )
      assert.equal(
        await world.kubectl(
          'get',
          'configmap/web',
          '-n',
          namespace,
          '-o',
          'jsonpath={.data.timeout}',
        ),
        '30',
      )
      const manifest = await world.show('main', 'apps/web/config.yaml')
      await world.pipe(manifest, 'apply', '--server-side', '--field-manager=ci', '--filename=-')
      // The release stands when the syncer has given the field up.
      await world.sync('apps/web')
      assertExit(await world.backporch('scan'), 0)
      assert.match(assertNoDrift(await world.backporch('status')).stdout, /✓ InSync/)
    })

    test('gives ownership of restored fields back to the syncer, which then changes and removes them without force', async (t) => {
      const { world, namespace } = await open(t)
      const ns = ['-n', namespace]
      await world.kubectl(
        'patch',
        'configmap/web',
        ...ns,
        '-p',
        '{"data":{"timeout":"60","theme":"dark"}}',
      )
      await world.kubectl(
        'patch',
        'service/web',
        ...ns,
        '--type=json',
        '-p',
        '[{"op":"replace","path":"/spec/ports/0/port","value":81}]',
      )
      await world.kubectl('delete', 'configmap/doomed', ...ns)
      assertExit(await world.backporch('scan'), 1)
      assertExit(await world.backporch('approve', '--yes'), 0)
      for (const object of ['configmap/web', 'configmap/doomed', 'service/web']) {
        const { metadata } = JSON.parse(
          await world.kubectl('get', object, ...ns, '-o', 'json', '--show-managed-fields'),
        )
        const managers = metadata.managedFields.map(
          ({ manager, operation }: { manager: string; operation: string }) =>
            `${manager} ${operation}`,
        )
        assert.deepEqual(managers, ['ci Apply'], object)
      }
      const path = 'apps/web/config.yaml'
      const text = await world.show('main', path)
      const next = `${text.replace('timeout: "30"', 'timeout: "45"').replace(/\n {2}theme: 'light'/, '')}\n`
      await world.git('pull', '--quiet', '--ff-only', 'origin', 'main')
      await world.commit({ [path]: next }, 'Another timeout, no theme')
      // Git is ahead: that is no drift, and nobody else's doing.
      assert.match(
        assertExit(await world.backporch('diff'), 0).stdout,
        /^Behind: live is what .*\(2 differences, no drift\)$/m,
      )
      for (const file of [path, 'apps/web/service.yaml', 'apps/web/more.yaml']) {
        await world.pipe(
          await world.show('main', file),
          'apply',
          '--server-side',
          '--field-manager=ci',
          '--filename=-',
        )
      }
      assert.deepEqual(
        JSON.parse(await world.kubectl('get', 'configmap/web', ...ns, '-o', 'json')).data,
        { timeout: '45' },
      )
      assertExit(await world.backporch('diff'), 0)
    })

    test('reports a write that the server refuses, and does not call the drift gone', async (t) => {
      const { world, namespace } = await open(t)
      await world.kubectl(
        'patch',
        'configmap/web',
        '-n',
        namespace,
        '-p',
        '{"data":{"timeout":"60"},"immutable":true}',
      )
      assertExit(await world.backporch('scan'), 1)
      const run = assertExit(await world.backporch('approve', '--yes'), 2)
      assert.match(run.stderr, /^error BP3011: /)
      assert.match(run.stderr, /immutable/)
      // The next turn tries again, and says again that it failed.
      assert.match(assertExit(await world.backporch('scan'), 2).stderr, /^error BP3011: /m)
      assert.match(assertExit(await world.backporch('status'), 1).stdout, /Applying/)
    })
  },
)

function packageOf(namespace: string): Files {
  const meta = (name: string): string => `metadata:\n  name: ${name}\n  namespace: ${namespace}\n`
  return {
    ...webPackage(namespace),
    'apps/web/more.yaml': `apiVersion: v1
kind: ConfigMap
${meta('doomed')}data:
  answer: "42"
---
apiVersion: v1
kind: Secret
${meta('login')}stringData:
  password: swordfish
`,
    'apps/web/service.yaml': `apiVersion: v1
kind: Service
${meta('web')}spec:
  selector: {app: web}
  ports:
  - {name: http, port: 80, targetPort: 8080}
`,
    'apps/web/resourcegroup.yaml': `apiVersion: kpt.dev/v1alpha1
kind: ResourceGroup
${meta('web')}  labels:
    cli-utils.sigs.k8s.io/inventory-id: ${INVENTORY}
`,
  }
}

function inventory(namespace: string): string {
  return `${packageOf(namespace)['apps/web/resourcegroup.yaml']}spec:
  resources:
  - {group: "", kind: ConfigMap, namespace: ${namespace}, name: web}
  - {group: "", kind: ConfigMap, namespace: ${namespace}, name: leftover}
`
}

interface AuditedWrite {
  readonly verb: string
  /** `configmaps/web` */
  readonly object: string
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly userAgent: string
  /** First digit of the HTTP status. */
  readonly code: number
  readonly body: { readonly metadata?: object; readonly spec?: unknown } | undefined
}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection'])

/** Requests of a user that may change something, from the API server's own audit log. */
function writesOf(plane: ControlPlane, user: string): AuditedWrite[] {
  assert.ok(plane.auditLog !== undefined)
  const lines = readFileSync(plane.auditLog, 'utf8').split('\n')
  return lines
    .filter((line) => line.includes(`"${user}"`))
    .map((line) => JSON.parse(line))
    .filter(({ verb, user: { username } }) => username === user && WRITES.has(verb))
    .map(({ verb, requestURI, userAgent, objectRef, responseStatus, requestObject }) => {
      const query = new URL(requestURI, 'https://server').searchParams
      return {
        verb,
        object: `${objectRef.resource}/${objectRef.name}`,
        dryRun: query.get('dryRun') === 'All',
        fieldManager: query.get('fieldManager') ?? '',
        userAgent,
        code: Math.floor(responseStatus.code / 100),
        body: requestObject,
      }
    })
}

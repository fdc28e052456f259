import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { waitUntil } from '../waiting/wait-until.ts'
import { apiClient } from './api-request.ts'
import type { ControlPlane } from './control-plane.ts'
import { controlPlaneSuite } from './control-plane-suite.ts'
import { ADMIN, clientCredential, createTestAuthority, UNPRIVILEGED } from './test-authority.ts'

interface Named {
  readonly metadata: {
    readonly name: string
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[]
  }
}
interface List {
  readonly items: readonly Named[]
}
interface AuditEvent {
  readonly user: { readonly username: string; readonly groups: readonly string[] }
  readonly verb: string
  readonly objectRef?: { readonly namespace?: string; readonly name?: string }
  readonly responseObject?: { readonly metadata?: { readonly resourceVersion?: string } }
}
interface Managed {
  readonly data: Readonly<Record<string, string>>
  readonly metadata: {
    readonly resourceVersion: string
    readonly managedFields: readonly { readonly manager: string; readonly operation: string }[]
  }
}

await controlPlaneSuite(
  'control plane',
  { controllerManager: true, auditLevel: 'RequestResponse' },
  (plane) => {
    test('reports the version that was built', {
      skip: process.env['KUBEBUILDER_ASSETS'] !== undefined,
    }, async () => {
      const { body } = await plane.request<Record<string, string>>('GET', '/version')
      assert.equal(body['gitVersion'], 'v1.34.3')
      assert.equal(`${body['emulationMajor']}.${body['emulationMinor']}`, '1.34')
    })

    test('RBAC denies a user without rights, and allows what a role binding grants', async () => {
      const namespace = await plane.namespace('rbac')
      const path = `/api/v1/namespaces/${namespace}/configmaps`
      const denied = await plane.request<{ reason: string }>('GET', path, { as: UNPRIVILEGED })
      assert.deepEqual([denied.status, denied.body.reason], [403, 'Forbidden'])

      await plane.kubectl([
        'create',
        'rolebinding',
        'readers',
        '--clusterrole=view',
        '--group=readers',
        `--namespace=${namespace}`,
      ])
      const reader = { user: 'rita', groups: ['readers'] }
      // The authorizer hears of a role binding a moment after it is stored.
      const granted = async (): Promise<number> =>
        (await plane.request('GET', path, { as: reader })).status
      await waitUntil('the reader may read', async () => (await granted()) === 200)
      assert.equal(
        (await plane.request('POST', path, { as: reader, body: configMap('a', {}) })).status,
        403,
      )
    })

    test('a kubeconfig makes its holder that user, with those groups', async () => {
      const kubeconfig = await plane.kubeconfigFor('ann', ['editors', 'on-call'])
      const requested = await plane.kubectl([
        'auth',
        'whoami',
        '--output=json',
        `--kubeconfig=${kubeconfig}`,
      ])
      const { username, groups } = JSON.parse(requested.stdout).status.userInfo
      assert.equal(username, 'ann')
      assert.deepEqual(groups, ['editors', 'on-call', 'system:authenticated'])
    })

    test('a caller without a certificate is anonymous, and one of another authority is rejected', async () => {
      const url = `${plane.url}/api/v1/namespaces`
      const ca = Buffer.from(plane.caData, 'base64')
      const anonymous = await new Promise<number | undefined>((resolve, reject) => {
        get(url, { ca }, (response) => resolve(response.resume().statusCode)).on('error', reject)
      })
      assert.equal(anonymous, 403)

      const directory = await mkdtemp(join(tmpdir(), 'backporch-authority-'))
      const stranger = clientCredential(await createTestAuthority(directory), ADMIN)
      await rm(directory, { recursive: true })
      assert.equal(
        (await apiClient(plane.url, ca.toString(), stranger)('GET', '/api/v1/namespaces')).status,
        401,
      )
    })

    test('server-side apply merges the fields of two managers and refuses a conflict', async () => {
      const namespace = await plane.namespace('apply')
      const apply = (manager: string, data: Record<string, string>, exitCodes = [0]) =>
        plane.kubectl(
          [
            'apply',
            '--server-side',
            `--field-manager=${manager}`,
            `--namespace=${namespace}`,
            '--filename=-',
          ],
          {
            stdin: JSON.stringify(configMap('shared', data)),
            exitCodes,
          },
        )
      await apply('one', { a: '1' })
      await apply('two', { b: '2' })
      const conflict = await apply('two', { a: 'mine', b: '2' }, [1])
      assert.match(conflict.stderr, /conflict with "one": \.data\.a/)

      const { body } = await plane.request<Managed>(
        'GET',
        `/api/v1/namespaces/${namespace}/configmaps/shared`,
      )
      assert.deepEqual(body.data, { a: '1', b: '2' })
      const managers = body.metadata.managedFields.map(
        (entry) => `${entry.manager} ${entry.operation}`,
      )
      assert.deepEqual(managers, ['one Apply', 'two Apply'])
    })

    test('a raw request sends a patch with its own content type', async () => {
      const namespace = await plane.namespace('patch')
      const path = `/api/v1/namespaces/${namespace}/configmaps`
      assert.equal(
        (await plane.request('POST', path, { body: configMap('c', { a: '1', b: '2' }) })).status,
        201,
      )
      const patch = { body: { data: { a: null } }, contentType: 'application/merge-patch+json' }
      const { body } = await plane.request<Managed>('PATCH', `${path}/c`, patch)
      assert.deepEqual(body.data, { b: '2' })
    })

    test('kubectl rejects an exit code that was not expected, with what kubectl said', async () => {
      await assert.rejects(
        plane.kubectl(['get', 'configmap', 'absent']),
        /kubectl get configmap absent ended with 1: .*NotFound/,
      )
    })

    test('the controllers make a ReplicaSet and pods for a Deployment, and remove a deleted namespace', async () => {
      const namespace = await plane.namespace('controllers')
      await plane.kubectl([
        'create',
        'deployment',
        'web',
        '--image=none',
        '--replicas=2',
        `--namespace=${namespace}`,
      ])
      const [replicaSet] = await untilItems(
        plane,
        `/apis/apps/v1/namespaces/${namespace}/replicasets`,
        1,
      )
      assert.partialDeepStrictEqual(replicaSet?.metadata.ownerReferences, [
        { kind: 'Deployment', name: 'web' },
      ])
      await untilItems(plane, `/api/v1/namespaces/${namespace}/pods`, 2)

      await plane.kubectl(['delete', 'namespace', namespace, '--wait=true'])
      assert.equal((await plane.request('GET', `/api/v1/namespaces/${namespace}`)).status, 404)
    })

    test('the audit log records the user of a write and the resulting resource version', async () => {
      const namespace = await plane.namespace('audit')
      const as = { user: 'ulla', groups: ['system:masters'] }
      const created = await plane.request<Managed>(
        'POST',
        `/api/v1/namespaces/${namespace}/configmaps`,
        { as, body: configMap('c', {}) },
      )
      const lines = (await readFile(plane.auditLog ?? '', 'utf8')).trim().split('\n')
      const events: AuditEvent[] = lines.map((line) => JSON.parse(line))
      const event = events.find(
        ({ verb, objectRef }) =>
          verb === 'create' && objectRef?.namespace === namespace && objectRef.name === 'c',
      )
      assert.equal(event?.user.username, 'ulla')
      assert.equal(
        event.responseObject?.metadata?.resourceVersion,
        created.body.metadata.resourceVersion,
      )
    })
  },
)

function configMap(name: string, data: Record<string, string>) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }
}

function untilItems(plane: ControlPlane, path: string, count: number): Promise<readonly Named[]> {
  return waitUntil(`${path} has ${count} items`, async () => {
    const { items } = (await plane.request<List>('GET', path)).body
    return items.length === count && items
  })
}

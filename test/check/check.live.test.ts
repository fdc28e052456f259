/** `check` against a real API server: what an account may do is what the server says of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { webPackage } from '../e2e/packages.ts'
import { assertExit, openWorld } from '../e2e/world.ts'

await controlPlaneSuite('check', { controllerManager: true }, (plane) => {
  const grant = async (user: string, verbs: readonly string[]): Promise<string> => {
    const kubeconfig = await plane.kubeconfigFor(user)
    const group = 'rbac.authorization.k8s.io'
    const created = async (path: string, body: object): Promise<void> => {
      const { status } = await plane.request('POST', `/apis/${group}/v1/${path}`, { body })
      assert.equal(status, 201)
    }
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs }]
    await created('clusterroles', {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name: user },
      rules,
    })
    await created('clusterrolebindings', {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: user },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: user },
      subjects: [{ apiGroup: group, kind: 'User', name: user }],
    })
    return kubeconfig
  }

  test('passes a read and dry-run account, warns about a writing one, and fails one without access', async (t) => {
    const namespace = await plane.namespace('check')
    const cases = [
      [
        ['get', 'list', 'watch', 'patch'],
        0,
        /✓ cluster \S+: the account may patch, .*; it may not create, so .*\n✓ .*the account updates and deletes/,
      ],
      // Of all resources: tokens and commands in Pods are among them.
      [
        ['get', 'list', 'watch', 'patch', 'create'],
        0,
        /! cluster \S+: the account may write: create \* in check-/,
      ],
      [['get', 'list', 'watch'], 0, /! cluster \S+: the account may not patch/],
      [['*'], 0, /! cluster \S+: the account may write: \* \* in check-/],
      [
        ['watch'],
        1,
        /✗ BP3003 cluster \S+: the account may not get or list anything in namespace check-/,
      ],
    ] as const
    for (const [at, [verbs, code, line]] of cases.entries()) {
      const kubeconfig = await grant(`${namespace}-${at}`, verbs)
      const world = await openWorld(t, plane, webPackage(namespace), { kubeconfig })
      const run = assertExit(await world.backporch('check'), code)
      assert.match(run.stdout, line)
      assert.match(run.stdout, /✓ clock: within 30 s of cluster/)
    }
  })
})

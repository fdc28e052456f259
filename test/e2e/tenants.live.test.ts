/** Two tenants on one API server, each with a repository of his own: what one of them names of the other stays the other's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { policy, webPackage } from './packages.ts'
import { assertExit, openWorld } from './world.ts'

const CANARY = 'canary-77e0'

await controlPlaneSuite('two tenants', {}, (plane) => {
  for (const [how, apply] of [
    ['the client side', ['apply', '--filename=-']],
    [
      'the server side, under one name',
      ['apply', '--server-side', '--field-manager=ci', '--filename=-'],
    ],
  ] as const)
    test(`applied on ${how}: never writes values of the other tenant to a repository, nor to the tenant's objects`, async (t) => {
      const [a, b, more] = [
        await plane.namespace('tenant-a'),
        await plane.namespace('tenant-b'),
        await plane.namespace('tenant-a-more'),
      ]
      const theirs = (image: string, value: string): string =>
        [
          webPackage(b)['apps/web/deployment.yaml']?.replace('example.com/proxy:2', image) ?? '',
          `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs, namespace: ${b}}\ndata: {address: ${value}, more: ${value}}\n`,
          `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: ${b}}\nrules: [{apiGroups: [""], resources: [pods], verbs: [get], resourceNames: [${value}]}]\n`,
        ].join('\n---\n')
      const own = `${JSON.stringify({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: a, labels: { of: 'a' } }, rules: [] })}\n`
      const world = await openWorld(t, plane, {
        ...webPackage(a),
        ...policy('mode: Propose\nsettle: backporch'),
        'apps/web/role.yaml': own,
        'apps/web/elsewhere.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rules, namespace: ${more}}\ndata: {of: ${a}, more: stays}\n`,
      })
      const files = ['deployment', 'config', 'role', 'elsewhere'].map((name) =>
        world.read(`apps/web/${name}.yaml`),
      )
      await world.pipe(files.join('\n---\n'), ...apply)
      // The other tenant has another repository, and applies from it with the same tool.
      await world.pipe(theirs(`example.com/${CANARY}:1`, CANARY), ...apply)
      assertExit(await world.backporch('diff'), 0)

      await world.commit(
        { 'apps/web/theirs.yaml': theirs('example.com/guess:1', 'guess') },
        'what is in there?',
      )
      for (const edit of [
        ['configmap/rules', '-n', more, '--patch={"data":{"of":"hand"}}'],
        [`clusterrole/${a}`, '--type=merge', '--patch={"metadata":{"labels":{"of":"hand"}}}'],
        ['deployment/web', '-n', a, '--patch={"spec":{"replicas":5}}'],
      ])
        await world.kubectl('patch', ...edit)

      const diff = assertExit(await world.backporch('diff', '-v'), 3)
      for (const object of [`Deployment ${b}/web`, `ConfigMap ${b}/theirs`, `ClusterRole ${b}`])
        assert.match(
          diff.stdout,
          new RegExp(`${object} outside \\(BP3017\\): .*\\(TEN-NOT-APPLIED\\)`),
        )
      const scanned = assertExit(await world.backporch('scan', '-o', 'json'), 3)
      const { items } = JSON.parse(scanned.stdout)
      const paths = items[0].spec.changes.map(({ path }: { path: string }) => path)
      assert.deepEqual([...paths].sort(), ['data.of', 'metadata.labels.of', 'spec.replicas'])

      assertExit(
        await world.backporch('approve', 'apps/web', '--yes', '--wait', '--wait-timeout', '10m'),
        0,
      )
      assert.equal(
        await world.kubectl('get', 'deployment/web', '-n', a, '-o', 'jsonpath={.spec.replicas}'),
        '3',
      )
      assert.equal(
        await world.kubectl('get', 'configmap/theirs', '-n', b, '-o', 'jsonpath={.data.address}'),
        CANARY,
      )
      for (const argv of [
        ['status', '-o', 'json'],
        ['report'],
        ['history', '-o', 'json'],
        ['explain', 'apps/web'],
      ])
        await world.backporch(...argv)
      for (const { stdout, stderr } of world.calls)
        assert.doesNotMatch(stdout + stderr, new RegExp(CANARY))
      assert.equal((await world.everyObject()).includes(CANARY), false)

      // Whoever runs backporch says what the package covers: then nothing else counts.
      const operator = `${world.folder}/operator.yaml`
      world.write(
        '../operator.yaml',
        `apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: a}\nspec: {clusters: ["*"], packages: ["**"], allow: {namespaces: [${a}]}}\n`,
      )
      const bound = assertExit(await world.backporch('diff', '--operator-policy', operator), 3)
      assert.match(bound.stdout, new RegExp(`ConfigMap ${b}/theirs outside .*\\(TEN-NAMESPACE\\)`))
      assert.match(bound.stdout, new RegExp(`ClusterRole ${a} outside .*\\(TEN-CLUSTER-SCOPED\\)`))
      assert.doesNotMatch(bound.stdout, new RegExp(`Deployment ${a}/web outside`))
    })
})

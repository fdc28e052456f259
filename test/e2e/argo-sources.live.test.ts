/** A repository as Argo CD's documentation lays it out, without a Kptfile, and the commands of src/sources/argo-cd/README.md. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../apiserver/live-cluster.ts'
import { createSyncer, installSyncerKinds, SYNCER_KINDS } from '../apiserver/syncer-kinds.ts'
import { findAppliers } from '../appliers/appliers.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { assertExit, type Files, openWorld } from './world.ts'

/** What the operator allows: `kubectl kustomize` builds the folders with a kustomization. */
const KUBECTL = ['--allow-render', 'kubectl']
const found = await findAppliers()
if (found.state === 'unavailable') test('appliers', { skip: found.why }, () => undefined)
else
  await controlPlaneSuite('a repository that Argo CD syncs', {}, (plane) => {
    const DEPLOYMENT =
      'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - name: app\n        image: example.com/web:1.0\n'
    const QUOTA = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: quota}\ndata:\n  cpu: "4"\n'

    test('compares with what Argo CD builds, and proposes drift in the source file', async (t) => {
      await installSyncerKinds(plane, await connect(plane))
      const namespace = await plane.namespace('argo-sources')
      const shop = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop}
spec:
  destination: {server: https://kubernetes.default.svc, namespace: ${namespace}}
  source:
    repoURL: REPOSITORY
    path: shop/production
    kustomize:
      images: [example.com/web:1.4]
      replicas:
      - name: web
        count: 3
      commonAnnotations: {team: shop}
`
      const files: Files = {
        'applications/shop.yaml': shop,
        'shop/base/kustomization.yaml': 'resources:\n- deployment.yaml\n',
        'shop/base/deployment.yaml': DEPLOYMENT,
        'shop/production/kustomization.yaml': 'resources:\n- ../base\n',
        'tools/limits/quota.yaml': QUOTA,
        'tools/values.yaml': 'cpu: 4\n',
      }
      const world = await openWorld(t, plane, files)
      const none = assertExit(await world.backporch('diff', '--cluster', 'prod', ...KUBECTL), 2)
      assert.match(none.stderr, /BP1004/)

      const destination = { server: 'https://kubernetes.default.svc', namespace }
      const repoURL = `file://${world.repository}`
      const kustomize = {
        images: ['example.com/web:1.4'],
        replicas: [{ name: 'web', count: 3 }],
        commonAnnotations: { team: 'shop' },
      }
      const { application } = SYNCER_KINDS
      await createSyncer(plane, application, namespace, 'shop', {
        destination,
        source: { repoURL, path: 'shop/production', kustomize },
      })
      const directory = { recurse: true, exclude: 'values.yaml' }
      await createSyncer(plane, application, namespace, 'tools', {
        destination,
        source: { repoURL, path: 'tools', directory },
      })
      const annotated = DEPLOYMENT.replace(
        '  name: web\n',
        '  name: web\n  annotations: {team: shop}\n',
      )
        .replace(
          'metadata: {labels: {app: web}}',
          'metadata: {labels: {app: web}, annotations: {team: shop}}',
        )
        .replace('replicas: 1', 'replicas: 3')
        .replace(':1.0', ':1.4')
      // An Application outside of Argo CD's own namespace is known by both names.
      const sync = (name: string, manifests: string) =>
        found.applyWith('argo-server-side', {
          kubeconfig: plane.kubeconfig,
          namespace,
          name: `${namespace}_${name}`,
          manifests,
        })
      await sync('shop', annotated)
      await sync('tools', QUOTA)

      const quiet = assertExit(await world.backporch('diff', '--cluster', 'prod', ...KUBECTL), 0)
      assert.equal(`${quiet.stdout}${quiet.stderr}`, '', 'untouched: nothing to report')
      await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
      await world.kubectl(
        'patch',
        'configmap/quota',
        '-n',
        namespace,
        '--type=merge',
        '-p',
        '{"data":{"cpu":"8"}}',
      )
      const drifted = assertExit(await world.backporch('scan', '--cluster', 'prod', ...KUBECTL), 1)
      const lines = drifted.stdout
        .split('\n')
        .filter(
          (line) => line.includes('→') || line.includes(' in prod ') || line.includes('.yaml:'),
        )
      assert.deepEqual(
        lines.map((line) => line.replace(/ {2}(?:kubectl|human).*/, '').trim()),
        [
          `apps/v1 Deployment ${namespace}/web   shop/base/deployment.yaml:1`,
          '1 ~  spec.replicas  3 → 5',
          `1 change in 1 object of shop/production (Argo CD Application ${namespace}/shop) in prod (1 checked)`,
          `v1 ConfigMap ${namespace}/quota   tools/limits/quota.yaml:1`,
          '1 ~  data.cpu  "4" → "8"',
          `1 change in 1 object of tools (Argo CD Application ${namespace}/tools) in prod (1 checked)`,
        ],
      )
      const status = await world.backporch('status')
      assert.match(status.stdout, /^prod +shop\/production +- +~ Drifted/m)
      const explained = assertExit(
        await world.backporch('explain', 'shop/production', '--cluster', 'prod', ...KUBECTL),
        0,
      )
      assert.match(
        explained.stdout,
        /written by replicas of applications\/shop\.yaml:13:\d+, which decides/,
      )
      assert.match(
        explained.stdout,
        new RegExp(`Argo CD Application ${namespace}/shop is synced by hand`),
      )

      const adopt = async (unit: string): Promise<readonly string[]> => {
        assertExit(await world.backporch('adopt', unit, '--cluster', 'prod', ...KUBECTL), 0)
        const [branch] = (await world.proposals()).filter((name) =>
          name.startsWith(`proposed/${unit}/`),
        )
        assert.ok(branch)
        const changed = await world.remote(
          'diff',
          '--unified=0',
          'main',
          branch,
          '--',
          'shop',
          'tools',
          'applications',
        )
        return changed.split('\n').filter((line) => /^[-+]/.test(line))
      }
      assert.deepEqual(await adopt('shop/production'), [
        '--- a/applications/shop.yaml',
        '+++ b/applications/shop.yaml',
        '-        count: 3',
        '+        count: 5',
      ])
      assert.deepEqual(await adopt('tools'), [
        '--- a/tools/limits/quota.yaml',
        '+++ b/tools/limits/quota.yaml',
        '-  cpu: "4"',
        '+  cpu: "8"',
      ])
    })
  })

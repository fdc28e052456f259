/** A repository as Flux's documentation lays it out, without a Kptfile, and the first commands of somebody who never configured anything. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../apiserver/live-cluster.ts'
import { createSyncer, installSyncerKinds, SYNCER_KINDS } from '../apiserver/syncer-kinds.ts'
import { findAppliers } from '../appliers/appliers.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { assertExit, type Files, openWorld } from './world.ts'

/** What the operator allows: `kubectl kustomize` builds the folders. */
const KUBECTL = ['--allow-render', 'kubectl']
const found = await findAppliers()
if (found.state === 'unavailable') test('appliers', { skip: found.why }, () => undefined)
else
  await controlPlaneSuite('a repository that Flux syncs', {}, (plane) => {
    const BASE: Files = {
      'apps/base/kustomization.yaml': 'resources:\n- deployment.yaml\n- config.yaml\n',
      'apps/base/deployment.yaml':
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - name: app\n        image: example.com/web:1.0\n',
      'apps/base/config.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  color: ${color}\n',
      'apps/production/kustomization.yaml':
        'resources:\n- ../base\nreplicas:\n- name: web\n  count: 3\n',
      'infrastructure/quota.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: quota}\ndata: {cpu: "4"}\n',
    }

    test('compares with what Flux builds, and proposes drift in the source file', async (t) => {
      await installSyncerKinds(plane, await connect(plane))
      const namespace = await plane.namespace('flux-sources')
      const world = await openWorld(t, plane, BASE)
      const none = assertExit(await world.backporch('diff', '--cluster', 'prod', ...KUBECTL), 2)
      assert.match(none.stderr, /BP1004/)
      await createSyncer(plane, SYNCER_KINDS.gitRepository, namespace, 'flux-system', {
        url: `file://${world.repository}`,
        ref: { branch: 'main' },
        interval: '1m',
      })
      const sourceRef = { kind: 'GitRepository', name: 'flux-system' }
      const common = { sourceRef, targetNamespace: namespace, interval: '10m', prune: true }
      const apps = {
        ...common,
        path: './apps/production',
        images: [{ name: 'example.com/web', newTag: '1.4' }],
        postBuild: { substitute: { color: 'blue' } },
      }
      await createSyncer(plane, SYNCER_KINDS.kustomization, namespace, 'apps', apps)
      await createSyncer(plane, SYNCER_KINDS.kustomization, namespace, 'infrastructure', {
        ...common,
        path: './infrastructure',
      })
      const deployment = BASE['apps/base/deployment.yaml'] ?? ''
      const manifests = `${deployment.replace('replicas: 1', 'replicas: 3').replace(':1.0', ':1.4')}---\n${(BASE['apps/base/config.yaml'] ?? '').replace('${color}', 'blue')}`
      await found.applyWith('flux', {
        kubeconfig: plane.kubeconfig,
        namespace,
        name: 'apps',
        manifests,
      })
      await found.applyWith('flux', {
        kubeconfig: plane.kubeconfig,
        namespace,
        name: 'infrastructure',
        manifests: BASE['infrastructure/quota.yaml'] ?? '',
      })

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
        .filter((line) => line.includes('→') || line.includes(' in prod '))
      assert.deepEqual(
        lines.map((line) => line.replace(/ {2}(?:kubectl|human).*/, '').trim()),
        [
          '1 ~  spec.replicas  3 → 5',
          `1 change in 1 object of apps/production (Flux Kustomization ${namespace}/apps) in prod (2 checked)`,
          '1 ~  data.cpu  "4" → "8"',
          `1 change in 1 object of infrastructure (Flux Kustomization ${namespace}/infrastructure) in prod (1 checked)`,
        ],
      )
      const onboarded = await world.backporch('init', '--dry-run', '--cluster', 'prod', ...KUBECTL)
      assert.match(
        onboarded.stdout,
        new RegExp(`^  Flux Kustomization ${namespace}/apps +apps/production +prod +2 +1$`, 'm'),
      )
      assert.doesNotMatch(
        onboarded.stdout,
        /kind: Placement/,
        'what a syncer applies needs no placement',
      )
      const status = await world.backporch('status')
      assert.match(status.stdout, /^prod +apps\/production +- +~ Drifted/m)
      const explained = assertExit(
        await world.backporch('explain', 'apps/production', '--cluster', 'prod', ...KUBECTL),
        0,
      )
      assert.match(
        explained.stdout,
        /written by replicas of apps\/production\/kustomization\.yaml:5:10, which decides/,
      )
      assert.match(explained.stdout, new RegExp(`applier Flux Kustomization ${namespace}/apps`))
      assertExit(
        await world.backporch('adopt', 'apps/production', '--cluster', 'prod', ...KUBECTL),
        0,
      )
      const [branch] = (await world.proposals()).filter((name) =>
        name.startsWith('proposed/apps/production/'),
      )
      assert.ok(branch)
      const changed = await world.remote(
        'diff',
        '--unified=0',
        'main',
        branch,
        '--',
        'apps',
        'infrastructure',
      )
      assert.deepEqual(changed.split('\n').slice(-3), [
        '@@ -5 +5 @@ replicas:',
        '-  count: 3',
        '+  count: 5',
      ])
    })
  })

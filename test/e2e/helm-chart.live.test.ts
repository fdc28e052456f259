/** A chart that people install with the real Helm 3, and the commands of src/sources/helm/README.md. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { findHelm } from '../helm/find-helm.ts'
import {
  storefrontFiles,
  storefrontPlacement,
  storefrontPolicy,
  UNIT,
  VALUES,
} from '../helm/storefront-world.ts'
import { nextSecond } from '../waiting/next-second.ts'
import { runProgram } from './run-program.ts'
import { assertExit, openWorld, type World } from './world.ts'

const found = await findHelm()
if (found.state === 'unavailable') test('helm', { skip: found.why }, () => undefined)
else
  await controlPlaneSuite('a chart that people install', {}, (plane) => {
    const { helm3 } = found
    const HELM = ['--cluster', 'prod', '--allow-render', helm3]

    /** The hooks would need a node to run on. */
    async function upgrade(world: World, namespace: string): Promise<void> {
      await world.git('pull', '--quiet', 'origin', 'main')
      const words = [
        'upgrade',
        '--install',
        'shop',
        UNIT,
        '--namespace',
        namespace,
        '--values',
        VALUES,
        '--no-hooks',
      ]
      const home = world.folder
      const env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: plane.kubeconfig }
      const ended = await runProgram(helm3, words, { cwd: world.checkout, env })
      assert.equal(ended.code, 0, ended.stderr)
    }

    test('compares with what Helm renders for the cluster, and Adopt edits the values', async (t) => {
      const namespace = await plane.namespace('storefront')
      const world = await openWorld(t, plane, {
        ...storefrontFiles(),
        '.drift/storefront.yaml': storefrontPolicy(namespace),
        '.drift/placement.yaml': storefrontPlacement(),
      })
      await upgrade(world, namespace)
      const quiet = assertExit(await world.backporch('diff', ...HELM), 0)
      assert.equal(`${quiet.stdout}${quiet.stderr}`, '', 'untouched: nothing to report')

      await world.kubectl(
        'scale',
        'statefulset/shop-storefront-search',
        '--replicas=5',
        '-n',
        namespace,
      )
      await world.kubectl(
        'set',
        'image',
        'deployment/shop-storefront',
        'web=example.com/shop/web:1.5.0',
        '-n',
        namespace,
      )
      const drifted = assertExit(await world.backporch('diff', ...HELM), 1)
      const lines = drifted.stdout.split('\n').filter((line) => /→|\.yaml:| in prod /.test(line))
      assert.deepEqual(
        lines.map((line) =>
          line
            .replace(/ {2}(?:kubectl|human).*/, '')
            .trim()
            .replaceAll(/ {2,}/g, '  ')
            // The autoscaler of the chart acts some seconds after the release.
            .replace(', 1 change ignored', ''),
        ),
        [
          `apps/v1 Deployment ${namespace}/shop-storefront  ${UNIT}/templates/deployment.yaml:1`,
          '1 ~  spec.template.spec.containers[name=web].image  "example.com/shop/web:1.4.3" → "example.com/shop/web:1.5.0"',
          `apps/v1 StatefulSet ${namespace}/shop-storefront-search  ${UNIT}/templates/statefulset.yaml:2`,
          '2 ~  spec.replicas  3 → 5',
          `2 changes in 2 objects of ${UNIT} in prod (26 checked)`,
        ],
      )
      const explained = assertExit(await world.backporch('explain', UNIT, ...HELM), 0)
      assert.match(
        explained.stdout,
        /charts\/storefront\/templates\/statefulset\.yaml:10, from the values search\.replicas/,
      )
      assert.match(explained.stdout, /run helm upgrade after the merge/)

      assertExit(await world.backporch('scan', ...HELM), 1)
      assertExit(await world.backporch('adopt', UNIT, ...HELM), 0)
      const [branch = ''] = (await world.proposals()).filter((name) =>
        name.startsWith(`proposed/${UNIT}/`),
      )
      const changed = await world.remote(
        'diff',
        '--unified=0',
        'main',
        branch,
        '--',
        'charts',
        'releases',
      )
      assert.deepEqual(
        changed.split('\n').filter((line) => /^[-+]/.test(line)),
        [
          `--- a/${VALUES}`,
          `+++ b/${VALUES}`,
          '-  tag: "1.4.3" # as released',
          '+  tag: "1.5.0" # as released',
          '+search:',
          '+  replicas: 5',
        ],
      )

      await world.git('pull', '--quiet', 'origin', branch)
      await world.git('push', '--quiet', 'origin', 'HEAD:main')
      await upgrade(world, namespace)
      const after = assertExit(await world.backporch('diff', ...HELM), 0)
      assert.equal(after.stdout, '')
    })

    test('waits for the upgrade when git moved on', async (t) => {
      const namespace = await plane.namespace('storefront')
      const world = await openWorld(t, plane, {
        ...storefrontFiles(),
        '.drift/storefront.yaml': storefrontPolicy(namespace),
        '.drift/placement.yaml': storefrontPlacement(),
      })
      await upgrade(world, namespace)
      await nextSecond()
      await world.commit(
        { [VALUES]: world.read(VALUES).replace('maxReplicas: 10', 'maxReplicas: 12') },
        'feat: more replicas',
      )
      const behind = assertExit(await world.backporch('diff', ...HELM, '-o', 'json'), 0)
      const [report] = JSON.parse(behind.stdout).items
      assert.deepEqual(
        (report.status.setAside as { state: string; ref: { kind: string }; path: string }[])
          .filter(({ state }) => state === 'Behind')
          .map(({ ref, path }) => `${ref.kind} ${path}`),
        ['HorizontalPodAutoscaler spec.maxReplicas'],
      )
    })
  })

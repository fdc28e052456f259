/** Folders without a Kptfile on a real API server: plain manifests and a kustomization, from the first look to the merge. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { assertExit, type Files, openWorld, SYNCER } from './world.ts'

function deployment(namespace: string, replicas: number): string {
  return `# two zones and a spare
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ${namespace}
spec:
  replicas: ${replicas}   # for the day
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: "example.com/web:1"}
`
}

const config = (namespace: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: ${namespace}}\ndata: {color: blue}\n`

await controlPlaneSuite('folders without a Kptfile', {}, (plane) => {
  test('records, adopts and merges one edit of plain manifests without a Kptfile', async (t) => {
    const namespace = await plane.namespace('plain')
    const files: Files = {
      'deploy/web/deployment.yaml': deployment(namespace, 3),
      'deploy/web/more/config.yaml': config(namespace),
    }
    const world = await openWorld(t, plane, files)
    const refused = assertExit(await world.backporch('diff'), 2)
    assert.match(
      refused.stderr,
      /manifests are in deploy\/web \(1 object\), deploy\/web\/more \(1 object\)/,
    )
    await world.sync('deploy/web')
    const path = ['--path', 'deploy/web']
    assert.equal(assertExit(await world.backporch('diff', ...path), 0).stdout, '')
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    assert.match(
      assertExit(await world.backporch('diff', ...path), 1).stdout,
      /1 change in 1 object of deploy\/web/,
    )
    assertExit(await world.backporch('scan', ...path), 1)
    assert.match(assertExit(await world.backporch('status'), 1).stdout, /deploy\/web/)
    assertExit(await world.backporch('adopt', 'deploy/web'), 0)
    assertExit(await world.backporch('approve', 'deploy/web', '--yes'), 0)
    // Only the value is another one: the comment stays.
    assert.equal(await world.show('main', 'deploy/web/deployment.yaml'), deployment(namespace, 5))
    assert.ok(
      ![...(await world.refs()).keys()].some((ref) => /\/(drafts|proposed)\/[^/]+$/.test(ref)),
    )
    assert.equal(assertExit(await world.backporch('diff', ...path), 0).stdout, '')
    // What is printed as the next step names the folder alone, and its branch is gone.
    assert.match(
      assertExit(await world.backporch('scan', 'deploy/web'), 0).stdout,
      /is verified: test agrees with the decision/,
    )
    assert.match(
      assertExit(await world.backporch('explain', 'deploy/web'), 0).stdout,
      /^deploy\/web in test: InSync$/m,
    )
    assertExit(await world.backporch('diff', 'deploy/none'), 2)
  })

  test('builds a kustomization as kubectl does, prints it for kubectl, and adopts at the place of the value', async (t) => {
    const namespace = await plane.namespace('built')
    const world = await openWorld(t, plane, {
      'deploy/base/deployment.yaml': deployment('elsewhere', 1),
      'deploy/base/kustomization.yaml': 'resources: [deployment.yaml]\n',
      'deploy/prod/kustomization.yaml': `namespace: ${namespace}\nresources: [../base]\nreplicas:\n- {name: web, count: 3}\n`,
      '.drift/placement.yaml':
        'apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: prod}\nspec: {clusters: ["*"], paths: [deploy/prod]}\n',
    })
    assert.match(assertExit(await world.backporch('diff'), 2).stderr, /BP1208/)
    const allowed = ['--allow-render', 'kubectl']
    const { stdout } = assertExit(
      await world.backporch('render', 'deploy/prod', '-o', 'unwrap', ...allowed),
      0,
    )
    await world.pipe(stdout, 'apply', '--server-side', `--field-manager=${SYNCER}`, '--filename=-')
    assert.equal(assertExit(await world.backporch('diff', ...allowed), 0).stdout, '')
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    assertExit(await world.backporch('scan', ...allowed), 1)
    assertExit(await world.backporch('adopt', 'deploy/prod', ...allowed), 0)
    assertExit(await world.backporch('approve', 'deploy/prod', '--yes', ...allowed), 0)
    assert.match(await world.show('main', 'deploy/prod/kustomization.yaml'), /count: 5/)
    assert.equal(
      await world.show('main', 'deploy/base/deployment.yaml'),
      deployment('elsewhere', 1),
    )
  })
})

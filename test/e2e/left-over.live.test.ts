/** Fields that git gave up and the server kept, and lists with two items of one key, which only a client-side apply accepts. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { openWorld, SYNCER, type World } from './world.ts'

const APPLY = {
  'on the server': [
    'apply',
    '--server-side',
    '--force-conflicts',
    `--field-manager=${SYNCER}`,
    '--filename=-',
  ],
  'on the client': ['apply', '--filename=-'],
} as const

await controlPlaneSuite('leftover fields', {}, (plane) => {
  for (const [where, apply] of Object.entries(APPLY))
    test(`reports a service account of pods that git dropped after an apply ${where}`, async (t) => {
      const namespace = await plane.namespace('account')
      const manifest = deployment(namespace, 'serviceAccountName: power\n      ')
      const world = await applied(t, plane, manifest, apply)
      assert.deepEqual(await told(world), { exit: 0, changes: [] })
      const without = deployment(namespace, '')
      await world.commit({ 'deploy/web.yaml': without }, 'feat: no account')
      await world.pipe(without, ...apply)
      assert.deepEqual(await told(world), {
        exit: 1,
        changes: ['added spec.template.spec.serviceAccountName'],
      })
    })

  test('reports a field from before the first server-side apply once the syncer applied the newest commit', async (t) => {
    const namespace = await plane.namespace('before')
    const config = (data: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: ${namespace}}\ndata: {${data}}\n`
    const world = await openWorld(t, plane, { 'deploy/web.yaml': config('key: value, other: x') })
    await world.pipe(config('key: value, other: x'), 'create', '--filename=-')
    await world.kubectl(
      'patch',
      'configmap',
      'web',
      '-n',
      namespace,
      '--type=merge',
      '--patch={"metadata":{"managedFields":[{}]}}',
    )
    await world.commit({ 'deploy/web.yaml': config('key: value') }, 'feat: one key')
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'web' },
      data: { key: 'value' },
    }
    const path = `/api/v1/namespaces/${namespace}/configmaps/web?fieldManager=${SYNCER}&force=true`
    await plane.request('PATCH', path, { body, contentType: 'application/apply-patch+yaml' })
    assert.deepEqual(await told(world), { exit: 1, changes: ['added data.other'] })
  })

  const twice =
    'env: [{name: WHO, value: one}, {name: WHO, value: two}]\n          ports: [{containerPort: 93, hostPort: 9376}, {containerPort: 93, hostPort: 7693}]'
  for (const [how, verb] of [
    ['applied on the client', APPLY['on the client']],
    ['created', ['create', '--filename=-']],
  ] as const)
    test(`compares two items of one key as a list if the object was ${how}`, async (t) => {
      const namespace = await plane.namespace('twice')
      const world = await applied(t, plane, deployment(namespace, '', twice), verb)
      assert.deepEqual(await told(world), { exit: 0, changes: [] })
      await world.kubectl(
        'set',
        'image',
        'deployment/web',
        'app=example.com/app:hot',
        '-n',
        namespace,
      )
      const image = 'modified spec.template.spec.containers[name=app].image'
      assert.deepEqual(await told(world), { exit: 1, changes: [image] })
      const second =
        '[{"op":"replace","path":"/spec/template/spec/containers/0/env/1/value","value":"three"}]'
      await world.kubectl(
        'patch',
        'deployment',
        'web',
        '-n',
        namespace,
        '--type=json',
        `--patch=${second}`,
      )
      assert.deepEqual(await told(world), {
        exit: 1,
        changes: ['modified spec.template.spec.containers[name=app].env', image],
      })
    })

  test('blocks two items of one key under a syncer with server-side apply', async (t) => {
    const namespace = await plane.namespace('refused')
    const world = await applied(t, plane, deployment(namespace, ''), APPLY['on the server'])
    await world.commit({ 'deploy/web.yaml': deployment(namespace, '', twice) }, 'feat: two')
    const { code, stdout } = await world.backporch('diff', '--path', 'deploy')
    assert.equal(code, 3)
    assert.match(
      stdout,
      /BP3011[\s\S]*\.env, \S+\.ports have two items with one key, which a server-side apply refuses/,
    )
  })
})

function deployment(namespace: string, pod: string, container = 'args: [run]'): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${namespace}}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      ${pod}containers:
        - name: app
          image: example.com/app:1
          ${container}
`
}

async function applied(
  t: TestContext,
  plane: ControlPlane,
  manifest: string,
  verb: readonly string[],
): Promise<World> {
  const world = await openWorld(t, plane, { 'deploy/web.yaml': manifest })
  await world.pipe(manifest, ...verb)
  return world
}

async function told(world: World): Promise<{ exit: number; changes: string[] }> {
  const { code, stdout } = await world.backporch('diff', '--path', 'deploy', '-o', 'json')
  const { items }: DriftReportList = JSON.parse(stdout)
  return {
    exit: code,
    changes: items
      .flatMap(({ spec }) => spec.changes.map(({ change, path }) => `${change} ${path}`))
      .sort(),
  }
}

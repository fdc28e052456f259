/** A person's kubectl is one applier, whichever of its commands wrote an object; what `create` and `replace` wrote shows nothing of a package. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { openWorld, type World } from './world.ts'

await controlPlaneSuite('a package applied with kubectl', {}, (plane) => {
  test('definitions applied server-side and objects applied client-side are one package', async (t) => {
    const { world, group } = await applied(t, plane)
    assert.deepEqual(await told(world), { exit: 0, changes: [], outside: [] })
    const names = '[{"op":"add","path":"/spec/names/shortNames","value":["tt"]}]'
    await world.kubectl('patch', 'crd', `things.${group}`, '--type=json', `--patch=${names}`)
    assert.deepEqual(await told(world), {
      exit: 1,
      changes: ['CustomResourceDefinition spec.names.shortNames kubectl-patch'],
      outside: [],
    })
  })

  test('an object in a namespace where the package applied nothing is outside, even if made with kubectl create', async (t) => {
    const { world, namespace } = await applied(t, plane)
    const elsewhere = await plane.namespace('theirs')
    await world.pipe(config('theirs', elsewhere, 'live'), 'create', '--filename=-')
    await world.pipe(config('made', namespace, 'live'), 'create', '--filename=-')
    await world.commit(
      {
        'deploy/m/theirs.yaml': config('theirs', elsewhere, 'git'),
        'deploy/m/made.yaml': config('made', namespace, 'git'),
      },
      'feat: two',
    )
    assert.deepEqual(await told(world), {
      exit: 3,
      changes: ['ConfigMap data.a kubectl-create'],
      outside: [`${elsewhere}/theirs`],
    })
  })

  test("reports only the changed image after a kubectl replace of a package's only object", async (t) => {
    const namespace = await plane.namespace('replaced')
    const manifest = (image: string): string =>
      `apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: web, namespace: ${namespace}}\nspec: {serviceName: web, replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: web, image: "${image}"}]}}}\n`
    const world = await openWorld(t, plane, { 'deploy/web.yaml': manifest('example.com/web:1') })
    await world.pipe(manifest('example.com/web:1'), 'apply', '--filename=-')
    assert.deepEqual(await told(world), { exit: 0, changes: [], outside: [] })
    const live = await world.kubectl('get', 'statefulset/web', '-n', namespace, '-o', 'yaml')
    await world.pipe(live.replace(/web:1$/m, 'web:hot'), 'replace', '--filename=-')
    const image = 'StatefulSet spec.template.spec.containers[name=web].image kubectl-replace'
    assert.deepEqual(await told(world), { exit: 1, changes: [image], outside: [] })
  })
})

/** Applied as many projects say: the definitions first, on the server's side because of their size. */
async function applied(
  t: TestContext,
  plane: ControlPlane,
): Promise<{ world: World; namespace: string; group: string }> {
  const namespace = await plane.namespace('kubectl')
  const group = `${namespace}.example.com`
  const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.${group}}
spec:
  group: ${group}
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`
  const objects = ['a', 'b', 'c'].map((name) => config(name, namespace, 'git')).join('---\n')
  const world = await openWorld(t, plane, {
    'deploy/setup/crd.yaml': definition,
    'deploy/m/all.yaml': objects,
  })
  await world.pipe(definition, 'apply', '--server-side', '--filename=-')
  await world.pipe(objects, 'apply', '--filename=-')
  t.after(() =>
    plane.request(
      'DELETE',
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`,
    ),
  )
  return { world, namespace, group }
}

function config(name: string, namespace: string, value: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {a: ${value}}\n`
}

async function told(world: World): Promise<{ exit: number; changes: string[]; outside: string[] }> {
  const { code, stdout } = await world.backporch('diff', '--path', 'deploy', '-o', 'json')
  const { items, incomplete }: DriftReportList = JSON.parse(stdout)
  assert.ok(
    incomplete.every(({ state }) => state === 'outside'),
    stdout,
  )
  return {
    exit: code,
    changes: items.flatMap(({ spec }) =>
      spec.changes.map(({ ref, path, actor }) => `${ref.kind} ${path} ${actor.manager}`),
    ),
    outside: incomplete.map(({ ref }) => `${ref?.namespace}/${ref?.name}`),
  }
}

/** Bad objects: a state with its reason for the object that is at fault, and a verdict for all others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import { kptfile, policy } from './packages.ts'
import { assertExit, openWorld, type World } from './world.ts'

await controlPlaneSuite('bad objects', {}, (plane) => {
  const admission = '/apis/admissionregistration.k8s.io/v1'

  test('a denied object, an unavailable webhook and a terminating namespace fail alone, and the rest is compared', async (t) => {
    const namespace = await plane.namespace('denied')
    const ending = await plane.namespace('ending')
    const world = await openWorld(t, plane, {
      'apps/denied/Kptfile': kptfile('denied'),
      'apps/denied/all.yaml': manifests(namespace, ending, 2),
      ...policy('mode: Propose'),
    })
    await world.pipe(
      manifests(namespace, undefined, 2),
      'apply',
      '--server-side',
      '--field-manager=ci',
      '--filename=-',
    )
    await world.commit({ 'apps/denied/all.yaml': manifests(namespace, ending, 7) }, 'feat: seven')
    await world.kubectl(
      'patch',
      'configmap/free',
      '--patch={"data":{"key":"by hand"}}',
      '-n',
      namespace,
    )
    const port = '[{"op":"replace","path":"/spec/ports/0/targetPort","value":81}]'
    await world.kubectl('patch', 'service/web', '--type=json', `--patch=${port}`, '-n', namespace)
    const selector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
    const name = `denied-${namespace}`
    const rules = (kind: string) => ({
      apiGroups: ['*'],
      apiVersions: ['*'],
      operations: ['CREATE', 'UPDATE'],
      resources: [kind],
    })
    const validations = [
      { expression: 'object.spec.replicas < 5', message: 'at most four replicas' },
    ]
    const matchConstraints = { namespaceSelector: selector, resourceRules: [rules('deployments')] }
    await create(plane, `${admission}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: { matchConstraints, validations },
    })
    await create(plane, `${admission}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    })
    const down = {
      name: 'down.example.com',
      clientConfig: { url: 'https://127.0.0.1:1/x' },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      namespaceSelector: selector,
      rules: [rules('services')],
    }
    await create(plane, `${admission}/validatingwebhookconfigurations`, {
      metadata: { name },
      webhooks: [down],
    })
    t.after(async () => {
      for (const kind of [
        'validatingadmissionpolicies',
        'validatingadmissionpolicybindings',
        'validatingwebhookconfigurations',
      ])
        await plane.request('DELETE', `${admission}/${kind}/${name}`)
    })
    // Without a namespace controller it stays as it is: being deleted.
    await plane.request('PATCH', `/api/v1/namespaces/${ending}`, {
      body: { metadata: { finalizers: ['example.com/stay'] } },
      contentType: 'application/merge-patch+json',
    })
    await plane.request('DELETE', `/api/v1/namespaces/${ending}`)
    t.after(async () => {
      const body = { metadata: { finalizers: null } }
      await plane.request('PATCH', `/api/v1/namespaces/${ending}`, {
        body,
        contentType: 'application/merge-patch+json',
      })
    })

    let reported: string[] = []
    // The server learns of its policies by a watch.
    await waitUntil('the server knows its policies', async () => {
      const list = await listOf(world)
      reported = list.incomplete
        .map(({ ref, state, code, why }) => `${ref?.kind}/${ref?.name} ${state} ${code} ${why}`)
        .sort()
      const changes = list.items.flatMap(({ spec }) =>
        spec.changes.map(({ ref, change, path }) => `${ref.kind}/${ref.name} ${change} ${path}`),
      )
      assert.deepEqual(changes.sort(), [
        'ConfigMap/free modified data.key',
        'Service/web modified spec.ports[port=80,protocol=TCP].targetPort',
      ])
      return ['Deployment/', 'Service/'].every((kind) =>
        reported.some((line) => line.startsWith(kind)),
      )
    })
    const gone = `blocked BP3011 the object is missing, and the API server rejects its manifest: NamespaceTerminating: namespace ${ending} is being deleted`
    assert.deepEqual(reported, [
      `ConfigMap/gone ${gone}`,
      `ConfigMap/lost ${gone}`,
      `Deployment/web blocked BP3011 the policy ${name} denies it: at most four replicas`,
      'Service/web unverified BP3005 AdmissionUnavailable: the admission webhook down.example.com does not answer',
    ])
    // What is blocked is proposed by nobody, however often it is looked at.
    for (let scan = 0; scan < 2; scan += 1) await world.backporch('scan')
    const [branch, ...more] = await world.proposals()
    assert.deepEqual(more, [])
    assert.doesNotMatch(
      await world.remote('log', '-1', '--format=%B', branch ?? ''),
      /Deployment|NamespaceTerminating/,
    )
  })

  test('judges objects with 5,000 keys, more than a megabyte, or thirty managers', async (t) => {
    const namespace = await plane.namespace('huge')
    const many = Array.from({ length: 5_000 }, (_none, index) => `  key${index}: "${index}"`).join(
      '\n',
    )
    const map = (name: string, data: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata:\n${data}\n`
    const files = {
      'apps/huge/Kptfile': kptfile('huge'),
      'apps/huge/many.yaml': map('many', many),
      'apps/huge/large.yaml': map('large', `  text: ${'x'.repeat(1_000_000)}\n  more: a`),
      'apps/huge/busy.yaml': map('busy', '  own: a'),
    }
    const world = await openWorld(t, plane, files)
    await world.sync('apps/huge')
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const write = async (name: string, manager: string, data: object): Promise<void> => {
      const answer = await plane.request('PATCH', `${path}/${name}?fieldManager=${manager}`, {
        body: { data },
        contentType: 'application/merge-patch+json',
      })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
    }
    for (let writer = 0; writer < 30; writer += 1)
      await write('busy', `writer-${writer}`, { [`w${writer}`]: 'x' })
    await write('many', 'hand', { key77: 'changed' })
    await write('large', 'hand', { more: 'b' })

    const list: DriftReportList = JSON.parse(
      assertExit(await world.backporch('diff', '-o', 'json'), 1).stdout,
    )
    assert.deepEqual(list.incomplete, [])
    const lines = list.items.flatMap(({ spec }) =>
      spec.changes.map(
        ({ ref, change, path: where, actor }) => `${ref.name} ${change} ${where} ${actor.manager}`,
      ),
    )
    assert.deepEqual(lines.filter((line) => !line.startsWith('busy ')).sort(), [
      'large modified data.more hand',
      'many modified data.key77 hand',
    ])
    // The server keeps ten Update entries and joins the oldest into one (managedfields, `capmanagers.go`).
    const busy = lines.filter((line) => line.startsWith('busy '))
    assert.equal(busy.length, 30)
    assert.ok(busy.includes('busy added data.w29 writer-29'))
  })
})

async function listOf(world: World): Promise<DriftReportList> {
  return JSON.parse((await world.backporch('diff', '-o', 'json')).stdout)
}

async function create(plane: ControlPlane, path: string, body: unknown): Promise<void> {
  const { status, body: answer } = await plane.request('POST', path, { body })
  assert.equal(status, 201, JSON.stringify(answer))
}

/** @param ending namespace of what cannot be made; undefined leaves it out */
function manifests(namespace: string, ending: string | undefined, replicas: number): string {
  const meta = (name: string, where = namespace): string =>
    `metadata: {name: ${name}, namespace: ${where}}\n`
  const objects = [
    `apiVersion: v1\nkind: ConfigMap\n${meta('free')}data: {key: a}\n`,
    `apiVersion: v1\nkind: Service\n${meta('web')}spec: {ports: [{port: 80, targetPort: 80}]}\n`,
    `apiVersion: apps/v1
kind: Deployment
${meta('web')}spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: example.com/app:1}]}}
`,
  ]
  if (ending !== undefined)
    for (const name of ['gone', 'lost'])
      objects.push(`apiVersion: v1\nkind: ConfigMap\n${meta(name, ending)}data: {key: a}\n`)
  return objects.join('---\n')
}

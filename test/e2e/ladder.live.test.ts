/**
 * One ladder of states, decided before any comparison: refused, being deleted, drift, behind, in sync (docs/guides/states.md). Every reason for which a
 * server refuses an object, with the object there, there and edited by hand, and not there, under a syncer that applies on the server or on the client.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { nextSecond } from '../waiting/next-second.ts'
import { waitUntil } from '../waiting/wait-until.ts'
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

const DENIED = 'ladder-denied'

/** What git says after a commit that no apply gets through; of `terminating` the server takes it until the namespace is deleted. */
const MISTAKES = {
  'unknown-field': ['image: i:1', 'image: i:1, imagePullPolice: Always'],
  'wrong-type': ['replicas: 1', 'replicas: one'],
  'failed-conversion': ['memory: 64Mi', 'memory: 64MB'],
  invalid: ['containerPort: 80', 'containerPort: 99999'],
  policy: ['labels: {app: web}', `labels: {app: web, ${DENIED}: "yes"}`],
  terminating: ['image: i:1', 'image: i:2'],
} as const

type Mistake = keyof typeof MISTAKES
const NAMES = Object.keys(MISTAKES) as readonly Mistake[]

await controlPlaneSuite('precedence of states', {}, (plane) => {
  for (const [where, apply] of Object.entries(APPLY))
    test(`blocks what a syncer that applies ${where} cannot apply, whatever is live`, async (t) => {
      const { world, namespaces, commitMistakes } = await applied(t, plane, apply)
      await commitMistakes()
      const blocked = 'blocked BP3011'
      const ofManifest = { 'wrong-type': blocked, 'failed-conversion': blocked }
      // A client-side apply leaves out what the server does not know.
      const unknown = where === 'on the server' ? blocked : undefined
      const unedited = {
        'unknown-field': unknown ?? 'InSync',
        invalid: blocked,
        policy: blocked,
        terminating: 'Behind',
      }
      assert.deepEqual(await stateOf(world), { exit: 3, ...ofManifest, ...unedited })

      for (const name of NAMES)
        await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespaces[name])
      const edit = 'drift spec.replicas'
      // These can be compared all the same: no edit is hidden (docs/adr/0068-refused-before-compared.md).
      const edited = { 'unknown-field': edit, invalid: edit, policy: edit, terminating: edit }
      assert.deepEqual(await stateOf(world), { exit: 3, ...ofManifest, ...edited })
      const { stdout } = await world.backporch('diff', 'apps/invalid', 'apps/policy')
      assert.equal(stdout.match(/a plain re-apply of Deployment \S+ fails: /g)?.length, 2, stdout)

      // Something holds the namespace, so that it stays as it is.
      const held = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, namespace: ${namespaces.terminating}, finalizers: [example.com/hold]}\n`
      await world.pipe(held, 'create', '--filename=-')
      await world.kubectl('delete', 'namespace', namespaces.terminating, '--wait=false')
      for (const name of NAMES)
        await world.kubectl(
          'delete',
          'deployment/web',
          '--ignore-not-found',
          '-n',
          namespaces[name],
        )
      assert.deepEqual(await stateOf(world), {
        exit: 3,
        ...Object.fromEntries(NAMES.map((name) => [name, blocked])),
      })
    })

  test('blocks and does not compare terminating objects, and reports refused ones among them as refused', async (t) => {
    const { world, namespaces, commitMistakes } = await applied(t, plane, APPLY['on the server'])
    for (const name of NAMES) {
      await world.kubectl(
        'patch',
        'deployment/web',
        '-n',
        namespaces[name],
        '--type=merge',
        '--patch={"metadata":{"finalizers":["example.com/hold"]}}',
      )
      await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespaces[name])
      await world.kubectl('delete', 'deployment/web', '--wait=false', '-n', namespaces[name])
    }
    const deleted = Object.fromEntries(NAMES.map((name) => [name, 'blocked BP3012']))
    assert.deepEqual(await stateOf(world), { exit: 3, ...deleted })
    await commitMistakes()
    const { exit, ...states } = await stateOf(world)
    assert.equal(exit, 3)
    for (const name of NAMES) assert.match(String(states[name]), /^blocked BP301[12]$/, name)
  })
})

/** A package in a namespace of its own for each mistake, applied without it. */
async function applied(t: TestContext, plane: ControlPlane, verb: readonly string[]) {
  const namespaces = Object.fromEntries(
    await Promise.all(NAMES.map(async (name) => [name, await plane.namespace(name)] as const)),
  )
  const files = (mistaken: boolean): Readonly<Record<string, string>> =>
    Object.fromEntries(
      NAMES.map((name) => {
        const good = deployment(namespaces[name] ?? '')
        const [part, mistake] = MISTAKES[name]
        return [`apps/${name}/web.yaml`, mistaken ? good.replace(part, mistake) : good]
      }),
    )
  const kptfiles = Object.fromEntries(
    NAMES.map((name) => [
      `apps/${name}/Kptfile`,
      `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n`,
    ]),
  )
  const world = await openWorld(t, plane, { ...kptfiles, ...files(false) })
  await world.pipe(admission(namespaces['policy'] ?? ''), 'apply', '--filename=-')
  const denied = files(true)['apps/policy/web.yaml'] ?? ''
  await waitUntil('the admission policy is in force', () =>
    world.pipe(denied, 'apply', '--server-side', '--dry-run=server', '--filename=-').then(
      () => false,
      () => true,
    ),
  )
  for (const text of Object.values(files(false))) await world.pipe(text, ...verb)
  const commitMistakes = async (): Promise<void> => {
    // Git and managed fields have whole seconds, and the commit is the later one.
    await nextSecond()
    await world.commit(files(true), 'feat: mistakes')
  }
  return { world, namespaces: namespaces as Readonly<Record<Mistake, string>>, commitMistakes }
}

/** By package: what blocks its object, else its drift, else its state. */
async function stateOf(world: World): Promise<Readonly<Record<string, string | number>>> {
  const { code, stdout } = await world.backporch('diff', '-o', 'json')
  const { items, incomplete }: DriftReportList = JSON.parse(stdout)
  const states: Record<string, string | number> = { exit: code }
  for (const { spec, status } of items) {
    const name = spec.unit.package.replace('apps/', '')
    const blocked = (status.incomplete ?? []).map((one) => `${one.state} ${one.code}`)
    const drift = spec.changes.map(({ path, change }) => `drift ${path ?? change}`)
    states[name] =
      [...new Set([...blocked, ...drift])].join() ||
      (status.setAside ?? []).map(({ state }) => state)[0] ||
      status.state
  }
  assert.equal(incomplete.length > 0, code === 3, 'incomplete is never another exit code')
  return states
}

function deployment(namespace: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${namespace}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: i:1, ports: [{containerPort: 80}], resources: {limits: {memory: 64Mi}}}
`
}

/** Refuses a label of pods, in one namespace. */
function admission(namespace: string): string {
  return `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: ${DENIED}-${namespace}}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ${namespace}}}
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  validations:
  - {expression: '!("${DENIED}" in object.spec.template.metadata.labels)', message: the label is not allowed}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: ${DENIED}-${namespace}}
spec: {policyName: ${DENIED}-${namespace}, validationActions: [Deny]}
`
}

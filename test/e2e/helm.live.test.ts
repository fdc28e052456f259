/** What Helm stores of its releases, by the real Helm 3 and 4 with both of the stores that a cluster can hold. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LEFT_OVER } from '../../src/drift/compare/last-applied.ts'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { type ApplierTool, findAppliers, type HelmTool } from '../appliers/appliers.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { nextSecond } from '../waiting/next-second.ts'
import { kptfile } from './packages.ts'
import { assertExit, openWorld, type World } from './world.ts'

interface Way {
  readonly tool: ApplierTool
  readonly helm: HelmTool
  readonly driver: 'secret' | 'configmap'
  /** Whether it compares with what it stored, and not with who owns the fields. */
  readonly compares: boolean
}

const WAYS: readonly Way[] = [
  { tool: 'helm3', helm: 'helm3', driver: 'secret', compares: true },
  { tool: 'helm3', helm: 'helm3', driver: 'configmap', compares: true },
  { tool: 'helm4-client-side', helm: 'helm4', driver: 'configmap', compares: true },
  { tool: 'helm4', helm: 'helm4', driver: 'configmap', compares: false },
]

const CANARY = 'canary-in-the-stored-manifest'
/** As Helm's storage and the Secret have it. */
const HIDDEN = [CANARY, Buffer.from(CANARY).toString('base64').slice(0, 30)]

/** A version of the chart, as manifests. */
function chart(
  namespace: string,
  parts: { readonly dropped: boolean; readonly more?: string },
): string {
  const config = (name: string, data: string, marks = ''): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\n${marks}data:\n${data}`
  const old = parts.dropped ? '' : '  old: "yes"\n'
  const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ${namespace}
${parts.dropped ? '' : '  labels: {tier: front}\n'}spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: app
        image: example.com/shop/web:1.4.2
        env:
        - {name: LEVEL, value: info}
${parts.dropped ? '' : '        - {name: FEATURE, value: "on"}\n'}`
  return [
    config('settings', `  level: info\n${old}${parts.more ?? ''}`),
    config('hook', '  a: b\n', '  annotations: {helm.sh/hook: "pre-install,pre-upgrade"}\n'),
    `apiVersion: v1\nkind: Secret\nmetadata:\n  name: token\n  namespace: ${namespace}\nstringData:\n  token: ${CANARY}\n${parts.dropped ? '' : `  old: ${CANARY}-old\n`}`,
    deployment,
    ...(parts.dropped
      ? []
      : [
          config('gone', '  a: b\n'),
          config('kept', '  a: b\n', '  annotations: {helm.sh/resource-policy: keep}\n'),
        ]),
  ].join('---\n')
}

const found = await findAppliers()
if (found.state === 'unavailable') test('helm', { skip: found.why }, () => undefined)
else {
  await controlPlaneSuite('releases stored by Helm', {}, (plane) => {
    for (const { tool, helm, driver, compares } of WAYS) {
      test(`${tool} with its releases in a ${driver}`, async (t) => {
        const namespace = await plane.namespace('helm')
        const below = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: below\n  namespace: ${namespace}\ndata:\n  a: b\n`
        const world = await worldOf(t, plane, chart(namespace, { dropped: false }), below)
        const order = {
          kubeconfig: plane.kubeconfig,
          namespace,
          name: 'shop',
          driver,
          subchart: below,
        }
        const apply = (parts: Parameters<typeof chart>[1]) =>
          found.applyWith(tool, { ...order, manifests: chart(namespace, parts) })
        await apply({ dropped: false })

        assert.equal(assertExit(await world.backporch('diff', 'apps/shop'), 0).stdout, '')

        await nextSecond()
        await world.commit(
          { 'apps/shop/all.yaml': chart(namespace, { dropped: true }) },
          'feat: drop what nobody needs',
        )
        const behind = await observed(world, 0)
        assert.deepEqual(behind.changes, [])
        assert.deepEqual(behind.setAside, [
          'Behind ConfigMap/gone -',
          'Behind ConfigMap/settings data.old',
          'Behind Deployment/web metadata.labels.tier',
          'Behind Deployment/web spec.template.spec.containers[name=app].env[name=FEATURE]',
          'Behind Secret/token data.old',
          'Ignored ConfigMap/kept -',
        ])

        await apply({ dropped: true })
        const left = await observed(world, 1)
        assert.deepEqual(
          left.changes.map(({ line, notes }) => `${line}: ${notes[0]}`),
          [`added Secret/token data.old ${compares ? 'helm' : 'unknown'}: ${LEFT_OVER}`],
        )
        assert.deepEqual(left.setAside, [])
        await world.kubectl(
          'patch',
          'secret/token',
          '--type=merge',
          '-p',
          '{"data":{"old":null}}',
          '-n',
          namespace,
        )
        assert.deepEqual(await observed(world, 0), { changes: [], setAside: [] })

        // Values that git does not know, as with --set.
        await apply({ dropped: true, more: '  mine: "1"\n' })
        const mine = await observed(world, 1)
        const why = compares
          ? `the next upgrade removes it: Helm release ${namespace}/shop revision 3 has it`
          : undefined
        assert.deepEqual(
          mine.changes.map(({ line }) => line),
          ['added ConfigMap/settings data.mine helm'],
        )
        assert.ok(
          why === undefined || mine.changes[0]?.notes.includes(why),
          mine.changes[0]?.notes.join(),
        )
        const refused = assertExit(await world.backporch('release', 'apps/shop'), 2)
        assert.match(refused.stderr, /BP2001: cannot release data\.mine/)

        await nextSecond()
        await found.rollBackWith(helm, { ...order, manifests: '', revision: 2 })
        assert.deepEqual(await observed(world, 0), { changes: [], setAside: [] })

        await nextSecond()
        await world.kubectl(
          'patch',
          'deployment/web',
          '--type=merge',
          '-p',
          '{"metadata":{"labels":{"by":"hand"}}}',
          '-n',
          namespace,
        )
        const edited = await observed(world, 1)
        assert.deepEqual(
          edited.changes.map(({ line }) => line),
          ['added Deployment/web metadata.labels.by kubectl-patch'],
        )
        assertExit(await world.backporch('scan', 'apps/shop'), 1)

        // Helm 3 cannot roll back to an object that it was told to keep.
        await world.kubectl('delete', 'configmap/kept', '-n', namespace)
        await nextSecond()
        await found.rollBackWith(helm, { ...order, manifests: '', revision: 1 })
        const back = await observed(world, 1)
        const old = back.changes.find(
          ({ line }) => line === 'added ConfigMap/settings data.old helm',
        )
        assert.match(
          old?.notes.join() ?? '',
          /revision 5 is a rollback to revision 1 at .*, when git had [0-9a-f]{7} already/,
        )
        assert.deepEqual(
          back.setAside.filter((line) => line.startsWith('Behind')),
          [],
        )
        const text = [
          ...world.calls.flatMap(({ stdout, stderr }) => [stdout, stderr]),
          await world.remote('log', '-p', '--all', '--not', 'main'),
        ].join('\n')
        for (const secret of HIDDEN)
          assert.ok(!text.includes(secret), 'a value of a stored manifest left the process')
      })
    }

    test('without access to Secrets it reads releases in ConfigMaps, reports what is unreadable, and finds the rest', async (t) => {
      const namespace = await plane.namespace('helm')
      const manifests = chart(namespace, { dropped: false })
      const dropped = chart(namespace, { dropped: true })
      const order = { kubeconfig: plane.kubeconfig, namespace, name: 'shop', manifests }
      const user = `no-secrets-${namespace}`
      const rules = [
        '--resource=configmaps,deployments.apps,namespaces',
        '--verb=get,list,patch,create',
      ]
      await plane.kubectl(['create', 'clusterrole', user, ...rules])
      await plane.kubectl([
        'create',
        'clusterrolebinding',
        user,
        `--clusterrole=${user}`,
        `--user=${user}`,
      ])
      const kubeconfig = await plane.kubeconfigFor(user)
      for (const [driver, known] of [
        ['configmap', true],
        ['secret', false],
      ] as const) {
        await found.applyWith('helm3', { ...order, driver })
        const world = await worldOf(t, plane, manifests, '')
        await nextSecond()
        await world.commit({ 'apps/shop/all.yaml': dropped }, 'feat: drop what nobody needs')
        const run = await world.backporch(
          'diff',
          'apps/shop',
          '-o',
          'json',
          '--kubeconfig',
          kubeconfig,
        )
        const list: DriftReportList = JSON.parse(run.stdout)
        const reported = list.items
          .flatMap(({ status }) => status.setAside ?? [])
          .map(({ state, ref, path }) => `${state} ${ref.name} ${path ?? '-'}`)
        assert.equal(reported.includes('Behind settings data.old'), known, reported.join())
        assert.equal(reported.includes('Ignored kept -'), true, reported.join())
        const note = `Helm release ${namespace}/shop: its release data cannot be read, so fields that its chart dropped are not detected: cannot list secrets`
        assert.equal(run.stderr.includes(note), !known, run.stderr)
        await found.uninstallWith('helm3', { ...order, driver })
        const after = assertExit(await world.backporch('diff', 'apps/shop', '-o', 'json'), 1)
        const missing = (JSON.parse(after.stdout) as DriftReportList).items.flatMap(
          ({ spec }) => spec.changes,
        )
        assert.deepEqual(missing.map(({ change, ref }) => `${change} ${ref.name}`).sort(), [
          'missing settings',
          'missing token',
          'missing web',
        ])
        await plane.kubectl(['delete', 'configmap', 'kept', 'hook', `--namespace=${namespace}`])
        await plane.kubectl([
          'delete',
          'secrets,configmaps',
          '--selector=owner=helm',
          `--namespace=${namespace}`,
        ])
      }
    })
  })
}

async function worldOf(
  t: TestContext,
  plane: Parameters<typeof openWorld>[1],
  all: string,
  below: string,
): Promise<World> {
  return openWorld(t, plane, {
    'apps/shop/Kptfile': kptfile('shop'),
    'apps/shop/all.yaml': all,
    ...(below === '' ? {} : { 'apps/shop/charts/below.yaml': below }),
  })
}

interface Observed {
  readonly changes: readonly { readonly line: string; readonly notes: readonly string[] }[]
  readonly setAside: readonly string[]
}

async function observed(world: World, exit: number): Promise<Observed> {
  const run = assertExit(await world.backporch('diff', 'apps/shop', '-o', 'json'), exit)
  const { items, incomplete }: DriftReportList = JSON.parse(run.stdout)
  assert.deepEqual(incomplete, [])
  assert.doesNotMatch(run.stderr, /what Helm keeps/)
  return {
    changes: items
      .flatMap(({ spec }) => spec.changes)
      .map(({ change, ref, path, actor, notes = [] }) => ({
        line: `${change} ${ref.kind}/${ref.name} ${path ?? '-'} ${actor.manager}`,
        notes,
      }))
      .sort((left, right) => (left.line < right.line ? -1 : 1)),
    setAside: items
      .flatMap(({ status }) => status.setAside ?? [])
      .map(({ state, ref, path }) => `${state} ${ref.kind}/${ref.name} ${path ?? '-'}`)
      .sort(),
  }
}

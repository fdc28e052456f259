/**
 * What the tools that people apply with leave in a cluster is no drift, and a hand edit beside it is; also when one
 * tool takes over from another, or from an older way of its own. All packages lie in one repository, so that one run sees them all.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Change } from '../../src/record/documents/change.ts'
import type { DriftReport } from '../../src/record/documents/drift-report.ts'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { type ApplierTool, findAppliers } from '../appliers/appliers.ts'
import { mixedPackage } from '../appliers/mixed-package.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { kptfile } from './packages.ts'
import { openWorld, type World } from './world.ts'

interface Life {
  readonly first: ApplierTool
  /** Takes over later. */
  readonly second?: ApplierTool
}

const LIVES: readonly Life[] = [
  { first: 'kubectl-client-side', second: 'kubectl-server-side' },
  { first: 'kpt-client-side', second: 'kpt-server-side' },
  { first: 'helm3', second: 'helm4' },
  { first: 'argo-client-side', second: 'argo-server-side' },
  { first: 'kubectl-client-side', second: 'flux' },
  { first: 'helm3', second: 'flux' },
  { first: 'flux', second: 'argo-server-side' },
  { first: 'helm4' },
]

const SYNCERS: Readonly<Record<ApplierTool, string>> = {
  'kubectl-client-side': 'kubectl-client-side-apply',
  'kubectl-server-side': 'kubectl',
  'kpt-client-side': 'kubectl',
  'kpt-server-side': 'kubectl',
  helm3: 'helm',
  helm4: 'helm',
  'helm4-client-side': 'helm',
  flux: 'kustomize-controller',
  'argo-client-side': 'argocd-controller',
  'argo-server-side': 'argocd-controller',
}

const IMAGE = 'example.com/shop/web:1.4.2'

/** Appliers at once: each is mostly waiting. */
const WIDTH = 3

const found = await findAppliers()
if (found.state === 'unavailable') test('appliers', { skip: found.why }, () => undefined)
else {
  const { applyWith } = found
  await controlPlaneSuite('appliers', { controllerManager: true }, (plane) => {
    let world: World
    let namespaces: readonly string[]

    async function apply(toolOf: (life: Life) => ApplierTool | undefined): Promise<void> {
      const waiting = [...LIVES.entries()]
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const [index, life] = next
          const namespace = namespaces[index] ?? ''
          const tool = toolOf(life)
          const order = {
            kubeconfig: plane.kubeconfig,
            namespace,
            manifests: mixedPackage(namespace),
            name: namespace,
          }
          if (tool !== undefined) await applyWith(tool, order)
        }
      }
      await Promise.all(Array.from({ length: WIDTH }, work))
    }

    async function patch(path: string, manager: string, body: object): Promise<void> {
      const contentType = 'application/strategic-merge-patch+json'
      const { status } = await plane.request('PATCH', `${path}?fieldManager=${manager}`, {
        body,
        contentType,
      })
      assert.equal(status, 200, path)
    }

    /** What is none of git's business: a restart, a scale inside the autoscaler's range, an injected certificate. */
    async function live(replicas: number): Promise<void> {
      const restarted = { 'kubectl.kubernetes.io/restartedAt': `2026-11-21T10:00:0${replicas}Z` }
      for (const namespace of namespaces) {
        const web = `/apis/apps/v1/namespaces/${namespace}/deployments/web`
        await patch(web, 'kubectl-rollout', {
          spec: { template: { metadata: { annotations: restarted } } },
        })
        const scaled = { body: { spec: { replicas } }, contentType: 'application/merge-patch+json' }
        assert.equal(
          (await plane.request('PATCH', `${web}/scale?fieldManager=kubectl`, scaled)).status,
          200,
        )
        const checks = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/checks-${namespace}`
        const webhooks = [
          { name: 'gadgets.checks.example.com', clientConfig: { caBundle: plane.caData } },
        ]
        await patch(checks, 'cert-manager-cainjector', { webhooks })
      }
    }

    /** As `kubectl set image` and `kubectl edit` write it. */
    async function edit(image: string, maxReplicas: number): Promise<void> {
      for (const namespace of namespaces) {
        const spec = { template: { spec: { containers: [{ name: 'app', image }] } } }
        await patch(`/apis/apps/v1/namespaces/${namespace}/deployments/web`, 'kubectl-set', {
          spec,
        })
        await patch(
          `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers/web`,
          'kubectl-edit',
          { spec: { maxReplicas } },
        )
      }
    }

    async function observed(
      ...args: readonly string[]
    ): Promise<{ readonly code: number; readonly reports: ReadonlyMap<string, DriftReport> }> {
      const run = await world.backporch('diff', ...args, '-o', 'json')
      const list: DriftReportList = JSON.parse(run.stdout)
      assert.deepEqual(list.incomplete, [])
      return {
        code: run.code,
        reports: new Map(list.items.map((report) => [report.spec.unit.package, report])),
      }
    }

    before(async () => {
      namespaces = await Promise.all(LIVES.map(() => plane.namespace('applied')))
    })

    test('every applier, first and as a takeover', async (t) => {
      const files = namespaces.map((namespace, index) => ({
        [`apps/${index}/Kptfile`]: kptfile(`shop-${index}`),
        [`apps/${index}/all.yaml`]: mixedPackage(namespace),
      }))
      world = await openWorld(t, plane, Object.assign({}, ...files))

      for (const [phase, toolOf] of [
        ['', ({ first }: Life) => first],
        ['taken over: ', ({ second }: Life) => second],
      ] as const) {
        await apply(toolOf)
        await live(3)
        const calm = await observed()
        await edit('example.com/shop/web:1.4.3-hotfix', 9)
        const edited = await observed()
        await edit(IMAGE, 5)
        // A Helm 4 does not force: a count that differs from its own stops it.
        if (phase === '') await live(2)
        for (const [index, life] of LIVES.entries()) {
          const tool = toolOf(life)
          if (tool === undefined) continue
          const name = phase === '' ? tool : `${phase}${life.first}, then ${tool}`
          await t.test(
            `${name}: reports nothing untouched, and two lines for a changed image and limit`,
            () => {
              assert.deepEqual(linesOf(calm.reports.get(`apps/${index}`)), [])
              const report = edited.reports.get(`apps/${index}`)
              assert.equal(report?.spec.observed.syncer, SYNCERS[tool])
              assert.deepEqual(linesOf(report), [
                'Deployment/web modified spec.template.spec.containers[name=app].image kubectl-set human-tool high',
                'HorizontalPodAutoscaler/web modified spec.maxReplicas kubectl-edit human-tool medium',
              ])
            },
          )
        }
        assert.equal(calm.code, 0)
        assert.equal(edited.code, 1)
      }

      const flux = LIVES.findIndex(({ second }) => second === 'flux')
      await t.test(
        'a field added with kubectl apply to an object of Flux is one line until Flux applies again',
        async () => {
          const namespace = namespaces[flux] ?? ''
          const settings = {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'settings', namespace },
          }
          await world.pipe(
            JSON.stringify({ ...settings, data: { timeout: '30', extra: 'x' } }),
            'apply',
            '--filename=-',
          )
          const touched = await observed(`apps/${flux}`)
          assert.deepEqual(linesOf(touched.reports.get(`apps/${flux}`)), [
            'ConfigMap/settings added data.extra kubectl-client-side-apply human-tool medium',
          ])
          await apply((life) => (life === LIVES[flux] ? 'flux' : undefined))
          assert.equal((await observed(`apps/${flux}`)).code, 0)
        },
      )
    })
  })
}

function linesOf(report: DriftReport | undefined): string[] {
  const line = ({ ref, change, path, actor, risk }: Change): string =>
    `${ref.kind}/${ref.name} ${change} ${path} ${actor.manager} ${actor.class} ${risk}`
  return (report?.spec.changes ?? []).map(line).sort()
}

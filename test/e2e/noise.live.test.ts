/** What the control plane and injectors write is no drift, by name; what a person writes beside it is. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Change } from '../../src/record/documents/change.ts'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { kptfile, policy } from './packages.ts'
import type { ProgramRun } from './run-program.ts'
import { assertExit, type Files, openWorld, type World } from './world.ts'

const files = (space: string): Files => ({
  'apps/noisy/Kptfile': kptfile('noisy'),
  'apps/noisy/all.yaml': `apiVersion: v1
kind: Namespace
metadata: {name: ${space}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${space}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "registry.example.com/web:1"}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: ${space}}
spec:
  minReplicas: 2
  maxReplicas: 6
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: ${space}}
spec: {type: NodePort, selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, namespace: ${space}}
---
apiVersion: v1
kind: Secret
metadata:
  name: robot
  namespace: ${space}
  annotations: {kubernetes.io/service-account.name: robot}
type: kubernetes.io/service-account-token
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ${space}-all}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {part-of: ${space}}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ${space}-part, labels: {part-of: ${space}}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: ${space}}
spec:
  storageClassName: ${space}
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  hostPath: {path: /nowhere}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: ${space}}
spec:
  storageClassName: ${space}
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: ${space}}
webhooks:
- name: check.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: check, namespace: ${space}}}
  rules: [{apiGroups: [nothing.example.com], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]
`,
})

/** One preset only, and all of them. */
const presets = (name: string): Files => policy(`extends: ["preset:${name}"]`)

await controlPlaneSuite('presets that ignore noise', { controllerManager: true }, (plane) => {
  test('controllers, injectors and a restart add nothing to a diff; each edit of a person is one line', async (t) => {
    const { world, space } = await noisy(t, plane)
    assert.equal(assertExit(await world.backporch('diff'), 0).stdout, '')
    await ownersAreWhoTheyAre(world, space)

    const listed = assertExit(await world.backporch('diff', '--show-ignored'), 0)
    const muted = [...listed.stdout.matchAll(/^ {2}Ignored: (\S+) .* \(preset:([a-z-]+)\)$/gm)].map(
      ([, kind, rule]) => `${kind} ${rule}`,
    )
    assert.deepEqual([...new Set(muted)].sort(), [
      'ClusterRole aggregated-cluster-roles',
      'Deployment hpa',
      'Deployment rollout-restart',
      'Namespace namespace-defaults',
      'PersistentVolume volume-binding',
      'PersistentVolumeClaim volume-binding',
      'Secret service-account-tokens',
      'ValidatingWebhookConfiguration ca-bundle',
    ])

    await world.commit(presets('hpa'), 'one preset')
    const kinds = new Set(
      changesOf(assertExit(await world.backporch('diff', '-o', 'json'), 1)).map(
        ({ ref }) => ref.kind,
      ),
    )
    assert.deepEqual([kinds.has('ClusterRole'), kinds.has('Secret')], [true, true])
    await world.commit(presets('recommended'), 'all presets')

    await world.kubectl('patch', 'hpa/web', '-n', space, '-p', '{"spec":{"maxReplicas":9}}')
    await world.kubectl(
      'set',
      'image',
      'deployment/web',
      'app=registry.example.com/web:2',
      '-n',
      space,
    )
    // At none the autoscaler is off, and does not bring the count back while this looks.
    await world.kubectl('scale', 'deployment/web', '--replicas=0', '-n', space)
    const variable =
      '{"spec":{"template":{"spec":{"containers":[{"name":"app","env":[{"name":"DEBUG","value":"1"}]}]}}}}'
    await world.kubectl(
      'patch',
      'deployment/web',
      '-n',
      space,
      '--field-manager=kube-controller-manager',
      '-p',
      variable,
    )
    await world.kubectl('label', `namespace/${space}`, 'team=web')
    await world.kubectl(
      'patch',
      'service/web',
      '-n',
      space,
      '-p',
      '{"spec":{"ports":[{"port":80,"appProtocol":"http"}]}}',
    )
    const lenient = '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'
    await world.kubectl(
      'patch',
      `validatingwebhookconfiguration/${space}`,
      '--type=json',
      '-p',
      lenient,
    )

    const changes = changesOf(assertExit(await world.backporch('diff', '-o', 'json'), 1))
    assert.deepEqual(changes.map(lineOf).sort(), [
      // A Scale with no replicas has no such field, so its writer owns nothing.
      'Deployment spec.replicas unknown',
      'Deployment spec.template.spec.containers[name=app].env[name=DEBUG] kube-controller-manager',
      'Deployment spec.template.spec.containers[name=app].image kubectl-set',
      'HorizontalPodAutoscaler spec.maxReplicas kubectl-patch',
      'Namespace metadata.labels.team kubectl-label',
      'Service spec.ports[port=80,protocol=TCP].appProtocol kubectl-patch',
      'ValidatingWebhookConfiguration webhooks[name=check.example.com].failurePolicy kubectl-patch',
    ])
    const number = String(changes.findIndex(({ path }) => path === 'spec.replicas') + 1)
    const explained = assertExit(
      await world.backporch('explain', 'apps/noisy', number),
      0,
    ).stdout.replace(/\s+/g, ' ')
    assert.match(
      explained,
      /preset:hpa no: 0 replicas are below the minimum of 2 of HorizontalPodAutoscaler/,
    )
  })
})

/** The package, applied, and left to the controllers until each has written what it writes. */
async function noisy(
  t: TestContext,
  plane: ControlPlane,
): Promise<{ world: World; space: string }> {
  const space = await plane.namespace('noisy')
  const world = await openWorld(t, plane, files(space))
  await world.sync('apps/noisy')
  await world.kubectl('scale', 'deployment/web', '--replicas=4', '-n', space)
  await world.kubectl('rollout', 'restart', 'deployment/web', '-n', space)
  const injected = `[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"${plane.caData}"}]`
  await world.kubectl(
    'patch',
    `validatingwebhookconfiguration/${space}`,
    '--type=json',
    '--field-manager=cainjector',
    '-p',
    injected,
  )
  const wait = (object: string, condition: string): Promise<string> =>
    world.kubectl(
      'wait',
      object,
      `--namespace=${space}`,
      `--for=jsonpath=${condition}`,
      '--timeout=4m',
    )
  await wait('pvc/data', '{.status.phase}=Bound')
  await wait('secret/robot', '{.data.token}')
  await wait(`clusterrole/${space}-all`, '{.rules[0].verbs[0]}=get')
  // Made, scaled, restarted.
  await wait('deployment/web', '{.status.observedGeneration}=3')
  return { world, space }
}

/** What docs/facts/noise-sources.md says of this server. */
async function ownersAreWhoTheyAre(world: World, space: string): Promise<void> {
  const owners = async (object: string, field: string): Promise<string[]> => {
    const text = await world.kubectl(
      'get',
      object,
      '-n',
      space,
      '-o',
      'json',
      '--show-managed-fields',
    )
    const live: {
      metadata: { managedFields: { manager: string; fieldsV1: unknown; subresource?: string }[] }
    } = JSON.parse(text)
    const owning = live.metadata.managedFields.filter(({ fieldsV1 }) =>
      JSON.stringify(fieldsV1).includes(`"f:${field}`),
    )
    return owning.map(({ manager, subresource }) => `${manager} ${subresource ?? ''}`.trim())
  }
  assert.deepEqual(await owners('service/web', 'clusterIP'), [])
  assert.deepEqual(await owners('service/web', 'nodePort'), [])
  assert.deepEqual(await owners('pvc/data', 'finalizers'), [])
  assert.deepEqual(await owners('pvc/data', 'volumeName'), ['kube-controller-manager'])
  assert.deepEqual(await owners('deployment/web', 'deployment.kubernetes.io/revision'), [
    'kube-controller-manager status',
  ])
  assert.deepEqual(await owners(`clusterrole/${space}-all`, 'rules'), [
    'clusterrole-aggregation-controller',
  ])
}

function changesOf({ stdout }: ProgramRun): readonly Change[] {
  const list: DriftReportList = JSON.parse(stdout)
  return list.items.flatMap(({ spec }) => spec.changes)
}

function lineOf({ ref, path, actor }: Change): string {
  return `${ref.kind} ${path ?? ''} ${actor.manager}`
}

/**
 * Objects of many kinds as people write them, without managers: fields that the server fills in, allocates or derives, and what controllers
 * bind and count, are no drift; one hand edit of each beside them is found.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { applyAll, objectsOfManyKinds } from './many-kinds.ts'
import { kptfile } from './packages.ts'
import { assertExit, openWorld } from './world.ts'

interface KindEdit {
  /** As kubectl names it. */
  readonly object: string
  /** Merge patch. */
  readonly patch: object
  /** The change and its path. */
  readonly line: string
}

const EDITS = (namespace: string): readonly KindEdit[] => [
  {
    object: `namespace/${namespace}-ns`,
    patch: { metadata: { labels: { team: 'x' } } },
    line: 'added metadata.labels.team',
  },
  {
    object: 'serviceaccount/sa',
    patch: { automountServiceAccountToken: false },
    line: 'added automountServiceAccountToken',
  },
  { object: 'configmap/cm', patch: { data: { more: 'x' } }, line: 'added data.more' },
  { object: 'secret/secret', patch: { data: { more: 'eA==' } }, line: 'added data.more' },
  { object: 'secret/token', patch: { data: { more: 'eA==' } }, line: 'added data.more' },
  {
    object: 'service/svc',
    patch: { spec: { internalTrafficPolicy: 'Local' } },
    line: 'added spec.internalTrafficPolicy',
  },
  {
    object: 'service/svcnp',
    patch: { spec: { selector: { a: 'c' } } },
    line: 'modified spec.selector',
  },
  {
    object: 'service/headless',
    patch: { spec: { publishNotReadyAddresses: true } },
    line: 'added spec.publishNotReadyAddresses',
  },
  {
    object: 'service/lb',
    patch: { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } },
    line: 'added spec.loadBalancerSourceRanges',
  },
  {
    object: 'deployment/d',
    patch: { spec: { minReadySeconds: 5 } },
    line: 'added spec.minReadySeconds',
  },
  {
    object: 'statefulset/s',
    patch: { spec: { minReadySeconds: 5 } },
    line: 'added spec.minReadySeconds',
  },
  {
    object: 'daemonset/ds',
    patch: { spec: { template: { spec: { nodeSelector: { x: 'y' } } } } },
    line: 'added spec.template.spec.nodeSelector',
  },
  {
    object: 'job/j',
    patch: { metadata: { labels: { 'job-name': 'other' } } },
    line: 'added metadata.labels.job-name',
  },
  {
    object: 'cronjob/cj',
    patch: { spec: { concurrencyPolicy: 'Forbid' } },
    line: 'added spec.concurrencyPolicy',
  },
  {
    object: 'pvc/pvc',
    patch: { metadata: { annotations: { note: 'x' } } },
    line: 'added metadata.annotations.note',
  },
  {
    object: `pv/${namespace}-pv`,
    patch: { spec: { persistentVolumeReclaimPolicy: 'Delete' } },
    line: 'added spec.persistentVolumeReclaimPolicy',
  },
  { object: 'role/r', patch: { rules: [] }, line: 'modified rules' },
  {
    object: 'rolebinding/rb',
    patch: { subjects: [{ kind: 'User', name: 'y', apiGroup: 'rbac.authorization.k8s.io' }] },
    line: 'modified subjects',
  },
  {
    object: `clusterrole/${namespace}:cr`,
    patch: { rules: [{ apiGroups: [''], resources: ['*'], verbs: ['*'] }] },
    line: 'modified rules',
  },
  {
    object: 'ingress/i',
    patch: { spec: { ingressClassName: 'x' } },
    line: 'added spec.ingressClassName',
  },
  { object: 'hpa/h', patch: { spec: { minReplicas: 2 } }, line: 'added spec.minReplicas' },
  {
    object: 'pdb/p',
    patch: { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } },
    line: 'added spec.unhealthyPodEvictionPolicy',
  },
  {
    object: 'networkpolicy/netpol',
    patch: { spec: { policyTypes: ['Ingress', 'Egress'] } },
    line: 'added spec.policyTypes',
  },
  {
    object: 'pod/pod',
    patch: { metadata: { labels: { x: 'y' } } },
    line: 'added metadata.labels.x',
  },
  {
    object: 'resourcequota/q',
    patch: { spec: { hard: { pods: '20' } } },
    line: 'modified spec.hard.pods',
  },
  {
    object: `priorityclass/${namespace}-pc`,
    patch: { description: 'x' },
    line: 'added description',
  },
  {
    object: `storageclass/${namespace}-sc`,
    patch: { allowVolumeExpansion: true },
    line: 'added allowVolumeExpansion',
  },
  {
    object: `crd/widgets.${namespace}.example.com`,
    patch: { spec: { names: { shortNames: ['wi'] } } },
    line: 'added spec.names.shortNames',
  },
  {
    object: `widgets.${namespace}.example.com/w`,
    patch: { spec: { size: 5 } },
    line: 'added spec.size',
  },
]

await controlPlaneSuite(
  'objects of many kinds without managers',
  { controllerManager: true },
  (plane) => {
    for (const how of ['client-side', 'server-side']) {
      test(`finds one hand edit of each object, and nothing else, when applied ${how} and managers are cleared`, async (t) => {
        const namespace = await plane.namespace('kinds')
        const manifests = objectsOfManyKinds(namespace)
        const world = await openWorld(t, plane, {
          'apps/kinds/Kptfile': kptfile('kinds'),
          'apps/kinds/all.yaml': manifests,
        })
        await applyAll(world, manifests, how === 'server-side' ? ['--server-side'] : [])
        await world.kubectl(
          'wait',
          'pvc/pvc',
          '-n',
          namespace,
          '--for=jsonpath={.status.phase}=Bound',
          '--timeout=4m',
        )
        await world.kubectl(
          'wait',
          'secret/token',
          '-n',
          namespace,
          '--for=jsonpath={.data.token}',
          '--timeout=4m',
        )
        await world.settled(namespace, 'd', 1)
        const clear = '[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]'
        for (const { object } of EDITS(namespace))
          await world.kubectl('patch', object, '-n', namespace, '--type=json', '-p', clear)
        assert.equal(assertExit(await world.backporch('diff'), 0).stdout, '')
        for (const { object, patch } of EDITS(namespace))
          await world.kubectl(
            'patch',
            object,
            '-n',
            namespace,
            '--type=merge',
            '-p',
            JSON.stringify(patch),
          )
        const list: DriftReportList = JSON.parse(
          assertExit(await world.backporch('diff', '-o', 'json'), 1).stdout,
        )
        assert.deepEqual(list.incomplete, [])
        const lines = list.items
          .flatMap(({ spec }) => spec.changes)
          .map(({ ref, change, path }) => `${ref.name} ${change} ${path}`)
        const wanted = EDITS(namespace).map(
          ({ object, line }) => `${object.slice(object.indexOf('/') + 1)} ${line}`,
        )
        assert.deepEqual(lines.sort(), wanted.sort())
      })
    }
  },
)

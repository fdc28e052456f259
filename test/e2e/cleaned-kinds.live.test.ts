/** Live objects of many kinds as manifests: what people wrote comes back, without what the server, its controllers and defaults added. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findValueAt } from '@backporch/kyaml/field'
import { formatJson } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { getResourceKey, readResource } from '@backporch/kyaml/resource'
import { DEFAULT_POLICY } from '../../src/policy/effective-policy.ts'
import { cleanObject } from '../../src/reconcile/observe/clean-object.ts'
import { leaves } from '../../src/sources/edits/prove-edit.ts'
import { connect } from '../apiserver/live-cluster.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { applyAll, objectsOfManyKinds } from './many-kinds.ts'
import { openWorld } from './world.ts'

/** Defaults that a client-side apply owns, and that a comparison with a manifest without them would report. */
const OF_THE_SENDER = [
  'Deployment/d spec.replicas 1',
  'StatefulSet/s spec.replicas 1',
  'CustomResourceDefinition/widgets.NAMESPACE.example.com spec.names.listKind "WidgetList"',
  'CustomResourceDefinition/widgets.NAMESPACE.example.com spec.names.singular "widget"',
  'HorizontalPodAutoscaler/h spec.metrics [{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]',
  'HorizontalPodAutoscaler/h spec.minReplicas 1',
  // The empty selector of git is one without a field, which the server fills in.
  'NetworkPolicy/netpol spec.podSelector "left out"',
  'NetworkPolicy/netpol spec.policyTypes ["Ingress"]',
  'PersistentVolume/NAMESPACE-pv spec.hostPath.type ""',
  'Pod/pod spec.enableServiceLinks true',
  'PriorityClass/NAMESPACE-pc preemptionPolicy "PreemptLowerPriority"',
  'Widget/w spec.size 3',
]

await controlPlaneSuite(
  'live objects of many kinds as manifests',
  { controllerManager: true },
  (plane) => {
    for (const how of ['client-side', 'server-side']) {
      test(`applied ${how}: a cleaned manifest has what people wrote and nothing else`, async (t) => {
        const namespace = await plane.namespace('cleaned')
        const manifests = objectsOfManyKinds(namespace)
        const world = await openWorld(t, plane, { 'README.md': 'kinds\n' })
        await applyAll(world, manifests, how === 'server-side' ? ['--server-side'] : [])
        await world.kubectl(
          'wait',
          'pvc/pvc',
          '-n',
          namespace,
          '--for=jsonpath={.status.phase}=Bound',
          '--timeout=4m',
        )
        await world.settled(namespace, 'd', 1)
        const { reader: cluster, close } = await connect(plane)
        t.after(() => close())
        const others: string[] = []
        const signal = new AbortController().signal
        for (const { value } of parseGoYaml(manifests, 'kinds.yaml').documents) {
          const declared = readResource(value)
          assert.ok(!('problem' in declared))
          if (declared.id.kind === 'Secret') continue
          const { schema } = await cluster.findServedKind(
            declared.apiVersion,
            declared.id.kind,
            signal,
          )
          const live = (await cluster.readLive([declared], signal)).get(getResourceKey(declared.id))
          assert.ok(live?.state === 'present', getResourceKey(declared.id))
          const ports = {
            reader: cluster,
            manager: 'ci',
            syncer: undefined,
            presets: DEFAULT_POLICY.presets,
          }
          const answer = await cleanObject(
            { ...declared, object: live.object, schema },
            ports,
            signal,
          )
          const name = `${declared.id.kind}/${declared.id.name}`
          assert.ok('manifest' in answer, `${name} ${JSON.stringify(answer)}`)
          assert.equal(answer.unproven, undefined, name)
          const { manifest } = answer
          for (const path of leaves(declared.object, manifest, []))
            others.push(
              `${name} ${formatRedactedPath(path, declared.id)} ${formatJson(findValueAt(manifest, path) ?? 'left out')}`,
            )
        }
        // The server stores quantities in their shortest form.
        const quantities = [
          'Deployment/d spec.template.spec.containers[0].resources.limits.cpu "1"',
          'Deployment/d spec.template.spec.containers[0].resources.limits.memory "1Gi"',
        ]
        const all = others.map((line) => line.replaceAll(namespace, 'NAMESPACE')).sort()
        assert.deepEqual(
          all,
          [...quantities, ...(how === 'client-side' ? OF_THE_SENDER : [])].sort(),
        )
      })
    }
  },
)

/** Live objects of many kinds as manifests: what people wrote comes back, without what the server, its controllers and defaults added. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { valueAt } from '../../src/krm/field-path.ts'
import { shownPathOnly } from '../../src/krm/redaction/shown-path.ts'
import { readResource } from '../../src/krm/resource.ts'
import { resourceKey } from '../../src/krm/resource-id.ts'
import { leaves } from '../../src/proposal/prove-edit.ts'
import { cleanObject } from '../../src/reconcile/manifests/clean-object.ts'
import { formatJson } from '../../src/text/json.ts'
import { parseGoYaml } from '../../src/yaml/read/go-yaml.ts'
import { connect } from '../apiserver/live-cluster.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { applyAll, objectsOfManyKinds } from './many-kinds.ts'
import { openWorld } from './world.ts'

await controlPlaneSuite('live objects of many kinds as manifests', { controllerManager: true }, (plane) => {
  for (const how of ['client-side', 'server-side']) {
    test(`applied ${how}: a manifest has what people wrote, and nothing beside`, async (t) => {
      const namespace = await plane.namespace('cleaned')
      const manifests = objectsOfManyKinds(namespace)
      const world = await openWorld(t, plane, { 'README.md': 'kinds\n' })
      await applyAll(world, manifests, how === 'server-side' ? ['--server-side'] : [])
      await world.kubectl('wait', 'pvc/pvc', '-n', namespace, '--for=jsonpath={.status.phase}=Bound', '--timeout=60s')
      await world.settled(namespace, 'd', 1)
      const { reader: cluster, close } = await connect(plane)
      t.after(() => close())
      const others: string[] = []
      const signal = new AbortController().signal
      for (const { value } of parseGoYaml(manifests, 'kinds.yaml').documents) {
        const declared = readResource(value)
        assert.ok(!('problem' in declared))
        if (declared.id.kind === 'Secret') continue
        const { schema } = await cluster.servedKind(declared.apiVersion, declared.id.kind, signal)
        const live = (await cluster.readLive([declared], signal)).get(resourceKey(declared.id))
        assert.ok(live?.state === 'present', resourceKey(declared.id))
        const answer = await cleanObject({ ...declared, object: live.object, schema }, { reader: cluster, manager: 'ci' }, signal)
        const name = `${declared.id.kind}/${declared.id.name}`
        assert.ok('manifest' in answer, `${name} ${JSON.stringify(answer)}`)
        assert.equal(answer.unproven, undefined, name)
        const { manifest } = answer
        for (const path of leaves(declared.object, manifest, []))
          others.push(`${name} ${shownPathOnly(path)} ${formatJson(valueAt(manifest, path) ?? 'left out')}`)
      }
      // The server stores quantities in their shortest form, gives a probe its path, and a policy its empty selector.
      assert.deepEqual(others, [
        'Deployment/d spec.template.spec.containers[0].resources.limits.cpu "1"',
        'Deployment/d spec.template.spec.containers[0].resources.limits.memory "1Gi"',
        'Deployment/d spec.template.spec.containers[0].livenessProbe.httpGet.path "left out"',
        'NetworkPolicy/netpol spec.podSelector "left out"',
      ])
    })
  }
})

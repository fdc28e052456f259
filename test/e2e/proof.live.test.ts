/** Tier 1 of design §5 against a real server: whenever ownership proves an object in sync, a dry run of the apply says that nothing changes. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { formatCanonicalQuantity, formatFieldPath, getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, parseApiVersion } from '@backporch/kyaml/resource'
import { compareObjects } from '../../src/drift/compare/compare-resource.ts'
import type { SyncerManager } from '../../src/drift/compare/drift.ts'
import { explainUnprovenOwnership } from '../../src/drift/compare/ownership-proof.ts'
import { connect, resourceOf, wanted } from '../apiserver/live-cluster.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import * as fc from '../seeds/fast-check.ts'
import { createGadgetKind, type GadgetKind } from './desired-package.ts'
import { HAND_PATCH, QUANTITY, randomObject } from './random-objects.ts'

const OBJECTS = 60
const PLURALS: Readonly<Record<string, string>> = { NetworkPolicy: 'networkpolicies' }

await controlPlaneSuite('the proof by ownership', {}, (plane) => {
  let gadget: GadgetKind
  before(async () => {
    gadget = await createGadgetKind(plane)
  })

  function pathOf({ apiVersion, kind, metadata }: JsonObject): string {
    const { group } = parseApiVersion(String(apiVersion))
    const { name, namespace } = metadata as { name: string; namespace: string }
    const plural = PLURALS[String(kind)] ?? `${String(kind).toLowerCase()}s`
    return `${group === '' ? '/api' : '/apis'}/${apiVersion}/namespaces/${namespace}/${plural}/${name}`
  }

  async function send(
    method: string,
    path: string,
    body: JsonObject,
    contentType?: string,
  ): Promise<void> {
    const { status, body: answer } = await plane.request(method, path, {
      body,
      ...(contentType === undefined ? {} : { contentType }),
    })
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(answer)}`)
  }

  for (const [how, syncer] of [
    ['server-side', { manager: 'ci', operation: 'Apply', subresource: '' }],
    ['client-side', { manager: 'kubectl-client-side-apply', operation: 'Update', subresource: '' }],
  ] as const satisfies readonly (readonly [string, SyncerManager])[]) {
    test(`a dry run changes nothing whenever the proof holds: objects applied ${how}, untouched and edited`, async () => {
      const namespace = await plane.namespace('proof')
      const cluster = (await connect(plane)).reader
      const signal = new AbortController().signal
      const bodies = fc.sample(randomObject(gadget.group), { numRuns: OBJECTS })
      const unproven: string[] = []
      let proven = 0
      for (const [index, body] of bodies.entries()) {
        const desired: JsonObject = { ...body, metadata: { name: `x${index}`, namespace } }
        const path = pathOf(desired)
        if (how === 'server-side')
          await send(
            'PATCH',
            `${path}?fieldManager=ci&force=true`,
            desired,
            'application/apply-patch+yaml',
          )
        else
          await send(
            'POST',
            `${path.replace(/\/[^/]*$/, '')}?fieldManager=${syncer.manager}`,
            desired,
          )
        const resource = resourceOf(desired)
        const { schema } = await cluster.findServedKind(
          resource.apiVersion,
          resource.id.kind,
          signal,
        )
        const patches = HAND_PATCH[resource.id.kind] ?? []
        const edited = index % 3 === 0
        if (edited) {
          const patch = patches[Math.floor(index / 3) % patches.length]
          assert.ok(patch !== undefined)
          await send('PATCH', `${path}?fieldManager=hand`, patch, 'application/merge-patch+json')
        }
        const view = await cluster.readLive(
          [wanted(resource.apiVersion, resource.id.kind, namespace, resource.id.name)],
          signal,
        )
        const live = view.get(getResourceKey(resource.id))
        assert.ok(live?.state === 'present')
        const subject = {
          apiVersion: resource.apiVersion,
          desired,
          live: live.object,
          managed: getManagedFields(live.object),
          schema,
          syncer,
        }
        const why = explainUnprovenOwnership(subject)
        if (why !== undefined) {
          if (!edited) unproven.push(`${resource.id.kind}: ${why}`)
          continue
        }
        proven += 1
        const prediction = await cluster.predict(resource, syncer.manager, signal)
        assert.ok(prediction.state === 'predicted', JSON.stringify(prediction))
        const differences = compareObjects(live.object, prediction.object, schema)
        assert.deepEqual(
          differences.map((one) => formatFieldPath(one.path)),
          [],
          JSON.stringify(desired),
        )
      }
      // Untouched objects are proven, but for the empty values that a server leaves out.
      const others = unproven.filter(
        (line) => !line.endsWith('leaves out an empty value that git declares'),
      )
      assert.deepEqual(others, [])
      assert.ok(proven >= OBJECTS / 3, `${proven} proven; ${unproven.join('\n')}`)
    })
  }

  test('a quantity equals the text that the server makes of it, or stays unproven', async () => {
    const namespace = await plane.namespace('quantity')
    const texts = [...new Set(fc.sample(QUANTITY, { numRuns: 400 }))]
    const volumes = texts.map((sizeLimit, index) => ({
      name: `v${index}`,
      emptyDir: { sizeLimit },
    }))
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'x' },
      spec: { containers: [{ name: 'a', image: 'x' }], volumes },
    }
    const created = await plane.request<{
      spec: { volumes: { name: string; emptyDir: { sizeLimit: string } }[] }
    }>('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, { body })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    const stored = new Map(
      created.body.spec.volumes.flatMap(({ name, emptyDir }) =>
        emptyDir ? [[name, emptyDir.sizeLimit]] : [],
      ),
    )
    let known = 0
    for (const [index, text] of texts.entries()) {
      const canonical = formatCanonicalQuantity(text)
      if (canonical === undefined) continue
      known += 1
      assert.equal(canonical, stored.get(`v${index}`), text)
    }
    assert.ok(known > texts.length / 2)
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { type Resource, readResource } from '@backporch/kyaml/resource'
import { createCreationProbe, findCreatedObject } from './creation-probe.ts'

function resourceOf(
  kind: string,
  name: string,
  rest: JsonObject = {},
  apiVersion = 'v1',
): Resource {
  const read = readResource({ apiVersion, kind, metadata: { name, namespace: 'shop' }, ...rest })
  assert.ok('id' in read)
  return read
}

function nameOf(resource: Resource): string {
  return createCreationProbe(resource, resource.object).resource.id.name
}

test('a probe name is stable, unique per object, and no longer than the limit or the name', () => {
  assert.match(nameOf(resourceOf('ConfigMap', 'web')), /^web-backporch-[0-9a-f]{6}$/)
  assert.equal(nameOf(resourceOf('ConfigMap', 'web')), nameOf(resourceOf('ConfigMap', 'web')))
  assert.notEqual(nameOf(resourceOf('ConfigMap', 'web')), nameOf(resourceOf('Secret', 'web')))
  for (const length of [1, 35, 36, 52, 53, 63, 253]) {
    const name = nameOf(resourceOf('ConfigMap', 'x'.repeat(length)))
    assert.ok(name.length <= Math.max(52, length), `${length}: ${name.length}`)
    assert.match(name, /^x+-backporch-[0-9a-f]{6}$/)
  }
  assert.match(
    nameOf(resourceOf('ConfigMap', `${'x'.repeat(38)}.-${'y'.repeat(17)}`)),
    /^x+-backporch/,
    'no label of it ends in a dash',
  )
})

test('a probe is renamed only in its metadata, and the answer gets its own uid and name back', () => {
  const job = resourceOf('Job', 'web', { spec: { note: 'web' } }, 'batch/v1')
  const probe = createCreationProbe(job, job.object)
  const { name } = probe.resource.id
  assert.deepEqual(probe.resource.object, { ...job.object, metadata: { name, namespace: 'shop' } })
  const labels = { 'job-name': name, 'controller-uid': 'new' }
  const answer = { ...probe.resource.object, metadata: { name, uid: 'new', labels } }
  const live = { ...job.object, metadata: { name: 'web', uid: 'old' } }
  assert.deepEqual(findCreatedObject(answer, probe, job.object, live)?.['metadata'], {
    name: 'web',
    uid: 'old',
    labels: { 'job-name': 'web', 'controller-uid': 'old' },
  })
})

test('an answer about an existing object is not a creation', () => {
  const map = resourceOf('ConfigMap', 'web')
  const probe = createCreationProbe(map, map.object)
  const answer = {
    ...probe.resource.object,
    metadata: { name: probe.resource.id.name, resourceVersion: '7' },
  }
  assert.equal(findCreatedObject(answer, probe, map.object, map.object), undefined)
})

test('probes a definition in its own group, since its name contains the group', () => {
  const spec = { group: 'example.com', names: { plural: 'widgets' } }
  const definition = resourceOf(
    'CustomResourceDefinition',
    'widgets.example.com',
    { spec },
    'apiextensions.k8s.io/v1',
  )
  const probe = createCreationProbe(definition, definition.object)
  const sent = probe.resource.object['spec'] as JsonObject
  assert.match(String(sent['group']), /^backporch-[0-9a-f]{6}\.example\.com$/)
  assert.equal(probe.resource.id.name, `widgets.${String(sent['group'])}`)
  assert.deepEqual(
    findCreatedObject(probe.resource.object, probe, definition.object, definition.object),
    definition.object,
  )
})

test('probes a Service without its allocated addresses and ports, and puts them back', () => {
  const ports: Json = [
    { name: 'a', port: 80, nodePort: 30_080 },
    { name: 'b', port: 81 },
  ]
  const service = resourceOf('Service', 'web', {
    spec: { type: 'NodePort', clusterIP: '10.0.0.7', ports },
  })
  const probe = createCreationProbe(service, service.object)
  const bare = [
    { name: 'a', port: 80 },
    { name: 'b', port: 81 },
  ]
  assert.deepEqual(probe.resource.object['spec'], { type: 'NodePort', ports: bare })
  const created = bare.map((port, index) => ({ ...port, nodePort: 31_000 + index }))
  const answer = {
    ...probe.resource.object,
    spec: { type: 'NodePort', clusterIP: '10.0.0.9', ports: created },
  }
  assert.deepEqual(findCreatedObject(answer, probe, service.object, service.object)?.['spec'], {
    type: 'NodePort',
    clusterIP: '10.0.0.7',
    ports: [
      { name: 'a', port: 80, nodePort: 30_080 },
      { name: 'b', port: 81, nodePort: 31_001 },
    ],
  })
  const headless = resourceOf('Service', 'web', { spec: { clusterIP: 'None' } })
  assert.deepEqual(createCreationProbe(headless, headless.object).resource.object['spec'], {
    clusterIP: 'None',
  })
})

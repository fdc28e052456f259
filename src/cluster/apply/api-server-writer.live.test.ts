import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { createFieldStep, type FieldPath, getManagedFields } from '@backporch/kyaml/field'
import { getKey, isJsonObject, type Json, type JsonObject, parseJson } from '@backporch/kyaml/json'
import { getMetadataText, type WantedObject } from '@backporch/kyaml/resource'
import { realClock } from '../../../test/apiserver/live-cluster.ts'
import type { ControlPlane } from '../../../test/controlplane/control-plane.ts'
import { controlPlaneSuite } from '../../../test/controlplane/control-plane-suite.ts'
import { waitSteady } from '../../../test/waiting/wait-until.ts'
import { connectClusterWriter } from '../client/connect-cluster.ts'
import type { ApprovedWrite } from '../ports/cluster.ts'

const signal = new AbortController().signal
const COMMIT = 'feedfacefeedfacefeedfacefeedfacefeedface'
const AUTHORISED = { commit: COMMIT, episode: 'a1b2c3d4' }

function rejectsWith(code: string) {
  return (thrown: unknown): boolean => {
    assert.ok(thrown instanceof Failure, String(thrown))
    assert.equal(thrown.code, code, thrown.message)
    return true
  }
}

function deployment(namespace: string): JsonObject {
  const container = { name: 'app', image: 'nginx', env: [{ name: 'A', value: '1' }] }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: {
      // Nothing rolls out, so that the controllers have little to write.
      paused: true,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } },
    },
  }
}

function at(object: Json | undefined, ...names: readonly (string | number)[]): Json | undefined {
  return names.reduce<Json | undefined>((value, name) => {
    if (typeof name === 'number') return Array.isArray(value) ? value[name] : undefined
    return isJsonObject(value) ? getKey(value, name) : undefined
  }, object)
}

async function prepared(plane: ControlPlane) {
  const namespace = await plane.namespace('settle')
  await plane.kubectl(['apply', '--server-side', '-f', '-'], {
    stdin: JSON.stringify(deployment(namespace)),
  })
  await plane.kubectl(['set', 'env', 'deployment/web', 'B=by-hand', '-n', namespace])
  const { writer, close } = connectClusterWriter({
    kubeconfig: plane.kubeconfig,
    environment: {},
    clock: realClock,
    version: 'test',
  })
  const target: WantedObject = {
    apiVersion: 'apps/v1',
    id: { group: 'apps', kind: 'Deployment', namespace, name: 'web' },
  }
  const readOnce = async (): Promise<JsonObject> => {
    const { stdout } = await plane.kubectl([
      'get',
      'deployment',
      'web',
      '-n',
      namespace,
      '-o',
      'json',
      '--show-managed-fields',
    ])
    const object = parseJson(stdout)
    assert.ok(isJsonObject(object))
    return object
  }
  // As it is when the controllers have seen the last change and have stopped writing: a version of then is one to review.
  const read = (): Promise<JsonObject> =>
    waitSteady('the controllers stop writing', async () => {
      const now = await readOnce()
      return at(now, 'status', 'observedGeneration') === at(now, 'metadata', 'generation')
        ? now
        : undefined
    })
  return { namespace, writer, close, target, read }
}

const ENV: FieldPath = [
  createFieldStep('spec'),
  createFieldStep('template'),
  createFieldStep('spec'),
  createFieldStep('containers'),
  { kind: 'item', keys: { name: 'app' } },
  createFieldStep('env'),
]

await controlPlaneSuite('API server writer', { auditLevel: 'Metadata' }, (plane) => {
  test('removes exactly the reviewed field under its commit, and the audit log records who authorized it', async () => {
    const { writer, target, read, namespace } = await prepared(plane)
    const resourceVersion = getMetadataText(await read(), 'resourceVersion')
    const path = [...ENV, { kind: 'item', keys: { name: 'B' } } as const]
    await writer.write(
      {
        kind: 'remove-field',
        target,
        path,
        expected: { name: 'B', value: 'by-hand' },
        resourceVersion,
      },
      AUTHORISED,
      signal,
    )
    assert.deepEqual(at(await read(), 'spec', 'template', 'spec', 'containers', 0, 'env'), [
      { name: 'A', value: '1' },
    ])
    assert.ok(plane.auditLog !== undefined)
    const events = (await readFile(plane.auditLog, 'utf8'))
      .split('\n')
      .filter((line) => line.includes(namespace) && line.includes(COMMIT))
    const patch = events
      .map((line) => parseJson(line))
      .find((event) => at(event, 'verb') === 'patch')
    assert.equal(at(patch, 'userAgent'), `backporch/test (commit ${COMMIT}; episode a1b2c3d4)`)
    assert.match(String(at(patch, 'requestURI')), /fieldManager=backporch\.dev%2Ffeedfacefeed/)
  })

  test('an apply restores the value and names the commit as field manager', async () => {
    const { writer, target, read, namespace } = await prepared(plane)
    await plane.kubectl(['scale', 'deployment/web', '--replicas=7', '-n', namespace])
    const desired = deployment(namespace)
    // The controllers write the status meanwhile, which moves the version: the caller of a writer plans such a write anew.
    for (let attempt = 1; ; attempt += 1) {
      const metadata = {
        name: 'web',
        namespace,
        resourceVersion: getMetadataText(await read(), 'resourceVersion'),
      }
      const object = {
        ...desired,
        metadata,
        spec: { ...(desired['spec'] as JsonObject), replicas: 1 },
      }
      try {
        await writer.write({ kind: 'apply', resource: { ...target, object } }, AUTHORISED, signal)
        break
      } catch (thrown) {
        if (attempt === 20 || !(thrown instanceof Failure) || thrown.code !== 'BP2005') throw thrown
      }
    }
    const after = await read()
    assert.equal(at(after, 'spec', 'replicas'), 1)
    assert.ok(
      getManagedFields(after).entries.some(
        ({ manager }) => manager === 'backporch.dev/feedfacefeed',
      ),
    )
  })

  test('all three writes leave an object alone that changed since the review', async () => {
    const { writer, target, read, namespace } = await prepared(plane)
    const old = await read()
    const resourceVersion = getMetadataText(old, 'resourceVersion')
    await plane.kubectl(['scale', 'deployment/web', '--replicas=5', '-n', namespace])
    const metadata = { name: 'web', namespace, resourceVersion }
    const path = [...ENV, { kind: 'item', keys: { name: 'B' } } as const]
    const changes: readonly ApprovedWrite[] = [
      { kind: 'apply', resource: { ...target, object: { ...deployment(namespace), metadata } } },
      {
        kind: 'remove-field',
        target,
        path,
        expected: { name: 'B', value: 'by-hand' },
        resourceVersion,
      },
      { kind: 'delete', target, uid: getMetadataText(old, 'uid'), resourceVersion },
    ]
    const before = await read()
    for (const change of changes)
      await assert.rejects(
        writer.write(change, AUTHORISED, signal),
        rejectsWith('BP2005'),
        change.kind,
      )
    assert.deepEqual(await read(), before)
  })

  test('deletes the reviewed object, and a second deletion succeeds too', async () => {
    const { writer, target, read, namespace } = await prepared(plane)
    const live = await read()
    const deletion: ApprovedWrite = {
      kind: 'delete',
      target,
      uid: getMetadataText(live, 'uid'),
      resourceVersion: getMetadataText(live, 'resourceVersion'),
    }
    await writer.write(deletion, AUTHORISED, signal)
    const left = await plane.kubectl(['get', 'deployments', '-n', namespace, '-o', 'name'])
    assert.equal(left.stdout, '')
    await writer.write(deletion, AUTHORISED, signal)
  })

  test('reports a removal that makes the object invalid with the reason of the server', async () => {
    const { writer, target, read } = await prepared(plane)
    const live = await read()
    const path = [
      createFieldStep('spec'),
      createFieldStep('template'),
      createFieldStep('spec'),
      createFieldStep('containers'),
    ]
    const expected = at(live, 'spec', 'template', 'spec', 'containers')
    assert.ok(expected !== undefined)
    const change: ApprovedWrite = {
      kind: 'remove-field',
      target,
      path,
      expected,
      resourceVersion: getMetadataText(live, 'resourceVersion'),
    }
    await assert.rejects(writer.write(change, AUTHORISED, signal), rejectsWith('BP3011'))
  })
})

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { programPath } from '../programs/build-programs.ts'
import { type FakeMachine, fakeMachine, writeScript } from '../programs/fake-go.ts'
import { findControlPlane } from './find-control-plane.ts'

let machine: FakeMachine
let assets: string
beforeEach(async () => {
  machine = await fakeMachine()
  assets = join(machine.directory, 'assets')
})
afterEach(() => machine.remove())

test('without Go, a build or KUBEBUILDER_ASSETS it reports that and what to do', async () => {
  const found = await findControlPlane({ environment: machine.environment })
  assert.ok(found.state === 'unavailable')
  assert.match(
    found.why,
    /^cannot run a control plane here: .* no go on the PATH\. Install Go\. Or set KUBEBUILDER_ASSETS to a directory/,
  )
})

test('KUBEBUILDER_ASSETS takes precedence, also without kube-controller-manager', async () => {
  await writeScript(join(assets, 'etcd'), '')
  await writeScript(join(assets, 'kube-apiserver'), '')
  await cacheBuild()
  const found = await findControlPlane({
    environment: { ...machine.environment, KUBEBUILDER_ASSETS: assets },
  })
  assert.ok(found.state === 'ready')
  assert.equal(found.source, 'KUBEBUILDER_ASSETS')
  assert.deepEqual([...found.commands.keys()], ['etcd', 'kube-apiserver'])
  assert.deepEqual(found.commands.get('etcd'), [join(assets, 'etcd')])
})

test('reports KUBEBUILDER_ASSETS without a needed server instead of ignoring it', async () => {
  await writeScript(join(assets, 'etcd'), '')
  await cacheBuild()
  const found = await findControlPlane({
    environment: { ...machine.environment, KUBEBUILDER_ASSETS: assets },
  })
  assert.ok(found.state === 'unavailable')
  assert.match(found.why, /no executable kube-apiserver/)
})

test('our own build is one program with three servers', async () => {
  const binary = await cacheBuild()
  const found = await findControlPlane({ environment: machine.environment })
  assert.ok(found.state === 'ready')
  assert.equal(found.source, 'own build')
  const names = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const
  assert.deepEqual(
    [...found.commands],
    names.map((name) => [name, [binary, name]]),
  )
})

async function cacheBuild(): Promise<string> {
  const binary = await programPath('controlplane', machine.environment)
  await writeScript(binary, '')
  return binary
}

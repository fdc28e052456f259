import assert from 'node:assert/strict'
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { ControlPlane } from './control-plane.ts'
import { controlPlaneStartSuite } from './control-plane-suite.ts'
import type { ControlPlaneBinaries } from './find-control-plane.ts'
import { freePort } from './free-port.ts'
import { type StartOptions, startControlPlane } from './start-control-plane.ts'

await controlPlaneStartSuite('startControlPlane', (found) => {
  test('starts ready servers, and stop leaves no process and no file', async () => {
    const plane = await start({})
    assert.deepEqual(
      plane.servers.map((server) => server.name),
      ['etcd', 'kube-apiserver'],
    )
    assert.equal((await plane.request('GET', '/readyz')).body, 'ok')
    assert.match(plane.url, /^https:\/\/127\.0\.0\.1:\d+$/)
    assert.equal(plane.auditLog, undefined)
    for (const { pid } of plane.servers) assert.equal(isRunning(pid), true)

    await plane.stop()
    for (const { pid } of plane.servers) assert.equal(isRunning(pid), false)
    await assert.rejects(access(dirname(plane.kubeconfig)), { code: 'ENOENT' })
    await plane.stop()
  })

  test('two control planes started at once are separate', async () => {
    const [one, other] = await Promise.all([start({}), start({})])
    try {
      assert.notEqual(one.url, other.url)
      const namespace = await one.namespace('apart')
      assert.equal((await one.request('GET', `/api/v1/namespaces/${namespace}`)).status, 200)
      assert.equal((await other.request('GET', `/api/v1/namespaces/${namespace}`)).status, 404)
    } finally {
      await Promise.all([one.stop(), other.stop()])
    }
  })

  test('given flags take precedence, and pods need no service account without its controller', async () => {
    const plane = await start({ apiServerFlags: ['--allow-privileged=false'] })
    try {
      const create = (privileged: boolean) => {
        const spec = {
          containers: [{ name: 'main', image: 'none', securityContext: { privileged } }],
        }
        const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod' }, spec }
        return plane.request('POST', '/api/v1/namespaces/default/pods', { body })
      }
      assert.equal((await create(true)).status, 422)
      assert.equal((await create(false)).status, 201)
    } finally {
      await plane.stop()
    }
  })

  test('a server that does not start is an error with its output', async () => {
    await assert.rejects(
      start({ apiServerFlags: ['--no-such-flag'] }),
      /kube-apiserver ended with code 1[\s\S]*unknown flag: --no-such-flag/,
    )
  })

  test('a plane that is not ready in time is an error with the logs', async () => {
    await assert.rejects(
      start({ readyWithinMs: 1 }),
      /this never came: the control plane is ready[\s\S]*--- kube-apiserver/,
    )
  })

  test('tries another port when its port is taken', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const address = taken.address()
    assert.ok(typeof address === 'object' && address !== null)
    const ports = [address.port, await freePort()]
    const choosePort = async () => ports.shift() ?? assert.fail('more than two attempts')
    try {
      const plane = await start({ choosePort })
      assert.equal((await plane.request('GET', '/readyz')).status, 200)
      await plane.stop()
      assert.deepEqual(ports, [])
    } finally {
      taken.close()
    }
  })

  test('standard servers in KUBEBUILDER_ASSETS work like the own build', async () => {
    const assets = await mkdtemp(join(tmpdir(), 'backporch-assets-'))
    try {
      await writeAssets(assets, found)
      const environment = { ...process.env, KUBEBUILDER_ASSETS: assets }
      const plane = await start({ environment })
      const { status } = await plane.request('GET', '/api/v1/namespaces/default', {
        as: { user: 'ann', groups: ['system:masters'] },
      })
      await plane.stop()
      assert.equal(status, 200)

      const withControllers = await startControlPlane({ environment, controllerManager: true })
      assert.ok(withControllers.state === 'unavailable')
      assert.match(withControllers.why, /KUBEBUILDER_ASSETS has no kube-controller-manager/)
    } finally {
      await rm(assets, { recursive: true })
    }
  })
})

async function start(options: StartOptions): Promise<ControlPlane> {
  const plane = await startControlPlane(options)
  assert.ok(plane.state === 'ready')
  return plane
}

/** Scripts that hide the name of the server among the arguments, so that they are called like standard binaries. */
async function writeAssets(directory: string, found: ControlPlaneBinaries): Promise<void> {
  await mkdir(directory, { recursive: true })
  for (const name of ['etcd', 'kube-apiserver'] as const) {
    const command = found.commands.get(name) ?? []
    await writeFile(join(directory, name), `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`, {
      mode: 0o755,
    })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

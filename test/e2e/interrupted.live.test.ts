/** Ctrl-C and SIGTERM while a command waits for the API server, at each of its requests: discovery, schemas, lists, dry runs. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { httpFaults } from '../faults/http-faults.ts'
import { assertInterrupted, startCommand } from '../processes/start-command.ts'
import { policy, webPackage } from './packages.ts'
import { configPackage } from './watched-world.ts'
import { openWorld } from './world.ts'

await controlPlaneSuite('an interrupted command', {}, (plane) => {
  async function opened(t: TestContext) {
    const namespace = await plane.namespace('stop')
    const names = Array.from({ length: 40 }, (_, index) => `a${index}`)
    const files = {
      ...webPackage(namespace),
      ...configPackage('many', namespace, names),
      ...policy('mode: Propose'),
    }
    const world = await openWorld(t, plane, files)
    await world.sync('apps/web')
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    const faults = await httpFaults(plane)
    t.after(() => faults.close())
    const home = join(world.folder, 'home')
    const env = {
      PATH: process.env['PATH'],
      HOME: home,
      KUBECONFIG: faults.kubeconfig,
      BACKPORCH_KEY: 'e2e0'.repeat(16),
    }
    return {
      world,
      faults,
      options: { cwd: world.checkout, env: { ...env, GIT_CONFIG_NOSYSTEM: '1' } },
    }
  }

  for (const command of ['diff', 'scan', 'check']) {
    test(`${command}: interrupted at each request`, async (t) => {
      const { world, faults, options } = await opened(t)
      const argv = [command, '--repo', world.repository]
      const whole = await startCommand(command === 'scan' ? [...argv, '--dry-run'] : argv, options)
        .ended
      assert.equal(whole.code, command === 'check' ? 0 : 1, whole.stdout + whole.stderr)
      const requests = faults.requests.length
      const refs = await world.refs()
      assert.ok(requests >= 4, `${requests} requests`)
      for (let nth = 1; nth <= requests; nth += Math.ceil(requests / 6)) {
        const before = faults.requests.length
        const signal = nth % 2 === 0 ? 'SIGINT' : 'SIGTERM'
        let stopped = ''
        const running = startCommand(argv, options)
        faults.plan = ({ path }) => {
          if (faults.requests.length < before + nth) return undefined
          if (stopped === '') running.interrupt(signal)
          stopped ||= path
          return { silent: true }
        }
        assertInterrupted(await running.ended, signal, `${command}, request ${nth}: ${stopped}`)
        assert.notEqual(stopped, '')
        faults.plan = () => undefined
      }
      assert.deepEqual(await world.refs(), refs)
    })
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Interrupted } from '@backporch/kyaml/failure'
import { InProcessRenderer } from '../../../test/fakes/in-process-renderer.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import { runTurn, type TurnResult } from './run-turn.ts'

/** Ends the work at the nth call of what the turn reads and writes, and counts the calls. */
class InterruptedAt {
  calls = 0
  readonly stop = new AbortController()
  readonly nth: number

  constructor(nth: number) {
    this.nth = nth
  }

  /** What takes a signal waits for something, and rejects with its reason; what is in a cache is there without a wait. */
  around<Port extends object>(port: Port, { isCached = false } = {}): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const own: unknown = Reflect.get(target, name, target)
        if (typeof own !== 'function') return own
        return (...args: unknown[]): unknown => {
          if (args.some((arg) => arg instanceof AbortSignal)) {
            this.calls += 1
            const isMeant = this.calls === this.nth
            if (isMeant) this.stop.abort(new Interrupted('SIGTERM'))
            if (isMeant || (this.stop.signal.aborted && !isCached))
              return Promise.reject(this.stop.signal.reason)
          }
          return Reflect.apply(own, target, args)
        }
      },
    })
  }
}

type Mode = { readonly dryRun: boolean; readonly isHosted: boolean }

async function turn(
  nth: number,
  { dryRun, isHosted }: Mode,
): Promise<{ readonly at: InterruptedAt; readonly result: Promise<TurnResult> }> {
  const world = new TurnWorld()
  if (isHosted) world.forge = new MemoryForge(world.repository)
  world.edit(WEB, 'spec.replicas', 5)
  const at = new InterruptedAt(nth)
  const { repository, cluster, forge } = world.ports
  const ports = {
    repository: at.around(repository, { isCached: true }),
    cluster: at.around(cluster),
    forge: at.around(forge),
  }
  const request = world.request({ dryRun, renderer: at.around(new InProcessRenderer()) })
  return { at, result: runTurn(ports, request, at.stop.signal) }
}

for (const dryRun of [true, false]) {
  for (const isHosted of [true, false]) {
    test(`a turn that ${dryRun ? 'reads' : 'writes'} ${isHosted ? 'with a forge' : 'git alone'} ends as interrupted, not failed, when aborted at any call`, async () => {
      const whole = await turn(0, { dryRun, isHosted })
      assert.equal((await whole.result).units[0]?.state, 'planned')
      assert.ok(whole.at.calls > 10, `${whole.at.calls} calls`)
      for (let nth = 1; nth <= whole.at.calls; nth += 1) {
        const { result } = await turn(nth, { dryRun, isHosted })
        await assert.rejects(result, Interrupted, `call ${nth}`)
      }
    })
  }
}

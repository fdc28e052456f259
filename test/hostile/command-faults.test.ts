/**
 * A forge or a git server that answers wrong at any one request of a command: the command waits and is done when that is over, and is
 * never refused. Nothing is both refused and done.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure, type FailureCode } from '../../src/failure.ts'
import { NO_REQUESTED_ACTIONS } from '../../src/reconcile/commands/observe-requests.ts'
import { runFleetTurn } from '../../src/reconcile/run-turn.ts'
import { endOf, remember, runToQuiet, timeless } from '../crash/forge-killer.ts'
import { opened, requested, signal, ticked, type World } from '../crash/forge-scenes.ts'
import type { MemoryForge } from '../fakes/memory-forge.ts'

/** As the adapters tell them: 403, a login page or cut JSON, a redirect to elsewhere. */
const FORGE: readonly FailureCode[] = ['BP5003', 'BP5007', 'BP5008']
const GIT: readonly FailureCode[] = ['BP4005']

const COMMANDS: readonly { readonly name: string; readonly begin: () => Promise<World> }[] = [
  ...['/adopt', '/ignore 1 --for 30d -- known', '/snooze 7d'].map((body) => ({
    name: body,
    begin: () => requested(body) as Promise<World>,
  })),
  {
    name: 'a ticked box',
    begin: async () => {
      const scene = await opened()
      ticked(scene, /adopt/i)
      return scene
    },
  },
]

interface Fault {
  readonly code: FailureCode
  /** Which request of the turn, from 1. */
  readonly at: number
  readonly when: 'before' | 'after'
}

describe('one wrong answer at any request of a command', () => {
  for (const { name, begin } of COMMANDS) {
    test(name, async (t) => {
      const scene = await begin()
      const again = remember(scene)
      again()
      scene.pass(-(await runToQuiet(scene)).minutes)
      const wanted = timeless(await endOf(scene))
      const wrong: string[] = []
      let tried = 0
      for (const when of ['before', 'after'] as const) {
        for (let at = 1; ; at += 1) {
          let isHit = false
          for (const code of [...FORGE, ...GIT]) {
            again()
            const hit = await disturbed(scene, { code, at, when })
            if (hit === undefined) continue
            isHit = true
            tried += 1
            const where = `${code} ${when} ${hit}, request ${at}`
            try {
              const refused = scene.forge.conversation.filter(({ reaction }) => reaction === 'refused')
              assert.deepEqual(refused, [], 'not refused')
              assert.ok(
                !scene.forge.comments.some(({ topic, body }) => topic === 'command' && /not done|refused|cannot/i.test(body)),
                'not said to be refused',
              )
              const { minutes } = await runToQuiet(scene)
              scene.pass(-minutes)
              assert.deepEqual(timeless(await endOf(scene)), wanted)
            } catch (thrown) {
              wrong.push(`${where}: ${thrown instanceof Error ? thrown.message.slice(0, 700) : String(thrown)}`)
            }
          }
          if (!isHit) break
        }
      }
      t.diagnostic(`${tried} faults`)
      assert.ok(tried > 20, `${tried} faults`)
      assert.equal(wrong.length, 0, `${wrong.length} of ${tried} end wrong:\n${wrong.slice(0, 5).join('\n\n')}`)
    })
  }
})

/** One turn as the controller makes it, with one wrong answer. @returns the request; undefined where there were not as many */
async function disturbed({ world, forge, repository }: World, fault: Fault): Promise<string | undefined> {
  const isGit = fault.code.startsWith('BP4')
  let requests = 0
  let hit: string | undefined
  const request = (what: string, when: Fault['when']): void => {
    if (when === 'before') requests += 1
    if (requests !== fault.at || when !== fault.when || isGit !== what.startsWith('push')) return
    hit = what
    throw new Failure({ code: fault.code, what: `cannot ${what}`, why: 'as the test wants it', remedy: 'again', retry: 'on-change' })
  }
  repository.beforePush = () => request('push', 'before')
  repository.afterPush = () => request('push', 'after')
  forge.beforeWrite = () => undefined
  forge.afterWrite = () => undefined
  world.forge = faulty(forge, request)
  const ports = { ...world.ports, clusters: [world.cluster] }
  try {
    await runFleetTurn(ports, world.request({ requestedActions: NO_REQUESTED_ACTIONS }), signal)
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== fault.code) throw thrown
  } finally {
    world.forge = forge
    repository.beforePush = () => undefined
    repository.afterPush = () => undefined
  }
  return hit
}

function faulty(forge: MemoryForge, request: (what: string, when: Fault['when']) => void): MemoryForge {
  return new Proxy(forge, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown
      if (typeof value !== 'function') return value
      return async (...given: unknown[]): Promise<unknown> => {
        request(String(name), 'before')
        const answer: unknown = await value.apply(target, given)
        request(String(name), 'after')
        return answer
      }
    },
  })
}

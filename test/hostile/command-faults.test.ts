/**
 * A forge or a git server that answers wrong at any one request of a command: the command waits and is done when that is over, and is
 * never refused. Nothing is both refused and done.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import { NO_REQUESTED_ACTIONS } from '../../src/reconcile/turn/requests/observe-requests.ts'
import { runFleetTurn } from '../../src/reconcile/turn/run-turn.ts'
import { endOf, remember, runToQuiet, timeless } from '../crash/forge-killer.ts'
import { opened, requested, signal, ticked, type World } from '../crash/forge-scenes.ts'
import type { MemoryForge } from '../fakes/memory-forge.ts'
import { quarterOf } from '../seeds/crash-points.ts'

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
  readonly what: string
}

describe('one wrong answer to any request of a command', () => {
  for (const { name, begin } of COMMANDS) {
    test(name, async (t) => {
      const scene = await begin()
      const again = remember(scene)
      again()
      scene.pass(-(await runToQuiet(scene)).minutes)
      const wanted = timeless(await endOf(scene))
      again()
      const faults = await possibleFaults(scene)
      assert.ok(faults.length > 20, `${faults.length} faults`)
      const chosen = quarterOf(t, faults)
      const wrong: string[] = []
      for (const fault of chosen) {
        again()
        try {
          assert.ok(await disturbed(scene, fault), 'the request is made')
          const refused = scene.forge.conversation.filter(({ reaction }) => reaction === 'refused')
          assert.deepEqual(refused, [], 'not refused')
          assert.ok(
            !scene.forge.comments.some(
              ({ topic, body }) => topic === 'command' && /not done|refused|cannot/i.test(body),
            ),
            'not said to be refused',
          )
          const { minutes } = await runToQuiet(scene)
          scene.pass(-minutes)
          assert.deepEqual(timeless(await endOf(scene)), wanted)
        } catch (thrown) {
          const where = `${fault.code} ${fault.when} ${fault.what}, request ${fault.at}`
          wrong.push(
            `${where}: ${thrown instanceof Error ? thrown.message.slice(0, 700) : String(thrown)}`,
          )
        }
      }
      assert.equal(
        wrong.length,
        0,
        `${wrong.length} of ${chosen.length} end wrong:\n${wrong.slice(0, 5).join('\n\n')}`,
      )
    })
  }
})

/** Every fault that the next turn can meet. */
async function possibleFaults(scene: World): Promise<readonly Fault[]> {
  const faults = new Map<string, Fault>()
  await turn(scene, (what, when, at) => {
    for (const code of isGit(what) ? GIT : FORGE)
      faults.set(`${code} ${when} ${at}`, { code, at, when, what })
  })
  return [...faults.values()]
}

/** The next turn, with one wrong answer. @returns whether it came to the request */
async function disturbed(scene: World, fault: Fault): Promise<boolean> {
  let isHit = false
  try {
    await turn(scene, (what, when, at) => {
      if (at !== fault.at || when !== fault.when || isGit(what) !== isGit(fault.what)) return
      isHit = true
      throw new Failure({
        code: fault.code,
        what: `cannot ${what}`,
        why: 'as the test wants it',
        remedy: 'again',
        retry: 'on-change',
      })
    })
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== fault.code) throw thrown
  }
  return isHit
}

function isGit(request: string): boolean {
  return request === 'push'
}

/** One turn as the controller makes it. @param asked called before and after each request, with the number of those that began, from 1 */
async function turn(
  { world, forge, repository }: World,
  asked: (what: string, when: Fault['when'], at: number) => void,
): Promise<void> {
  let requests = 0
  const request = (what: string, when: Fault['when']): void => {
    if (when === 'before') requests += 1
    asked(what, when, requests)
  }
  repository.beforePush = () => request('push', 'before')
  repository.afterPush = () => request('push', 'after')
  forge.beforeWrite = () => undefined
  forge.afterWrite = () => undefined
  world.forge = faulty(forge, request)
  try {
    const ports = { ...world.ports, clusters: [world.cluster] }
    await runFleetTurn(ports, world.request({ requestedActions: NO_REQUESTED_ACTIONS }), signal)
  } finally {
    world.forge = forge
    repository.beforePush = () => undefined
    repository.afterPush = () => undefined
  }
}

function faulty(
  forge: MemoryForge,
  request: (what: string, when: Fault['when']) => void,
): MemoryForge {
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

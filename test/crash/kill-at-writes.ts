/**
 * Ends a scenario at every write that it makes on the forge or in git, or leaves it without the answer, and starts it again: the same
 * refs, pull requests, comments and issues as when nobody disturbed it, and never two open pull requests for one unit.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { quarterOf } from '../seeds/crash-points.ts'
import {
  endOf,
  FATES,
  type Kill,
  remember,
  runToQuiet,
  type Scenario,
  type Scene,
  timeless,
} from './forge-killer.ts'

/** A test for each. */
export function describeKills(about: string, scenarios: readonly Scenario[]): void {
  describe(`killed at any write and restarted: ${about}`, () => {
    for (const scenario of scenarios) {
      test(scenario.name, async (t) => {
        assertSame(await disturb(t, scenario))
      })
    }
  })
}

function assertSame(wrong: readonly string[]): void {
  assert.equal(
    wrong.length,
    0,
    `${wrong.length} end in another way:\n${wrong.slice(0, 3).join('\n\n')}`,
  )
}

/** @returns one text for each disturbance that ended in another way */
async function disturb(t: TestContext, scenario: Scenario): Promise<readonly string[]> {
  const scene = await scenario.begin()
  scene.pass(1)
  const again = remember(scene)
  const run = async (
    kill?: Kill,
  ): Promise<{ writes: readonly string[]; end: unknown; isEnded: boolean }> => {
    again()
    const { writes, minutes, isEnded } = await runToQuiet(watched(scene), kill)
    const end = await endOf(scene)
    scene.pass(-minutes)
    return { writes, end, isEnded }
  }
  const { writes, end: wanted } = await run()
  const whole = writes.join('\n')
  for (const part of scenario.writes) assert.ok(whole.includes(part), `${part} in\n${whole}`)
  const wrong: string[] = []
  const compare = async (kill: Kill, where: string): Promise<void> => {
    try {
      const { end, isEnded } = await run(kill)
      if (isEnded) return
      if (kill.away === 0) assert.deepEqual(end, wanted)
      else assert.deepEqual(timeless(end), timeless(wanted))
    } catch (thrown) {
      wrong.push(
        `${where}\n${thrown instanceof Error ? thrown.message.slice(0, 3_000) : String(thrown)}`,
      )
    }
  }
  const kills = writes.flatMap((write, index): (readonly [kill: Kill, where: string])[] => {
    const at = index + 1
    return [
      ...FATES.map(
        (fate) =>
          [{ at, fate, away: 0 }, `${fate} write ${at} of ${writes.length}, ${write}`] as const,
      ),
      // Started again in the same minute everything is the same to the byte; later, all but times.
      [
        { at, fate: 'dies after', away: scenario.away ?? 3 },
        `dies after write ${at}, ${write}, and is away`,
      ],
    ]
  })
  t.diagnostic(`${writes.length} writes`)
  for (const [kill, where] of quarterOf(t, kills)) await compare(kill, where)
  await compare({ at: undefined, fate: 'dies after', away: 0 }, 'dies after each write')
  return wrong
}

/** Looks after each turn: what is wrong for a while is wrong too. */
function watched(scene: Scene): Scene {
  return {
    ...scene,
    turn: async () => {
      try {
        return await scene.turn()
      } finally {
        // A pull request without its branch is closed by the forge itself.
        const open = scene.forge.proposals.filter(
          ({ state, ref }) => state === 'open' && scene.repository.branches.has(ref),
        )
        const refs = open.map(({ ref }) => ref)
        assert.deepEqual(refs, [...new Set(refs)], 'two open pull requests from one branch')
      }
    },
  }
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, type FailureCode, type Retry } from '@backporch/kyaml/failure'
import { VirtualClock } from '../../test/fakes/virtual-clock.ts'
import { TurnLoop, type TurnLoopOptions } from './turn-loop.ts'

class Context {
  readonly clock = new VirtualClock()
  readonly begun: number[] = []
  readonly loop: TurnLoop
  readonly stopping = new AbortController()
  readonly ended: Promise<string>
  /** Turns that run now. */
  running = 0
  aborted = false

  /** `duration`: milliseconds of each turn, by its number from 0. */
  constructor(
    duration: (turn: number) => number = () => 100,
    fails?: (turn: number) => Failure | undefined,
    more: Partial<TurnLoopOptions> = {},
  ) {
    this.loop = new TurnLoop({
      clock: this.clock,
      random: () => 1,
      interval: 60_000,
      coalesce: 500,
      grace: 20_000,
      turn: async (signal) => {
        const number = this.begun.length
        this.begun.push(this.clock.elapsed)
        this.running += 1
        assert.equal(this.running, 1, 'one turn at a time')
        try {
          await this.clock.sleep(duration(number), signal)
          const failure = fails?.(number)
          if (failure !== undefined) throw failure
        } catch (thrown) {
          this.aborted = signal.aborted
          throw thrown
        } finally {
          this.running -= 1
        }
      },
      ...more,
    })
    this.ended = this.loop.run(this.stopping.signal)
  }
}

function failure(code: FailureCode, retry: Retry): Failure {
  return new Failure({ code, what: 'x', why: 'y', remedy: 'z', retry })
}

test('without requests a turn runs at once, then one interval after each end', async () => {
  const { clock, begun } = new Context()
  await clock.pass(200_000)
  assert.deepEqual(begun, [0, 60_100, 120_200, 180_300])
})

test('a request starts a turn after half a second, and requests meanwhile share it', async () => {
  const { clock, begun, loop } = new Context()
  for (const at of [10_000, 10_001, 10_300, 10_499]) clock.at(at, () => loop.request())
  await clock.pass(60_000)
  assert.deepEqual(begun, [0, 10_500])
})

test('endless requests delay no turn', async () => {
  const { clock, begun, loop } = new Context()
  for (let at = 1_000; at < 5_000; at += 50) clock.at(at, () => loop.request())
  await clock.pass(5_000)
  assert.deepEqual(begun, [0, 1_500, 2_050, 2_600, 3_150, 3_700, 4_250, 4_800])
})

test('requests during a turn lead to exactly one more turn', async () => {
  const { clock, begun, loop } = new Context((turn) => (turn === 0 ? 30_000 : 100))
  for (const at of [1, 5_000, 29_999]) clock.at(at, () => loop.request())
  await clock.pass(80_000)
  assert.deepEqual(begun, [0, 30_000])
})

test('a request shortly before the next poll is not a second turn', async () => {
  const { clock, begun, loop } = new Context()
  clock.at(60_000, () => loop.request())
  await clock.pass(62_000)
  assert.deepEqual(begun, [0, 60_100])
})

test('failing turns back off despite requests, and a success resets the wait', async () => {
  const { clock, begun, loop } = new Context(
    () => 0,
    (turn) => (turn < 3 ? failure('BP4001', 'backoff') : undefined),
  )
  for (let at = 10; at < 34_000; at += 333) clock.at(at, () => loop.request())
  await clock.pass(34_000)
  assert.deepEqual(begun, [0, 5_000, 15_000, 35_000].slice(0, 3))
  await clock.pass(100_000)
  assert.deepEqual(begun.slice(3), [35_000, 95_000])
})

test('wrong credentials are retried every five minutes, without end', async () => {
  const { clock, begun } = new Context(
    () => 0,
    () => failure('BP5002', 'on-change'),
  )
  await clock.pass(1_000_000)
  assert.deepEqual(begun, [0, 300_000, 600_000, 900_000])
})

test('a failure that needs a change is retried as soon as a webhook arrives', async () => {
  const { clock, begun, loop } = new Context(
    () => 0,
    (turn) => (turn === 0 ? failure('BP1005', 'on-change') : undefined),
  )
  clock.at(3_000, () => loop.request())
  await clock.pass(10_000)
  assert.deepEqual(begun, [0, 3_500])
})

test('a clock set back by an hour does not delay turns by an hour', async () => {
  const { clock, loop, begun } = new Context()
  await clock.pass(1_000)
  loop.request()
  clock.setBack = 3_600_000
  await clock.pass(120_000)
  assert.deepEqual(begun, [0, 1_500, 61_600])

  const failing = new Context(
    () => 0,
    () => failure('BP4001', 'backoff'),
  )
  await failing.clock.pass(1_000)
  failing.clock.setBack = 3_600_000
  failing.loop.request()
  await failing.clock.pass(10_000)
  assert.deepEqual(failing.begun, [0, 6_000])
})

test('a stop ends an idle loop at once and a busy one after its turn', async () => {
  const idle = new Context()
  await idle.clock.pass(1_000)
  idle.stopping.abort()
  assert.equal(await idle.ended, 'idle')

  const busy = new Context(() => 5_000)
  await busy.clock.pass(1_000)
  busy.stopping.abort()
  await busy.clock.pass(10_000)
  assert.equal(await busy.ended, 'finished')
  assert.equal(busy.aborted, false)
})

test('a turn over its grace is aborted, and one that ignores the abort is abandoned', async () => {
  const long = new Context(() => 500_000)
  await long.clock.pass(1_000)
  long.stopping.abort()
  await long.clock.pass(19_999)
  assert.equal(long.aborted, false)
  await long.clock.pass(1)
  assert.equal(await long.ended, 'aborted')
  assert.equal(long.aborted, true)

  const deaf = new Context(undefined, undefined, { turn: () => new Promise(() => undefined) })
  await deaf.clock.pass(1_000)
  deaf.stopping.abort()
  await deaf.clock.pass(25_000)
  assert.equal(await deaf.ended, 'aborted')
})

test('a loop stopped before its start runs no turn', async () => {
  const context = new Context(undefined, undefined, {})
  context.stopping.abort()
  const late = new TurnLoop({
    clock: context.clock,
    random: () => 0,
    interval: 1,
    coalesce: 1,
    grace: 1,
    turn: () => assert.fail('no turn'),
  })
  assert.equal(await late.run(AbortSignal.abort()), 'idle')
})

test('a stop ends a turn that waits for admission, and a late admission is released', async () => {
  const waiting = new Context(undefined, undefined, {
    admit: (signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject)),
  })
  await waiting.clock.pass(1_000)
  waiting.stopping.abort()
  assert.deepEqual([await waiting.ended, waiting.begun], ['idle', []])

  let given = 0
  const late = new Context(undefined, undefined, {
    admit: async () => {
      late.stopping.abort()
      return () => {
        given += 1
      }
    },
  })
  assert.deepEqual([await late.ended, late.begun, given], ['idle', [], 1])
})

test('a turn releases its place at its end, even when it fails', async () => {
  let [taken, given] = [0, 0]
  const admit = async (): Promise<() => void> => {
    taken += 1
    return () => {
      given += 1
    }
  }
  const { clock } = new Context(
    () => 100,
    (turn) => (turn === 0 ? failure('BP3001', 'backoff') : undefined),
    { admit },
  )
  await clock.pass(10_000)
  assert.deepEqual([taken, given], [2, 2])
})

/** Promise P27 of docs/reliability.md: whatever becomes of the webhooks, only when a turn sees something is another, never what is true at the end. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import {
  DeliveryWindow,
  type WebhookAnswer,
  WebhookIntake,
  WebhookReading,
} from '@backporch/forge/webhook'
import { VirtualClock } from '../../test/fakes/virtual-clock.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import { TurnLoop } from './turn-loop.ts'

const SECRET = 'what the forge knows'
const INTERVAL = 60_000

/** What people do, and what becomes of the webhook that tells of it. */
interface Happening {
  /** Milliseconds. */
  readonly at: number
  readonly deed: 'edit' | 'revert' | 'merge' | 'close'
  readonly value: number
  /** Delays of the deliveries of its webhook, in milliseconds: none for one that is lost, several for one that is repeated. */
  readonly delays: readonly number[]
  readonly spoiled: 'no' | 'forged' | 'other repository' | 'no JSON' | 'unknown event'
}

const happening: fc.Arbitrary<Happening> = fc.record({
  at: fc.nat(300_000),
  deed: fc.constantFrom('edit', 'revert', 'merge', 'close'),
  value: fc.nat(3),
  delays: fc.array(fc.nat(400_000), { maxLength: 3 }),
  spoiled: fc.constantFrom('no', 'no', 'forged', 'other repository', 'no JSON', 'unknown event'),
})

/** The world that a turn reads and writes: what runs, what git says, and what is asked of people. */
class Shop {
  live = 0
  git = 0
  declined: number | undefined
  /** The live value that an open proposal is about. */
  proposal: number | undefined

  do({ deed, value }: Happening): void {
    if (deed === 'edit') this.live = value
    if (deed === 'revert') this.live = this.git
    if (deed === 'merge' && this.proposal !== undefined) this.git = this.proposal
    if (deed === 'close') this.declined = this.proposal
    if (deed === 'merge' || deed === 'close') this.proposal = undefined
  }

  /** What a turn that read this would write. It looks at nothing else. */
  wanted(): number | undefined {
    return this.live === this.git || this.live === this.declined ? undefined : this.live
  }
}

interface Outcome {
  readonly turns: number
  readonly atOnce: number
  /** What the last turn left for people, and what it should be of what is true then. */
  readonly proposal: number | undefined
  readonly wanted: number | undefined
  /** Refs and values at the end, where nobody decides about proposals: the same whenever turns came. */
  readonly state: readonly unknown[]
}

/** `webhooks`: whether any of them arrives. */
async function run(
  happenings: readonly Happening[],
  webhooks: boolean,
  duration: number,
): Promise<Outcome> {
  const clock = new VirtualClock()
  const shop = new Shop()
  let [turns, running, atOnce] = [0, 0, 0]
  const turn = async (signal: AbortSignal): Promise<void> => {
    turns += 1
    running += 1
    atOnce = Math.max(atOnce, running)
    // Read first and write later: what happens between is for the next turn.
    const wanted = shop.wanted()
    await clock.sleep(duration, signal)
    shop.proposal = wanted
    running -= 1
  }
  const loop = new TurnLoop({
    clock,
    random: () => 0.5,
    interval: INTERVAL,
    coalesce: 500,
    grace: 0,
    turn,
  })
  const intake = new WebhookIntake({
    secrets: [SECRET],
    repository: 'acme/deploy',
    window: new DeliveryWindow(16),
  })
  for (const [number, one] of happenings.entries()) {
    clock.at(one.at, () => shop.do(one))
    if (!webhooks) continue
    for (const delay of one.delays) {
      clock.at(one.at + delay, () => {
        if (deliver(intake, one, number, clock.now().getTime()).updates === 'look') loop.request()
      })
    }
  }
  const stop = new AbortController()
  const ended = loop.run(stop.signal)
  await clock.pass(720_000 + 2 * (INTERVAL + duration))
  stop.abort()
  await clock.pass(duration)
  await ended
  return {
    turns,
    atOnce,
    proposal: shop.proposal,
    wanted: shop.wanted(),
    state: [shop.live, shop.git, shop.declined, shop.proposal],
  }
}

function deliver(
  intake: WebhookIntake,
  { spoiled }: Happening,
  number: number,
  now: number,
): WebhookAnswer {
  const repository = { full_name: spoiled === 'other repository' ? 'acme/other' : 'acme/deploy' }
  const body =
    spoiled === 'no JSON' ? '{' : JSON.stringify({ action: 'closed', number, repository })
  const secret = spoiled === 'forged' ? 'a guess' : SECRET
  const reading = intake.begin({
    'content-type': 'application/json',
    'x-github-event': spoiled === 'unknown event' ? 'sponsorship' : 'pull_request',
    'x-github-delivery': `id-${number}`,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  })
  assert.ok(reading instanceof WebhookReading)
  reading.add(Buffer.from(body))
  return reading.end(now)
}

const NOBODY_DECIDES = happening.filter(({ deed }) => deed === 'edit' || deed === 'revert')

test('lost, repeated, forged, foreign or reordered webhooks lead to the same state as polling', async () => {
  const property = fc.asyncProperty(
    fc.array(NOBODY_DECIDES, { maxLength: 12 }),
    fc.nat(30_000),
    async (happenings, duration) => {
      const reported = await run(happenings, true, duration)
      const polled = await run(happenings, false, duration)
      assert.deepEqual(reported.state, polled.state)
      assert.equal(reported.atOnce, 1)
    },
  )
  await fc.assert(property, { numRuns: 100 })
})

test('with human decisions in between, the final proposal is what a fresh turn would propose', async () => {
  const property = fc.asyncProperty(
    fc.array(happening, { maxLength: 12 }),
    fc.boolean(),
    fc.nat(30_000),
    async (happenings, reported, duration) => {
      const { proposal, wanted, atOnce } = await run(happenings, reported, duration)
      assert.equal(proposal, wanted)
      assert.equal(atOnce, 1)
    },
  )
  await fc.assert(property, { numRuns: 100 })
})

test('each valid delivery costs at most one turn, and rejected or repeated ones cost none', async () => {
  const property = fc.asyncProperty(fc.array(happening, { maxLength: 12 }), async (happenings) => {
    const good = happenings.filter(
      ({ spoiled, delays }) => spoiled === 'no' && delays.length > 0,
    ).length
    const [reported, polled] = [await run(happenings, true, 0), await run(happenings, false, 0)]
    assert.ok(
      reported.turns <= polled.turns + good,
      `${reported.turns} turns with webhooks, ${polled.turns} without, ${good} webhooks`,
    )
  })
  await fc.assert(property, { numRuns: 100 })
})

test('a webhook that arrives saves the wait for the next poll', async () => {
  const clock = new VirtualClock()
  const observed: number[] = []
  const turn = async (): Promise<void> => void observed.push(clock.elapsed)
  const loop = new TurnLoop({
    clock,
    random: () => 0,
    interval: INTERVAL,
    coalesce: 500,
    grace: 0,
    turn,
  })
  const intake = new WebhookIntake({
    secrets: [SECRET],
    repository: 'acme/deploy',
    window: new DeliveryWindow(),
  })
  const merged: Happening = { at: 10_000, deed: 'merge', value: 0, delays: [0], spoiled: 'no' }
  clock.at(10_000, () => {
    if (deliver(intake, merged, 1, clock.elapsed).updates === 'look') loop.request()
  })
  const stop = new AbortController()
  const ended = loop.run(stop.signal)
  await clock.pass(20_000)
  stop.abort()
  await ended
  assert.deepEqual(observed, [0, 10_500])
})

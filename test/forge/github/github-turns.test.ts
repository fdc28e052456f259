/**
 * Whole turns against GitHub where something goes wrong on the way: the turn says one clear thing, nothing is there twice, and the
 * next good turn brings the repository to where it would have been without the fault.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { convertToFailure, type FailureCode } from '@backporch/kyaml/failure'
import { quarterOf } from '../../seeds/crash-points.ts'
import type { Fault } from './github-emulator.ts'
import { BOT_TOKEN } from './github-fixture.ts'
import { GitHubWorld } from './github-world.ts'

const DOCUMENTED = { documentation_url: 'https://docs.github.com/rest' }
const LIMIT = {
  ...DOCUMENTED,
  message:
    'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
}

interface Trouble {
  readonly name: string
  /** What the turn may end with. */
  readonly codes: readonly FailureCode[]
  /** Some of its requests are told by other means, or are done again: then the turn ends well. */
  readonly mayPass?: boolean
  /** Which write it happens at, counted from 0. */
  begin(world: GitHubWorld, at: number): void
  /** Somebody puts it right. */
  end?(world: GitHubWorld): void
}

const at = (world: GitHubWorld, skip: number, fault: Omit<Fault, 'on' | 'skip'>): void =>
  void world.emulator.faults.push({ on: 'write', skip, ...fault })
const answering = (status: number, body: object, headers: Record<string, string> = {}) => ({
  answer: { status, headers, body },
})
const bad = { status: 502, text: '<h1>Bad gateway</h1>' }

/** Where a request may have been done although nobody said so. */
const DOUBTFUL: readonly Trouble[] = [
  {
    name: 'an answer is lost',
    codes: ['BP5001'],
    mayPass: true,
    begin: (world, skip) => at(world, skip, { moment: 'after' }),
  },
  {
    name: 'the connection is cut',
    codes: ['BP5001'],
    mayPass: true,
    begin: (world, skip) => at(world, skip, { moment: 'before' }),
  },
  {
    name: 'a 502 hides a completed write',
    codes: ['BP5005'],
    mayPass: true,
    begin: (world, skip) => at(world, skip, { moment: 'after', answer: bad }),
  },
]

const resetIn = ({ clock }: GitHubWorld, seconds: number): string =>
  String(Math.floor(clock.now().getTime() / 1000) + seconds)

/** What is refused for sure: tried at some writes. */
const REFUSALS: readonly Trouble[] = [
  {
    name: 'a 502 without a completed write',
    codes: ['BP5005'],
    begin: (world, skip) => at(world, skip, { moment: 'before', answer: bad }),
  },
  {
    name: 'a secondary limit with retry-after',
    codes: ['BP5004'],
    begin: (world, skip) =>
      at(world, skip, { moment: 'before', ...answering(403, LIMIT, { 'retry-after': '60' }) }),
  },
  {
    name: 'a secondary limit without it',
    codes: ['BP5004'],
    begin: (world, skip) => at(world, skip, { moment: 'before', ...answering(403, LIMIT) }),
  },
  {
    name: '429',
    codes: ['BP5004'],
    begin: (world, skip) => at(world, skip, { moment: 'before', ...answering(429, LIMIT) }),
  },
  {
    name: 'the primary limit is used up',
    codes: ['BP5004'],
    begin: (world, skip) =>
      at(world, skip, {
        moment: 'before',
        ...answering(
          403,
          { ...DOCUMENTED, message: 'API rate limit exceeded for user ID 1.' },
          {
            'x-ratelimit-limit': '5000',
            'x-ratelimit-remaining': '0',
            'x-ratelimit-reset': resetIn(world, 1800),
          },
        ),
      }),
    end: ({ clock }) => clock.pass(1_801_000),
  },
  {
    name: 'the token is revoked',
    codes: ['BP5002'],
    begin: (world, skip) =>
      at(world, skip, { moment: 'before', hold: async () => world.emulator.tokens.clear() }),
    end: ({ emulator }) => void emulator.tokens.set(BOT_TOKEN, 'backporch-bot'),
  },
  {
    name: 'the token loses a right',
    codes: ['BP5003'],
    mayPass: true,
    begin: (world, skip) =>
      at(world, skip, {
        moment: 'before',
        times: 1000,
        ...answering(403, {
          ...DOCUMENTED,
          message: 'Resource not accessible by personal access token',
        }),
      }),
  },
  {
    name: 'the repository is archived',
    codes: ['BP5003', 'BP5008'],
    mayPass: true,
    begin: (world, skip) =>
      at(world, skip, {
        moment: 'before',
        hold: async () => {
          world.emulator.state.archived = true
        },
      }),
    end: ({ emulator }) => {
      emulator.state.archived = false
    },
  },
  {
    name: 'the repository becomes hidden',
    codes: ['BP5003'],
    mayPass: true,
    begin: (world, skip) =>
      at(world, skip, {
        moment: 'before',
        hold: async () => {
          world.emulator.state.owner = 'somebody'
        },
      }),
    end: ({ emulator }) => {
      emulator.state.owner = 'acme'
    },
  },
]

/** The ground of each turn: three open pull requests, one of which a person then closes. */
async function begin(): Promise<GitHubWorld> {
  const world = new GitHubWorld()
  await world.start()
  world.edit(0, 'web', 'color', 'red')
  world.edit(1, 'db', 'color', 'red')
  world.edit(1, 'web', 'size', '7')
  await world.turn()
  const { state } = world.emulator
  const db = state.threads.find(({ pull }) => pull?.head.startsWith('proposed/apps/db/') === true)
  if (db !== undefined) state.setState(db, 'closed', 'wendy')
  world.pass()
  world.edit(0, 'web', 'size', '9')
  world.edit(0, 'api', 'size', '9')
  world.heal(1, 'web')
  return world
}

/** The turn in which it all happens: a comment on what was declined and on what healed, an update, a new pull request, the dashboard. */
async function undisturbed(): Promise<{
  readonly observed: unknown
  readonly writes: readonly string[]
}> {
  const world = await begin()
  try {
    const writes = (await world.writesOf(() => world.turn())).filter(
      (line) => !line.startsWith('push '),
    )
    assert.deepEqual(await world.writesOf(() => world.turn()), [], 'the same again writes nothing')
    assert.deepEqual(world.emulator.problems, [])
    return { observed: world.observed(), writes }
  } finally {
    await world.stop()
  }
}

async function disturbed(
  trouble: Trouble,
  skip: number,
  observed: unknown,
): Promise<'failed' | 'passed'> {
  const world = await begin()
  const where = `${trouble.name}, at write ${skip}`
  try {
    trouble.begin(world, skip)
    const thrown = await world.turn().then(
      () => undefined,
      (error: unknown) => convertToFailure(error),
    )
    if (thrown === undefined) assert.ok(trouble.mayPass, `${where}: nobody was told`)
    else {
      assert.ok(
        trouble.codes.includes(thrown.code),
        `${where}: ${thrown.code} ${thrown.what}: ${thrown.why}`,
      )
      assert.ok(thrown.remedy !== '' && !/canary/.test(JSON.stringify(thrown)), where)
    }
    world.assertNoDuplicates()
    trouble.end?.(world)
    world.emulator.faults.length = 0
    // Every other time by a new process.
    if (skip % 2 === 1) await world.restart()
    await world.turn()
    world.assertNoDuplicates()
    assert.deepEqual(world.observed(), observed, where)
    assert.deepEqual(
      await world.writesOf(() => world.turn()),
      [],
      `${where}: the same again writes nothing`,
    )
    assert.deepEqual(world.emulator.problems, [], where)
    return thrown === undefined ? 'passed' : 'failed'
  } finally {
    await world.stop()
  }
}

describe('a disturbed turn on GitHub', () => {
  let observed: unknown
  let writes: readonly string[] = []

  before(async () => {
    ;({ observed, writes } = await undisturbed())
  })
  after(() => assert.ok(writes.length >= 15, `the turn has ${writes.length} writes`))

  for (const [index, trouble] of DOUBTFUL.entries()) {
    it(`ends the same when ${trouble.name}, at any write`, async (t) => {
      // The lost answer at each of them; the others by turns.
      const points = [...writes.keys()].filter((skip) => index === 0 || skip % 2 === index - 1)
      for (const skip of quarterOf(t, points)) await disturbed(trouble, skip, observed)
    })
  }

  for (const trouble of REFUSALS) {
    it(`reports the refusal and ends the same afterwards: ${trouble.name}`, async () => {
      const kinds = [
        /^POST \S+\/comments /,
        /^POST \S+\/pulls /,
        /^PATCH \S+\/pulls\//,
        /^POST \S+\/statuses\//,
        /^PATCH \S+\/issues\//,
      ]
      for (const kind of kinds) {
        const skip = writes.findIndex((line) => kind.test(line))
        assert.ok(skip >= 0, String(kind))
        await disturbed(trouble, skip, observed)
      }
    })
  }
})

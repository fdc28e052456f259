/**
 * SIGKILL of the real program at every request that writes to a real Gitea, and at every push: before Gitea hears of it, and after Gitea
 * did it, one after the other. A scan later everything is as if nobody had disturbed it, with one pull request for the unit.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { quarterOf } from '../seeds/crash-points.ts'
import {
  type CrashFixture,
  type CrashWorld,
  type Ended,
  type Kill,
  openCrashFixture,
} from './crash-world.ts'
import { giteaSuite } from './gitea-suite.ts'

interface Scenario {
  readonly name: string
  /** The undisturbed past, and what then happened. */
  readonly begin: (world: CrashWorld) => Promise<void>
  /** What is killed. What is started after it is a scan. */
  readonly command: 'scan' | 'controller'
  /** Parts of what the undisturbed run has to write. */
  readonly writes: readonly string[]
  /** State of the pull requests in the end. */
  readonly pulls: readonly string[]
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'new drift: a pull request is opened',
    begin: async (world) => world.live('red', 'kubectl-edit'),
    command: 'scan',
    writes: ['push', 'POST /pulls', 'POST /labels', 'POST /statuses/', 'POST /issues'],
    pulls: ['open'],
  },
  {
    name: 'drift changes: the pull request is updated in place',
    begin: async (world) => {
      await opened(world)
      world.live('green', 'kubectl-edit')
    },
    command: 'controller',
    writes: ['push', 'PATCH /pulls/1', 'POST /statuses/'],
    pulls: ['open'],
  },
  {
    name: 'merged, and applied: verified',
    begin: async (world) => {
      await opened(world)
      await world.merge()
      world.live('blue', 'ci')
    },
    command: 'scan',
    writes: ['push', 'POST /statuses/'],
    pulls: ['closed merged'],
  },
  {
    name: '/adopt in a comment: the plan changes',
    begin: async (world) => {
      await opened(world)
      await world.send('POST', '/issues/1/comments', { body: '/adopt' })
    },
    command: 'controller',
    writes: ['push', 'POST /issues/comments/', 'POST /issues/1/comments', 'PATCH /pulls/1'],
    pulls: ['open'],
  },
]

await giteaSuite('the program is killed at any write', {}, (gitea) => {
  let fixture: CrashFixture
  before(async () => {
    fixture = await openCrashFixture(gitea)
  })
  after(() => fixture.close())

  for (const { name, begin, command, writes, pulls } of SCENARIOS) {
    test(name, async (t) => {
      const whole = await fixture.open()
      await begin(whole)
      const run = await whole.run('scan')
      assert.ok(isOver(run.code), run.stderr)
      const created = run.writes.join('\n')
      for (const part of writes) assert.ok(created.includes(part), `${part} in\n${created}`)
      const scans = await quiet(whole)
      const wanted = await whole.end()
      assert.deepEqual(statesOf(wanted), pulls)
      t.diagnostic(created.replaceAll('\n', ', '))
      const settled = async (world: CrashWorld, where: string): Promise<void> => {
        for (let scan = 0; scan < scans; scan += 1) {
          const again = await world.run('scan')
          assert.ok(isOver(again.code), `${where}: ${again.stderr}`)
        }
        assert.deepEqual(await world.end(), wanted, where)
      }
      const killedBefore = async (write: string): Promise<void> => {
        const world = await fixture.open()
        await begin(world)
        const killed = await world.run(command, (name) => (name === write ? 'before' : undefined))
        assert.equal(killed.signal, 'SIGKILL', `before ${write}: ${killed.stderr}`)
        await settled(world, `killed before ${write}`)
      }
      // To die before a write is to die after the one before it, but for what the cache on disk knows: tried where it knows least.
      const before = ['push', 'POST /pulls'].filter(
        (write) => run.writes.includes('POST /pulls') && run.writes.includes(write),
      )
      await Promise.all([
        killedAfterEach(await fixture.open(), settled),
        ...quarterOf(t, before).map(killedBefore),
      ])

      /** Each time the program comes one write further: as bad as it can be for what must be there once. */
      async function killedAfterEach(world: CrashWorld, ends: typeof settled): Promise<void> {
        await begin(world)
        const observed = new Set<string>()
        const killed: string[] = []
        while (killed.length < run.writes.length) {
          const { signal, stderr } = await world.run(command, (name, body) => {
            // The numbers of pull requests are in a push of their own.
            const write = `${name} ${name === 'push' ? (body.toString('latin1').match(/refs\/heads\/[^\0 ]+/g) ?? []).join() : body}`
            if (observed.has(write)) return undefined
            observed.add(write)
            killed.push(name)
            return 'after'
          })
          assert.equal(signal, 'SIGKILL', `after ${killed.join(', ')}: ${stderr}`)
        }
        assert.deepEqual(killed.map(kindOf), run.writes.map(kindOf))
        await ends(world, 'killed after each write')
      }
    })
  }

  test('of two controllers that open a pull request at once, one stays open and any other links to it', async () => {
    const world = await fixture.open()
    world.live('red', 'kubectl-edit')
    const gate = Promise.withResolvers<undefined>()
    let opening = 0
    const together: Kill = (write) => {
      if (write !== 'POST /pulls') return undefined
      opening += 1
      if (opening === 2) gate.resolve(undefined)
      return gate.promise
    }
    const both = await Promise.all([world.run('scan', together), world.run('scan', together)])
    for (const { code, stderr } of both) assert.ok(isOver(code), stderr)
    assert.equal(opening, 2)
    const pulls = await world.send<{ number: number; state: string }[]>('GET', '/pulls?state=all')
    const [first, ...others] = pulls.toSorted((left, right) => left.number - right.number)
    assert.equal(first?.state, 'open')
    // Gitea looks for another one and then inserts: it may refuse the second one, or take it.
    for (const { number, state } of others) {
      const comments = await world.send<{ body: string }[]>('GET', `/issues/${number}/comments`)
      assert.equal(state, 'closed')
      assert.match(
        comments.map(({ body }) => body).join('\n'),
        /^\[#1\]\(http[^)]+\) is the pull request of this branch/m,
      )
    }
  })

  for (const command of ['approve', 'reject'] as const) {
    test(`${command}: killed at any write and repeated, the decision is recorded once with its author`, async (t) => {
      const decided = async (kill?: {
        readonly at: number
        readonly when: 'before' | 'after'
      }): Promise<{ first: Ended; end: unknown }> => {
        const world = await fixture.open()
        await opened(world)
        const first = await world.run(
          command,
          kill && ((_name, _body, at) => (at === kill.at ? kill.when : undefined)),
        )
        if (kill !== undefined) {
          // Gitea closes the pull request of a branch that is gone, on a busy machine before we do: then that write is not sent.
          const isClosedByGitea =
            command === 'reject' && first.code === 0 && first.writes.length < kill.at
          assert.ok(first.signal === 'SIGKILL' || isClosedByGitea, first.stderr)
          const again = await world.run(command)
          // What was decided already is said as such, and nothing is decided twice.
          assert.ok(again.code === 0 || /BP2004/.test(again.stderr), again.stderr)
        }
        await quiet(world)
        // Who completes the decision of another run adds when it was seen, and the commit.
        return {
          first,
          end: JSON.parse(
            JSON.stringify(await world.end()).replaceAll(
              / {2}((?:seenAt|observedAt): \\"TIME\\"|commit: COMMIT)\\n/g,
              '',
            ),
          ),
        }
      }
      const { first, end: wanted } = await decided()
      assert.equal(first.code, 0, first.stderr)
      assert.match(JSON.stringify(wanted), /decidedBy: Ada/)
      t.diagnostic(first.writes.join(', '))
      const points = first.writes.flatMap((_, index) =>
        (['before', 'after'] as const).map((when) => ({ at: index + 1, when })),
      )
      for (const point of quarterOf(t, points)) {
        assert.deepEqual(
          (await decided(point)).end,
          wanted,
          `killed ${point.when} ${point.at} (${first.writes[point.at - 1]})`,
        )
      }
    })
  }
})

function isOver(code: number | null): boolean {
  return code === 0 || code === 1
}

async function opened(world: CrashWorld): Promise<void> {
  world.live('red', 'kubectl-edit')
  const { code, stderr } = await world.run('scan')
  assert.ok(isOver(code), stderr)
}

/** Scans until one writes nothing. @returns how many that takes, the one before it included */
async function quiet(world: CrashWorld): Promise<number> {
  for (let scans = 1; scans < 5; scans += 1)
    if ((await world.run('scan')).writes.length === 0) return scans
  return assert.fail('it writes again and again')
}

/** Without what differs from one repository to another. */
function kindOf(write: string): string {
  return write.replaceAll(/[0-9a-f]{40}|\d+/g, '…')
}

function statesOf(end: unknown): string[] {
  const { text } = end as {
    readonly text: readonly { readonly state: string; readonly merged?: boolean }[]
  }
  return text.flatMap(({ state, merged: isMerged }) =>
    isMerged === undefined ? [] : [isMerged ? `${state} merged` : state],
  )
}

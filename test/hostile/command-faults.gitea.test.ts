/**
 * The real program and the real Gitea behind a proxy that answers wrong at one request of the scan that answers a command: the command
 * waits, is done when that is over, and is never refused.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CrashFixture, type CrashWorld, openCrashFixture } from '../gitea/crash-world.ts'
import type { Fault } from '../gitea/faulty-proxy.ts'
import { giteaSuite } from '../gitea/gitea-suite.ts'
import { shareOf } from '../seeds/crash-points.ts'

const FAULTS: readonly { readonly name: string; readonly fault: Fault }[] = [
  { name: '403', fault: { kind: 'answer', status: 403, body: '{"message":"no"}' } },
  {
    name: 'a login page',
    fault: {
      kind: 'answer',
      status: 200,
      body: '<html>Please log in</html>',
      headers: { 'content-type': 'text/html' },
    },
  },
  { name: 'cut JSON', fault: { kind: 'half' } },
  {
    name: '301 to elsewhere',
    fault: {
      kind: 'answer',
      status: 301,
      headers: { location: 'https://elsewhere.invalid/login' },
    },
  },
]
const COMMANDS = ['/adopt', '/ignore 1 --for 30d -- known', '/snooze 7d'] as const
/** A push tries one of so many faults: each takes seconds. */
const PARTS = 24
const AT_ONCE = 3

await giteaSuite('a wrong answer at one request of a command', {}, (gitea) => {
  let fixture: CrashFixture
  before(async () => {
    fixture = await openCrashFixture(gitea)
  })
  after(() => fixture?.close())

  for (const command of COMMANDS) {
    test(command, async (t) => {
      const calm = await requested(fixture, command)
      const requests: string[] = []
      await calm.disturbed((request) => void requests.push(request))
      await quiet(calm)
      const wanted = await calm.end()
      assert.ok(requests.length > 10, requests.join())
      const faults = FAULTS.flatMap((fault) =>
        requests.map((request, index) => ({ ...fault, request, at: index + 1 })),
      )
      const points = shareOf(t, faults, PARTS)
      const wrong: string[] = []
      const next = points.values()
      const work = async (): Promise<void> => {
        for (const { name, fault, at, request } of next) {
          const world = await requested(fixture, command)
          let hit = ''
          const { stderr } = await world.disturbed((each, index) => {
            if (index !== at) return undefined
            hit = each
            return fault
          })
          try {
            assert.notEqual(hit, '', 'the request was made')
            assert.deepEqual(await refusals(world), [], stderr)
            await quiet(world)
            assert.deepEqual(await world.end(), wanted)
          } catch (thrown) {
            wrong.push(
              `${name} at ${at} (${request}): ${thrown instanceof Error ? thrown.message.slice(0, 900) : String(thrown)}`,
            )
          }
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      assert.equal(
        wrong.length,
        0,
        `${wrong.length} of ${points.length} end wrong:\n${wrong.slice(0, 5).join('\n\n')}`,
      )
    })
  }
})

/** A pull request is open, and somebody wrote the command. */
async function requested(fixture: CrashFixture, command: string): Promise<CrashWorld> {
  const world = await fixture.open()
  world.live('red', 'kubectl-edit')
  const { code, stderr } = await world.run('scan')
  assert.ok(code === 0 || code === 1, stderr)
  await world.send('POST', '/issues/1/comments', { body: command })
  return world
}

/** What was said that means "no". */
async function refusals(world: CrashWorld): Promise<readonly string[]> {
  const comments = await world.send<{ id: number; body: string }[]>('GET', '/issues/1/comments')
  const reactions = await Promise.all(
    comments.map(({ id }) =>
      world.send<{ content: string }[] | null>('GET', `/issues/comments/${id}/reactions`),
    ),
  )
  return [
    ...reactions.flatMap((list) =>
      (list ?? []).flatMap(({ content }) => (content === 'confused' ? [content] : [])),
    ),
    ...comments.flatMap(({ body }) => (/not done|refused|cannot/i.test(body) ? [body] : [])),
  ]
}

async function quiet(world: CrashWorld): Promise<void> {
  for (let scans = 0; scans < 6; scans += 1)
    if ((await world.run('scan')).writes.length === 0) return
  assert.fail('it writes again and again')
}

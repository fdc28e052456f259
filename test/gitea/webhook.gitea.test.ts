/** What a real Gitea sends is taken by the webhook server, and a turn follows: each thing that people do on a pull request. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  DeliveryWindow,
  startWebhookServer,
  type WebhookHeaders,
  WebhookIntake,
} from '@backporch/forge/webhook'
import type { Listening } from '@backporch/system/listen'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { TurnLoop } from '../../src/controller/turn-loop.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import type { GiteaUser } from './gitea.ts'
import { giteaSuite } from './gitea-suite.ts'

const SECRET = 'what Gitea and we know'
const EVENTS = [
  'push',
  'pull_request',
  'pull_request_comment',
  'pull_request_review',
  'issue_comment',
  'issues',
]

/** Keeps which events come. */
class HeardIntake extends WebhookIntake {
  readonly heard: string[] = []

  override begin(headers: WebhookHeaders): ReturnType<WebhookIntake['begin']> {
    this.heard.push(String(headers['x-gitea-event-type']))
    return super.begin(headers)
  }
}

/** A webhook server with turns behind it that do nothing but count. */
class Receiver {
  /** For each turn, how many events were heard before it. */
  readonly turns: number[] = []
  readonly refused: string[] = []
  private readonly stop = new AbortController()
  private readonly intake: HeardIntake
  private readonly server: Listening
  private readonly loop: Promise<unknown>

  private constructor(intake: HeardIntake, server: Listening, loop: TurnLoop) {
    this.intake = intake
    this.server = server
    this.loop = loop.run(this.stop.signal)
  }

  static async open(repository: string): Promise<Receiver> {
    const holder: { receiver?: Receiver } = {}
    const turn = async (): Promise<void> => void holder.receiver?.turns.push(intake.heard.length)
    // Nothing but a webhook brings a turn: the interval is longer than the test.
    const loop = new TurnLoop({
      clock: systemClock,
      random: () => 0,
      interval: 3_600_000,
      coalesce: 50,
      grace: 0,
      turn,
    })
    const intake = new HeardIntake({
      secrets: ['a later secret', SECRET],
      repository,
      window: new DeliveryWindow(),
    })
    const server = await startWebhookServer({
      host: '127.0.0.1',
      port: 0,
      intake,
      clock: systemClock,
      onUpdate: () => loop.request(),
      onRefused: (why) => void holder.receiver?.refused.push(why),
    })
    holder.receiver = new Receiver(intake, server, loop)
    return holder.receiver
  }

  get url(): string {
    return this.server.url
  }

  /** Does something, and waits for the turn or the refusal that comes of its event. */
  async after(event: string, deed: () => Promise<unknown>): Promise<void> {
    const { heard } = this.intake
    const [before, refused] = [heard.length, this.refused.length]
    await deed()
    const isOver = (): boolean => {
      const at = heard.indexOf(event, before)
      return at !== -1 && ((this.turns.at(-1) ?? 0) > at || this.refused.length > refused)
    }
    await waitUntil(`a turn or a refusal after ${event}`, isOver, {
      describe: () => `heard: ${heard.slice(before).join(' ')}`,
    })
  }

  async close(): Promise<void> {
    this.stop.abort()
    await this.loop
    await this.server.close()
  }
}

await giteaSuite('webhooks of a real Gitea', {}, (gitea) => {
  let ann: GiteaUser
  let receiver: Receiver
  let path: string

  before(async () => {
    ann = await gitea.createUser(gitea.uniqueName('ann'))
    await gitea.createRepository(ann, 'Shop', { files: { a: '1' } })
    path = `/repos/${ann.name}/Shop`
    // As somebody wrote it in the remote: forges do not tell cases apart.
    receiver = await Receiver.open(`${ann.name.toUpperCase()}/shop`)
    await gitea.createWebhook(ann, ann.name, 'Shop', {
      url: receiver.url,
      secret: SECRET,
      events: EVENTS,
    })
  })
  after(() => receiver.close())

  const ask = async (method: string, below: string, body?: unknown): Promise<unknown> => {
    const answer = await gitea.request(ann.token, method, `${path}${below}`, body)
    assert.ok(
      answer.status < 300,
      `${method} ${below}: ${answer.status} ${JSON.stringify(answer.body)}`,
    )
    return answer.body
  }
  const commit = (branch: string, file: string, onto = 'main'): Promise<unknown> =>
    ask('POST', '/contents', {
      branch: onto,
      ...(onto === branch ? {} : { new_branch: branch }),
      message: `add ${file}`,
      files: [{ operation: 'create', path: file, content: '' }],
    })

  test('each event of a push, pull request, comment, review, edit, close and merge starts a turn', async () => {
    const before = receiver.turns.length
    let number = 0
    const pull = async (): Promise<void> => {
      const created = (await ask('POST', '/pulls', {
        head: 'proposed/one',
        base: 'main',
        title: 'one',
      })) as { number: number }
      number = created.number
    }
    const deeds: readonly (readonly [string, string, () => Promise<unknown>])[] = [
      ['push', 'push', () => commit('proposed/one', 'b')],
      ['open', 'pull_request', pull],
      [
        'comment',
        'pull_request_comment',
        () => ask('POST', `/issues/${number}/comments`, { body: '/drift adopt 1' }),
      ],
      ['push to its branch', 'push', () => commit('proposed/one', 'c', 'proposed/one')],
      ['edit', 'pull_request', () => ask('PATCH', `/pulls/${number}`, { body: '- [x] Restore' })],
      [
        'review',
        'pull_request_review_comment',
        () => ask('POST', `/pulls/${number}/reviews`, { event: 'COMMENT', body: 'well' }),
      ],
      ['close', 'pull_request', () => ask('PATCH', `/pulls/${number}`, { state: 'closed' })],
      ['reopen', 'pull_request', () => ask('PATCH', `/pulls/${number}`, { state: 'open' })],
      [
        'merge',
        'pull_request',
        () => gitea.mergePull(ann, ann.name, 'Shop', number, { Do: 'squash' }),
      ],
    ]
    for (const [name, event, deed] of deeds) {
      await receiver
        .after(event, deed)
        .catch((thrown: unknown) => assert.fail(`${name}: ${String(thrown)}`))
    }
    assert.ok(receiver.turns.length >= before + deeds.length)
    assert.deepEqual(receiver.refused, [])
  })

  test('refuses a delivery with a wrong signature, and starts no turn for another repository', async (t) => {
    // Of its own: deliveries of the test before may come late.
    const own = await Receiver.open(`${ann.name}/shop`)
    t.after(() => own.close())
    const other = gitea.uniqueName('other')
    await gitea.createRepository(ann, other, { files: { a: '1' } })
    await gitea.createWebhook(ann, ann.name, other, {
      url: own.url,
      secret: SECRET,
      events: ['push'],
    })
    await gitea.createRepository(ann, `${other}-b`, { files: { a: '1' } })
    await gitea.createWebhook(ann, ann.name, `${other}-b`, {
      url: own.url,
      secret: 'a guess',
      events: ['push'],
    })
    const push = (name: string): Promise<unknown> =>
      gitea.request(ann.token, 'POST', `/repos/${ann.name}/${name}/contents`, {
        branch: 'main',
        message: 'x',
        files: [{ operation: 'create', path: 'x', content: '' }],
      })
    await push(other)
    await own.after('push', () => push(`${other}-b`))
    // Gitea may also tell of the push that made the repository.
    assert.ok(own.refused.length > 0)
    for (const why of own.refused) assert.match(why, /not that of the body with the secret/)
    // The first turn comes of the start.
    assert.deepEqual(
      own.turns.filter((heard) => heard > 0),
      [],
    )
  })
})

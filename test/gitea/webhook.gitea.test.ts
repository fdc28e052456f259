/** What a real Gitea sends is taken by the webhook server, and a turn follows: each thing that people do on a pull request. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { WebhookIntake } from '../../src/adapters/forge/webhook-intake.ts'
import { startWebhookServer } from '../../src/adapters/forge/webhook-server.ts'
import { DeliveryWindow } from '../../src/adapters/forge/webhook-window.ts'
import type { Listening } from '../../src/adapters/system/listen.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { TurnLoop } from '../../src/controller/turn-loop.ts'
import type { GiteaUser } from './gitea.ts'
import { giteaSuite } from './gitea-suite.ts'

const SECRET = 'what Gitea and we know'
const EVENTS = ['push', 'pull_request', 'pull_request_comment', 'pull_request_review', 'issue_comment', 'issues']
const PATIENCE = 10_000
const QUIET = 500

/** A webhook server with turns behind it that do nothing but count. */
class Receiver {
  turns = 0
  readonly refused: string[] = []
  private readonly stop = new AbortController()
  private readonly server: Listening
  private readonly loop: Promise<unknown>
  private waiting: (() => void) | undefined

  private constructor(server: Listening, loop: TurnLoop) {
    this.server = server
    this.loop = loop.run(this.stop.signal)
  }

  static async open(repository: string): Promise<Receiver> {
    const holder: { receiver?: Receiver } = {}
    const turn = async (): Promise<void> => holder.receiver?.turned()
    // Nothing but a webhook brings a turn: the interval is longer than the test.
    const loop = new TurnLoop({ clock: systemClock, random: () => 0, interval: 3_600_000, coalesce: 50, grace: 0, turn })
    const intake = new WebhookIntake({ secrets: ['a later secret', SECRET], repository, window: new DeliveryWindow() })
    const server = await startWebhookServer({
      host: '127.0.0.1',
      port: 0,
      intake,
      clock: systemClock,
      onUpdate: () => loop.request(),
      onRefused: (why) => holder.receiver?.turnedAway(why),
    })
    holder.receiver = new Receiver(server, loop)
    return holder.receiver
  }

  get url(): string {
    return this.server.url
  }

  /** Does something, and waits for the turn or refusal that comes of it. One deed may have several webhooks: they are waited out. */
  async after(deed: () => Promise<unknown>): Promise<void> {
    let late: NodeJS.Timeout | undefined
    const next = new Promise<void>((resolve, reject) => {
      this.waiting = resolve
      late = setTimeout(() => reject(new Error('neither a turn nor a refusal')), PATIENCE)
    })
    await deed()
    await next
    clearTimeout(late)
    await wait(QUIET)
  }

  async close(): Promise<void> {
    this.stop.abort()
    await this.loop
    await this.server.close()
  }

  private turned(): void {
    this.turns += 1
    this.waiting?.()
  }

  private turnedAway(why: string): void {
    this.refused.push(why)
    this.waiting?.()
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
    await gitea.createWebhook(ann, ann.name, 'Shop', { url: receiver.url, secret: SECRET, events: EVENTS })
  })
  after(() => receiver.close())

  const ask = async (method: string, below: string, body?: unknown): Promise<unknown> => {
    const answer = await gitea.request(ann.token, method, `${path}${below}`, body)
    assert.ok(answer.status < 300, `${method} ${below}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const commit = (branch: string, file: string, onto = 'main'): Promise<unknown> =>
    ask('POST', '/contents', {
      branch: onto,
      ...(onto === branch ? {} : { new_branch: branch }),
      message: `add ${file}`,
      files: [{ operation: 'create', path: file, content: '' }],
    })

  test('a push, a pull request, a comment, a review, an edit, a close and a merge each bring a turn, and nothing is refused', async () => {
    const { turns } = receiver
    let number = 0
    const pull = async (): Promise<void> => {
      const created = (await ask('POST', '/pulls', { head: 'proposed/one', base: 'main', title: 'one' })) as { number: number }
      number = created.number
    }
    const deeds: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['push', () => commit('proposed/one', 'b')],
      ['open', pull],
      ['comment', () => ask('POST', `/issues/${number}/comments`, { body: '/drift adopt 1' })],
      ['push to its branch', () => commit('proposed/one', 'c', 'proposed/one')],
      ['edit', () => ask('PATCH', `/pulls/${number}`, { body: '- [x] Restore' })],
      ['review', () => ask('POST', `/pulls/${number}/reviews`, { event: 'COMMENT', body: 'well' })],
      ['close', () => ask('PATCH', `/pulls/${number}`, { state: 'closed' })],
      ['reopen', () => ask('PATCH', `/pulls/${number}`, { state: 'open' })],
      ['merge', () => gitea.mergePull(ann, ann.name, 'Shop', number, { Do: 'squash' })],
    ]
    for (const [name, deed] of deeds) {
      await receiver.after(deed).catch((thrown: unknown) => assert.fail(`${name}: ${String(thrown)}`))
    }
    assert.ok(receiver.turns >= turns + deeds.length)
    assert.deepEqual(receiver.refused, [])
  })

  test('one that is signed with another secret is refused, and one of another repository brings no turn', async () => {
    const other = gitea.uniqueName('other')
    await gitea.createRepository(ann, other, { files: { a: '1' } })
    await gitea.createWebhook(ann, ann.name, other, { url: receiver.url, secret: SECRET, events: ['push'] })
    await gitea.createRepository(ann, `${other}-b`, { files: { a: '1' } })
    await gitea.createWebhook(ann, ann.name, `${other}-b`, { url: receiver.url, secret: 'a guess', events: ['push'] })
    const { turns } = receiver
    const push = (name: string): Promise<unknown> =>
      gitea.request(ann.token, 'POST', `/repos/${ann.name}/${name}/contents`, {
        branch: 'main',
        message: 'x',
        files: [{ operation: 'create', path: 'x', content: '' }],
      })
    await push(other)
    await receiver.after(() => push(`${other}-b`))
    // Gitea may also tell of the push that made the repository.
    assert.ok(receiver.refused.length > 0)
    for (const why of receiver.refused) assert.match(why, /not that of the body with the secret/)
    assert.equal(receiver.turns, turns)
  })
})

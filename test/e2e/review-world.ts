/**
 * A person's machine, a real cluster and a real Gitea: the repository stands on Gitea, behind a proxy that counts, and `World.repository` is
 * a mirror of it that tests look at with git alone.
 */
import assert from 'node:assert/strict'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { isApiWrite, isPush } from '../gitea/faulty-proxy.ts'
import type { Gitea } from '../gitea/gitea.ts'
import { createGiteaFixture, type GiteaFixture } from '../gitea/gitea-fixture.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import type { ProgramRun } from './run-program.ts'
import { type Files, type Lifetime, openWorld, type World } from './world.ts'

/** As Gitea tells it; only what is looked at. */
export interface ObservedPull {
  readonly number: number
  readonly title: string
  readonly body: string
  readonly state: 'open' | 'closed'
  readonly merged: boolean
  readonly labels: readonly { readonly name: string }[]
  readonly head: { readonly label: string; readonly sha: string }
}

/** Proposes at once, however young the difference is, and as often as a test wants. */
export const PROPOSE =
  'mode: Propose\ndetect: {minAge: 0s, settle: 0s}\nlimits: {prHourlyLimit: 0, digest: off}'

export type MergeStyle = 'merge' | 'rebase' | 'rebase-merge' | 'squash' | 'fast-forward-only'

export async function openReviewWorld(
  t: Lifetime,
  plane: ControlPlane,
  gitea: Gitea,
  files: Files,
): Promise<ReviewWorld> {
  const fixture = await createGiteaFixture(gitea)
  t.after(() => fixture.close())
  const review = new ReviewWorld(fixture, await openWorld(t, plane, files))
  await review.git('push', '--quiet', '--force', review.address, 'main')
  return review
}

export class ReviewWorld {
  readonly fixture: GiteaFixture
  readonly world: World
  /** More arguments of every call: `--forge gitea` where the forge shall not be asked for. */
  forge: readonly string[] = []
  /** Of the repository, past the proxy. */
  readonly address: string

  constructor(fixture: GiteaFixture, world: World) {
    this.fixture = fixture
    this.world = world
    this.address = `${fixture.gitea.url}/${fixture.owner.name}/${fixture.name}.git`
  }

  /** Makes the mirror what Gitea has. */
  async observe(): Promise<void> {
    await this.git(
      'fetch',
      '--quiet',
      '--prune',
      '--force',
      this.address,
      '+refs/heads/*:refs/heads/*',
      '+refs/tags/*:refs/tags/*',
    )
  }

  /** A commit of a person on main. */
  async commit(files: Readonly<Record<string, string | null>>, message: string): Promise<void> {
    await this.observe()
    await this.world.git('fetch', '--quiet', '--prune', 'origin')
    await this.world.git('reset', '--quiet', '--hard', 'origin/main')
    await this.world.commit(files, message)
    await this.git('push', '--quiet', this.address, 'main')
  }

  /** git in the mirror, with the rights of a person who may write. */
  async git(...args: readonly string[]): Promise<void> {
    await this.fixture.gitea.git(this.fixture.writer, args, { directory: this.world.repository })
  }

  /** backporch in the checkout, on the repository on Gitea, with the bot's token in the environment. */
  async backporch(...args: readonly string[]): Promise<ProgramRun> {
    const { remote, bot } = this.fixture
    const run = await this.world.backporchIn(
      this.world.checkout,
      { GITEA_TOKEN: bot.token },
      ...args,
      ...this.forge,
      '--repo',
      remote,
    )
    assert.doesNotMatch(
      run.stdout + run.stderr,
      new RegExp(bot.token),
      'the token is never printed',
    )
    await this.observe()
    return run
  }

  /** The syncer applies what main says. */
  async sync(): Promise<void> {
    await this.observe()
    await this.world.sync('apps/web')
  }

  /** Oldest first. */
  async pulls(): Promise<readonly ObservedPull[]> {
    const { gitea, path, writer } = this.fixture
    const { body } = await gitea.request<readonly ObservedPull[]>(
      writer.token,
      'GET',
      `${path}/pulls?state=all&limit=50`,
    )
    return body.toSorted((left, right) => left.number - right.number)
  }

  async onlyOpen(): Promise<ObservedPull> {
    const [pull, ...more] = (await this.pulls()).filter(({ state }) => state === 'open')
    if (pull === undefined || more.length > 0)
      assert.fail(`open: ${[pull, ...more].map((one) => one?.head.label).join(' ')}`)
    return pull
  }

  /** Gitea ends a pull request some time after the push that ends it. */
  closed(number: number): Promise<ObservedPull> {
    return waitUntil(`#${number} is closed`, async () =>
      (await this.pulls()).find((one) => one.number === number && one.state === 'closed'),
    )
  }

  /** Latest state by context. */
  async statuses(commit: string): Promise<ReadonlyMap<string, string>> {
    const { gitea, path, writer } = this.fixture
    type Status = { readonly id: number; readonly context: string; readonly status: string }
    const { body } = await gitea.request<readonly Status[]>(
      writer.token,
      'GET',
      `${path}/commits/${commit}/statuses?limit=50`,
    )
    return new Map(
      body
        .toSorted((left, right) => left.id - right.id)
        .map(({ context, status }) => [context, status]),
    )
  }

  async comments(number: number): Promise<readonly string[]> {
    const { gitea, path, writer } = this.fixture
    const { body } = await gitea.request<readonly { body: string }[]>(
      writer.token,
      'GET',
      `${path}/issues/${number}/comments`,
    )
    return body.map((comment) => comment.body)
  }

  async mergeByHand(number: number, style: MergeStyle): Promise<void> {
    const { gitea, owner, name, writer } = this.fixture
    const { status, body } = await gitea.mergePull(writer, owner.name, name, number, { Do: style })
    assert.equal(status, 200, JSON.stringify(body))
    await this.observe()
  }

  /** Runs the work. @returns how many requests that change something it sent to the API, and how many pushes */
  async writesOf(
    work: () => Promise<unknown>,
  ): Promise<{ readonly api: number; readonly pushes: number }> {
    const { requests } = this.fixture.proxy
    const from = requests.length
    await work()
    const sent = requests.slice(from)
    return { api: sent.filter(isApiWrite).length, pushes: sent.filter(isPush).length }
  }
}

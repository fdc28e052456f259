/** The real Gitea with one repository, accounts of every right, and the adapter opened on it through a proxy that counts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RequestGovernor } from '@backporch/forge/adapter'
import { parseForgeAddress } from '@backporch/forge/forges'
import { createGiteaForge, GiteaClient } from '@backporch/forge/gitea'
import type { HostedForge } from '@backporch/forge/hosted-forge'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { openRepository } from '@backporch/git-store/repository'
import type { Clock } from '@backporch/system/clock'
import { Agent } from 'undici'
import type { HumanHand } from '../forge/forge-fixture.ts'
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts'
import type { Gitea, GiteaUser } from './gitea.ts'

/** Sleeps for no time, so that a retry costs a test nothing; what was slept is kept. */
export class HastyClock implements Clock {
  readonly slept: number[] = []
  /** Where set, its time stands still. */
  stopped: Date | undefined

  now(): Date {
    return this.stopped ?? new Date()
  }

  async sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    this.slept.push(milliseconds)
    await new Promise((resolve) => setTimeout(resolve, Math.min(milliseconds, 50)))
  }
}

export interface GiteaFixture {
  readonly gitea: Gitea
  readonly proxy: FaultyProxy
  readonly clock: HastyClock
  readonly owner: GiteaUser
  /** Whose token the adapter has: administrator of the repository, or Gitea tells nobody's permission. */
  readonly bot: GiteaUser
  readonly writer: GiteaUser
  readonly reader: GiteaUser
  /** `/repos/<owner>/<name>` */
  readonly path: string
  /** What the repository is called now. */
  readonly name: string
  /** Of the repository, through the proxy, without credentials. */
  readonly remote: string
  readonly repository: PackageRepository
  readonly human: HumanHand
  /** What the forge told people that is no failure. */
  readonly told: readonly string[]
  /** As a new process would open it. @param token the bot's otherwise @param silence see `GiteaClientOptions` */
  openForge(token?: string, silence?: number): HostedForge
  openDryRunForge(): HostedForge
  openRepository(token?: string): PackageRepository
  close(): Promise<void>
}

export interface FixtureOptions {
  readonly private?: boolean
  readonly files?: Readonly<Record<string, string>>
}

export async function createGiteaFixture(
  gitea: Gitea,
  options: FixtureOptions = {},
): Promise<GiteaFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-gitea-ground-'))
  const user = (name: string): Promise<GiteaUser> => gitea.createUser(gitea.uniqueName(name))
  const [owner, bot, writer, reader] = [
    await user('ann'),
    await user('bot'),
    await user('wendy'),
    await user('rita'),
  ]
  const files = options.files ?? {
    'apps/web/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n',
  }
  const { name } = await gitea.createRepository(owner, 'deploy', {
    files,
    private: options.private ?? false,
  })
  const path = `/repos/${owner.name}/${name}`
  for (const [person, permission] of [
    [bot, 'admin'],
    [writer, 'write'],
    [reader, 'read'],
  ] as const) {
    const { status } = await gitea.request(
      owner.token,
      'PUT',
      `${path}/collaborators/${person.name}`,
      { permission },
    )
    if (status !== 204) throw new Error(`${person.name} cannot be let in: ${status}`)
  }
  const proxy = await startFaultyProxy(gitea.url)
  const clock = new HastyClock()
  const dispatcher = new Agent({ connections: 8 })
  const remote = `${proxy.url}/${owner.name}/${name}.git`
  const address = parseForgeAddress(remote)
  if (address === undefined) throw new Error('no address')
  const openOne = (token = bot.token): PackageRepository =>
    openRepository({
      remote,
      token,
      cacheDir: join(folder, 'cache'),
      workingDirectory: folder,
      environment: {},
      baseBranch: 'main',
    })
  const repository = openOne()
  const told: string[] = []
  const note = (text: string): void => void told.push(text)
  const openWith = ({
    token,
    silence,
    dryRun,
  }: {
    token: string
    silence: number
    dryRun: boolean
  }): HostedForge => {
    const limits = { longestWait: 0, writesPerMinute: 10_000, writesPerHour: 10_000 }
    const governor = new RequestGovernor({ forge: 'Gitea', clock, ...limits, dryRun })
    const client = new GiteaClient({
      address,
      token,
      dispatcher,
      governor,
      clock,
      silence,
      userAgent: 'backporch/0.0.0-test',
      note,
    })
    return createGiteaForge(client, repository, clock)
  }
  return {
    gitea,
    proxy,
    clock,
    owner,
    bot,
    writer,
    reader,
    path,
    name,
    remote,
    repository,
    human: handOf(gitea, writer, path),
    told,
    openForge: (token = bot.token, silence = 30_000) => openWith({ token, silence, dryRun: false }),
    openDryRunForge: () => openWith({ token: bot.token, silence: 30_000, dryRun: true }),
    openRepository: openOne,
    close: async () => {
      await dispatcher.destroy()
      await proxy.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A browser's person, past the proxy. Waits where Gitea still looks at what was pushed. */
export function handOf(gitea: Gitea, who: GiteaUser, path: string): HumanHand {
  const send = async <Body>(method: string, below: string, body?: unknown): Promise<Body> => {
    const answer = await gitea.request<Body>(who.token, method, `${path}${below}`, body)
    if (answer.status >= 300)
      throw new Error(`${method} ${below} answers ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  return {
    comment: async (number, body) =>
      String((await send<{ id: number }>('POST', `/issues/${number}/comments`, { body })).id),
    editComment: async (id, body) => void (await send('PATCH', `/issues/comments/${id}`, { body })),
    merge: async (number, style) => {
      const [, , owner = '', name = ''] = path.split('/')
      const { status, body } = await gitea.mergePull(who, owner, name, number, { Do: style })
      if (status !== 200)
        throw new Error(`merging #${number} answers ${status}: ${JSON.stringify(body)}`)
    },
    close: async (number) => void (await send('PATCH', `/issues/${number}`, { state: 'closed' })),
    reopen: async (number) => void (await send('PATCH', `/issues/${number}`, { state: 'open' })),
    editBody: async (number, body) => void (await send('PATCH', `/issues/${number}`, { body })),
    renameBranch: async (_number, before, after) =>
      void (await send(
        'PATCH',
        `/branches/${before.split('/').map(encodeURIComponent).join('/')}`,
        { name: after },
      )),
    retarget: async (number, base) => {
      const { status } = await gitea.request(who.token, 'POST', `${path}/branches`, {
        new_branch_name: base,
        old_branch_name: 'main',
      })
      if (status !== 201 && status !== 409) throw new Error(`making ${base} answers ${status}`)
      await send('PATCH', `/pulls/${number}`, { base })
    },
    openMilestone: async (title) => {
      await send('POST', '/milestones', { title })
    },
    filedAs: async (number) => {
      const issue = await send<{
        assignees: { login: string }[] | null
        milestone: { title: string } | null
      }>('GET', `/issues/${number}`)
      return {
        assignees: (issue.assignees ?? []).map(({ login }) => login),
        milestone: issue.milestone?.title,
      }
    },
    addLabel: async (number, name) => {
      const { id } = await send<{ id: number }>('POST', '/labels', { name, color: '#ededed' })
      await send('POST', `/issues/${number}/labels`, { labels: [id] })
    },
  }
}

/** The emulated GitHub with a bare repository and accounts, ready to be used. */
import type { RequestGovernor } from '@backporch/forge/adapter'
import {
  createGitHubGovernor,
  type GitHubAddress,
  type GitHubCredential,
  type OpenedGitHub,
  openGitHub,
  parseGitHubAddress,
} from '@backporch/forge/github'
import type { HostedForge } from '@backporch/forge/hosted-forge'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import type { Clock } from '@backporch/system/clock'
import type { Trace } from '@backporch/system/trace'
import {
  gitTestEnvironment,
  makeTestRepository,
  openTestRepository,
  type TestRepository,
} from '../../contract/git-remotes.ts'
import type { HumanHand } from '../forge-fixture.ts'
import { EmulatedGit } from './emulated-git.ts'
import { GitHubEmulator } from './github-emulator.ts'

export const BOT_TOKEN = 'ghp_canary0000000000000000000000000000'
export const BOT_LOGIN = 'backporch-bot'
/** Of an App, as a plain token. */
export const INSTALLATION_TOKEN = 'ghs_canary0000000000000000000000000000'

/** Time that only passes when somebody sleeps, or moves it. */
export class TestClock implements Clock {
  readonly slept: number[] = []
  #at = Date.UTC(2026, 8, 1, 12)

  now(): Date {
    return new Date(this.#at)
  }

  async sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    this.slept.push(milliseconds)
    this.#at += milliseconds
  }

  pass(milliseconds: number): void {
    this.#at += milliseconds
  }
}

export interface OpenOptions {
  readonly credential?: GitHubCredential
  readonly governor?: RequestGovernor
  readonly notice?: (text: string) => void
  readonly trace?: Trace
  readonly repository?: PackageRepository
  readonly address?: GitHubAddress
  readonly clock?: Clock
}

export interface GitHubFixture {
  readonly emulator: GitHubEmulator
  readonly testRepository: TestRepository
  readonly repository: PackageRepository
  readonly clock: TestClock
  readonly address: GitHubAddress
  readonly human: HumanHand
  open(options?: OpenOptions): Promise<OpenedGitHub>
  forge(options?: OpenOptions): Promise<HostedForge>
  close(): Promise<void>
}

export async function createGitHubFixture(): Promise<GitHubFixture> {
  const testRepository = await makeTestRepository('local bare')
  const clock = new TestClock()
  const git = new EmulatedGit(testRepository.gitFolder, gitTestEnvironment(testRepository.root))
  const emulator = new GitHubEmulator({ git, owner: 'acme', repo: 'deploy', clock })
  const { state } = emulator
  emulator.tokens.set(BOT_TOKEN, BOT_LOGIN)
  for (const [login, role] of [
    [BOT_LOGIN, 'write'],
    ['wendy', 'write'],
    ['rita', 'read'],
    ['ada', 'admin'],
  ] as const)
    state.roles.set(login, role)
  await emulator.start()
  const address = parseGitHubAddress(`${emulator.origin}/acme/deploy.git`)
  if (address === undefined) throw new Error('no address')
  const repository = openTestRepository(testRepository, { baseBranch: 'main' })
  const opened: OpenedGitHub[] = []
  const open = async (options: OpenOptions = {}): Promise<OpenedGitHub> => {
    const {
      credential = { kind: 'token', token: BOT_TOKEN },
      governor = createGitHubGovernor(clock, 60_000),
    } = options
    const { notice, trace } = options
    const one = await openGitHub({
      address: options.address ?? address,
      credential,
      governor,
      clock: options.clock ?? clock,
      version: '0.0.0-test',
      ...(notice === undefined ? {} : { notice }),
      ...(trace === undefined ? {} : { trace }),
    })
    opened.push(one)
    return one
  }
  return {
    emulator,
    testRepository,
    repository,
    clock,
    address,
    open,
    human: handOf(emulator, git, 'wendy'),
    forge: async (options = {}) => (await open(options)).forge(options.repository ?? repository),
    close: async () => {
      await Promise.all(opened.map((one) => one.close()))
      await emulator.stop()
      await testRepository.close()
    },
  }
}

function handOf({ state }: GitHubEmulator, git: EmulatedGit, login: string): HumanHand {
  const threadOf = (number: number) => {
    state.sync()
    const thread = state.thread(number)
    if (thread === undefined) throw new Error(`there is no #${number}`)
    return thread
  }
  return {
    comment: async (number, body) => String(state.addComment(number, login, body).id),
    editComment: async (id, body) => {
      const comment = state.comments.find((one) => String(one.id) === id)
      if (comment === undefined) throw new Error(`there is no comment ${id}`)
      state.editComment(comment, login, body)
    },
    merge: async (number, style) => {
      const merged = state.merge(threadOf(number), style, undefined, login)
      if (typeof merged !== 'string') throw new Error(merged.why)
    },
    close: async (number) => state.setState(threadOf(number), 'closed', login),
    reopen: async (number) => state.setState(threadOf(number), 'open', login),
    editBody: async (number, body) => {
      threadOf(number).body = body
    },
    renameBranch: async (number, before, after) => {
      const { pull } = threadOf(number)
      if (pull === undefined) throw new Error(`#${number} is no pull request`)
      git.run('update-ref', `refs/heads/${after}`, `refs/heads/${before}`)
      Object.assign(pull, { head: after })
      git.delete(before)
    },
    retarget: async (number, base) => {
      const { pull } = threadOf(number)
      if (pull === undefined) throw new Error(`#${number} is no pull request`)
      if (!git.branches().has(base)) git.run('update-ref', `refs/heads/${base}`, 'refs/heads/main')
      pull.base = base
    },
    openMilestone: async (title) => {
      state.milestones.push({ number: state.milestones.length + 1, title, open: true })
    },
    filedAs: async (number) => {
      const { assignees = [], milestone } = threadOf(number).pull ?? {}
      return {
        assignees,
        milestone: state.milestones.find((each) => each.number === milestone)?.title,
      }
    },
    addLabel: async (number, name) => {
      const thread = threadOf(number)
      if (!thread.labels.includes(name)) thread.labels.push(name)
      if (!state.labels.has(name)) state.labels.set(name, { color: 'ededed', description: null })
    },
  }
}

/**
 * One package in many clusters, all of whose objects are changed by the same hand, in a repository on the emulated GitHub with its
 * limits: the real git over http, the real GitHub adapter, whole turns. Clusters are in memory.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGitHubGovernor, openGitHub, parseGitHubAddress } from '@backporch/forge/github'
import { PushPaces } from '@backporch/forge/push-pace'
import { BOT } from '@backporch/git-store/commit'
import { openRepository } from '@backporch/git-store/repository'
import type { JsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import type { Clock } from '@backporch/system/clock'
import { WorkerRenderer } from '../../src/adapters/functions/worker-renderer.ts'
import { TurnCache } from '../../src/reconcile/observe/turn-cache.ts'
import { runFleetTurn, type TurnResult } from '../../src/reconcile/turn/run-turn.ts'
import { gitTestEnvironment } from '../contract/git-remotes.ts'
import { appliedBy, editedBy } from '../fakes/live-object.ts'
import { MemoryCluster } from '../fakes/memory-cluster.ts'
import { turnRequest } from '../fakes/turn-request.ts'
import { policyText } from '../fakes/turn-world.ts'
import { EmulatedGit } from '../forge/github/emulated-git.ts'
import { CONTENT_LIMITS, EmulatedLimit, PUSH_LIMITS } from '../forge/github/emulated-limits.ts'
import { GitHubEmulator } from '../forge/github/github-emulator.ts'
import { BOT_LOGIN, BOT_TOKEN } from '../forge/github/github-fixture.ts'
import { GitHubServer } from '../forge/github/github-server.ts'

/** A wait takes no time and counts in full. */
export class SkippingClock implements Clock {
  /** Milliseconds that were waited for limits, and that somebody let pass. */
  skipped = 0
  readonly #worked: () => number
  readonly #start = Date.parse('2026-11-21T10:00:00Z')

  /** @param worked milliseconds of work since the beginning: a measurement counts them, a test does not depend on the machine */
  constructor(worked: () => number) {
    this.#worked = worked
  }

  now(): Date {
    return new Date(this.#start + this.elapsed)
  }

  /** Milliseconds since the beginning, work and waits. */
  get elapsed(): number {
    return this.#worked() + this.skipped
  }

  async sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    this.skipped += milliseconds
  }
}

export class MassDrift {
  private readonly key = createRedactionKey(new Uint8Array(32).fill(7))
  readonly clock: SkippingClock
  readonly clusters: readonly MemoryCluster[]
  readonly emulator: GitHubEmulator
  readonly pushes: EmulatedLimit
  readonly content: EmulatedLimit
  readonly #renderer = new WorkerRenderer({
    allowed: { exec: [], images: [] },
    engine: undefined,
    environment: {},
  })
  readonly #between = new TurnCache()
  readonly #folder: string
  readonly #server: GitHubServer
  readonly #objects: number
  #ports: Omit<Parameters<typeof runFleetTurn>[0], 'clusters'> | undefined
  #close: () => Promise<void> = async () => undefined

  /** @param worked as of `SkippingClock`; without it work takes no time */
  constructor(
    clusters: number,
    objects: number,
    policy = '{mode: Propose}',
    worked: () => number = () => 0,
  ) {
    this.clock = new SkippingClock(worked)
    this.#objects = objects
    this.#folder = realpathSync(mkdtempSync(join(tmpdir(), 'backporch-mass-')))
    const environment = gitTestEnvironment(this.#folder)
    const bare = makeRepository(this.#folder, environment, objects, policy)
    this.emulator = new GitHubEmulator({
      git: new EmulatedGit(bare, environment),
      owner: 'acme',
      repo: 'deploy',
      clock: this.clock,
    })
    this.emulator.tokens.set(BOT_TOKEN, BOT_LOGIN)
    this.emulator.state.roles.set(BOT_LOGIN, 'write')
    this.content = new EmulatedLimit(CONTENT_LIMITS, this.clock)
    this.pushes = new EmulatedLimit(PUSH_LIMITS, this.clock)
    this.emulator.content = this.content
    this.#server = new GitHubServer({
      root: this.#folder,
      environment,
      emulator: this.emulator,
      pushes: this.pushes,
    })
    this.clusters = Array.from(
      { length: clusters },
      (_each, index) => new MemoryCluster(`edge-${String(index + 1).padStart(2, '0')}`),
    )
    for (const [index, cluster] of this.clusters.entries()) {
      cluster.uid = `uid-${index}`
      for (let number = 0; number < objects; number += 1)
        cluster.put(appliedBy('kustomize-controller', objectOf(number)))
    }
  }

  async start(): Promise<void> {
    await this.#server.start()
    const { remote, origin } = this.#server
    const address = parseGitHubAddress(remote)
    if (address === undefined) throw new Error('no address')
    const { clock } = this
    const environment = { ...gitTestEnvironment(this.#folder), GITHUB_SERVER_URL: origin }
    const admitPush = new PushPaces(clock).findAdmitPush(remote, environment)
    if (admitPush === undefined) throw new Error('the remote is not taken for one on GitHub')
    const cacheDir = join(this.#folder, 'cache')
    const repository = openRepository({
      remote,
      cacheDir,
      environment,
      token: BOT_TOKEN,
      baseBranch: 'main',
      admitPush,
    })
    const governor = createGitHubGovernor(clock, 120_000)
    const opened = await openGitHub({
      address,
      credential: { kind: 'token', token: BOT_TOKEN },
      governor,
      clock,
      version: '0.0.0',
    })
    this.#close = () => opened.close()
    this.#ports = { repository, forge: opened.forge(repository) }
  }

  async stop(): Promise<void> {
    await this.#close()
    await this.#server.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** The same edit of every object, or of the first ones of each cluster. */
  edit(clusters: readonly MemoryCluster[] = this.clusters, objects = this.#objects): void {
    for (const cluster of clusters)
      for (let number = 0; number < objects; number += 1)
        cluster.change(`/ConfigMap/shop/${nameOf(number)}`, (live) =>
          editedBy('kubectl-edit', live, 'data.color', 'red'),
        )
  }

  async turn(): Promise<TurnResult> {
    if (this.#ports === undefined) throw new Error('not started')
    const now = `${this.clock.now().toISOString().slice(0, 19)}Z`
    for (const cluster of this.clusters) cluster.now = now
    const request = turnRequest({
      clock: this.clock,
      key: this.key,
      bot: { email: BOT.email },
      renderer: this.#renderer,
      between: this.#between,
      version: '0.0.0',
    })
    return runFleetTurn(
      { ...this.#ports, clusters: this.clusters },
      request,
      new AbortController().signal,
    )
  }

  get openPulls(): readonly { readonly title: string; readonly body: string }[] {
    this.emulator.state.sync()
    return this.emulator.state.threads.filter(
      ({ state, pull }) => state === 'open' && pull !== undefined,
    )
  }
}

function nameOf(number: number): string {
  return `c-${String(number).padStart(4, '0')}`
}

function manifestOf(number: number): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${nameOf(number)}, namespace: shop}\ndata:\n  color: blue\n  size: "${number}"\n`
}

function objectOf(number: number): JsonObject {
  return parseGoYaml(manifestOf(number), 'test').documents[0]?.value as JsonObject
}

function makeRepository(
  folder: string,
  environment: NodeJS.ProcessEnv,
  objects: number,
  policy: string,
): string {
  const work = join(folder, 'work')
  mkdirSync(join(work, 'apps/web'), { recursive: true })
  mkdirSync(join(work, '.drift'))
  writeFileSync(
    join(work, 'apps/web/Kptfile'),
    'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n',
  )
  writeFileSync(join(work, '.drift/policy.yaml'), policyText(policy))
  for (let number = 0; number < objects; number += 1)
    writeFileSync(join(work, `apps/web/${nameOf(number)}.yaml`), manifestOf(number))
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', args, { cwd: work, env: environment, stdio: 'ignore' })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-q', '-m', 'Packages')
  const bare = join(folder, 'acme', 'deploy.git')
  git('clone', '-q', '--mirror', work, bare)
  return bare
}

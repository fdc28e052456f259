/** Packages in two clusters whose repository is on the emulated GitHub, and whole turns about them. Everything else is in memory. */
import assert from 'node:assert/strict'
import type { ClusterReader } from '@backporch/cluster/cluster'
import type { RequestedActionSource } from '@backporch/forge/check-run'
import {
  createGitHubGovernor,
  type GitHubClient,
  type GitHubCredential,
  type OpenedGitHub,
  openGitHub,
  parseGitHubAddress,
} from '@backporch/forge/github'
import type { HostedForge } from '@backporch/forge/hosted-forge'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import type { TurnRequest } from '../../../src/reconcile/observe/turn-request.ts'
import type { Answer } from '../../../src/reconcile/turn/apply/apply-answers.ts'
import { createSignedRepository } from '../../../src/reconcile/turn/apply/signed-repository.ts'
import { approve, type Decided } from '../../../src/reconcile/turn/decide.ts'
import { runFleetTurn, type TurnResult } from '../../../src/reconcile/turn/run-turn.ts'
import { InProcessRenderer } from '../../fakes/in-process-renderer.ts'
import { appliedBy, editedBy } from '../../fakes/live-object.ts'
import { MemoryCluster } from '../../fakes/memory-cluster.ts'
import { BOT_EMAIL, MemoryRepository } from '../../fakes/memory-repository.ts'
import { turnRequest } from '../../fakes/turn-request.ts'
import { policyText } from '../../fakes/turn-world.ts'
import { GitHubEmulator } from './github-emulator.ts'
import { BOT_LOGIN, BOT_TOKEN, TestClock } from './github-fixture.ts'
import { MemoryGit } from './memory-git.ts'
import { SIGNAL } from './pushed-proposal.ts'

const POLICY =
  '{mode: Propose, detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 0, stormShare: 0, digest: off}}'
const WAIT = 120_000

export interface WorldOptions {
  readonly packages?: readonly string[]
  readonly credential?: GitHubCredential
}

export class GitHubWorld {
  readonly repository = new MemoryRepository()
  readonly clusters = [new MemoryCluster('edge-01'), new MemoryCluster('edge-02')] as const
  readonly clock = new TestClock()
  readonly emulator: GitHubEmulator
  /** What the adapter told people. */
  readonly notices: string[] = []
  readonly #credential: GitHubCredential
  readonly #opened: OpenedGitHub[] = []
  #forge: HostedForge | undefined
  #minute = 0

  constructor({
    packages = ['api', 'db', 'web'],
    credential = { kind: 'token', token: BOT_TOKEN },
  }: WorldOptions = {}) {
    this.#credential = credential
    const git = new MemoryGit(this.repository)
    this.emulator = new GitHubEmulator({ git, owner: 'acme', repo: 'deploy', clock: this.clock })
    this.emulator.tokens.set(BOT_TOKEN, BOT_LOGIN)
    this.emulator.state.roles.set(BOT_LOGIN, 'write')
    for (const [index, cluster] of this.clusters.entries()) cluster.uid = `uid-${index}`
    this.repository.commitByHand('main', {
      '.drift/policy.yaml': policyText(POLICY),
      ...Object.assign({}, ...packages.map(packageFiles)),
    })
    for (const path of this.repository
      .paths('main')
      .filter((name) => name.endsWith('/config.yaml')))
      for (const { value } of parseGoYaml(this.repository.text('main', path) ?? '', path).documents)
        for (const cluster of this.clusters)
          cluster.put(appliedBy('kustomize-controller', value as JsonObject))
    this.pass()
  }

  async start(): Promise<void> {
    await this.emulator.start()
    await this.restart()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#opened.map((one) => one.close()))
    await this.emulator.stop()
  }

  /** The process ends and another one begins: nothing is remembered. */
  async restart(): Promise<void> {
    const address = parseGitHubAddress(`${this.emulator.origin}/acme/deploy.git`)
    if (address === undefined) throw new Error('no address')
    const { clock } = this
    const governor = createGitHubGovernor(clock, WAIT)
    const notice = (text: string): void => void this.notices.push(text)
    const opened = await openGitHub({
      address,
      credential: this.#credential,
      governor,
      clock,
      version: '0.0.0-test',
      notice,
    })
    this.#opened.push(opened)
    this.#forge = opened.forge(this.repository)
  }

  /** What asks in the name of the credential. */
  get client(): GitHubClient {
    return (this.#opened.at(-1) ?? assert.fail('not started')).client
  }

  /** As a session opens it. */
  get #signing(): PackageRepository {
    return createSignedRepository(this.repository, this.forge, 'main', SIGNAL)
  }

  get forge(): HostedForge {
    if (this.#forge === undefined) throw new Error('not started')
    return this.#forge
  }

  pass(minutes = 1): void {
    this.#minute += minutes
    const now = `${new Date(Date.parse('2026-11-21T10:00:00Z') + this.#minute * 60_000).toISOString().slice(0, 19)}Z`
    for (const cluster of this.clusters) cluster.now = now
  }

  edit(cluster: 0 | 1, name: string, field: 'color' | 'size', value: Json): void {
    this.clusters[cluster].change(`/ConfigMap/shop/${name}`, (live) =>
      editedBy('kubectl-edit', live, `data.${field}`, value),
    )
  }

  /** The syncer puts the object back. */
  heal(cluster: 0 | 1, name: string): void {
    const [document] = parseGoYaml(
      packageFiles(name)[`apps/${name}/config.yaml`] ?? '',
      name,
    ).documents
    this.clusters[cluster].put(appliedBy('kustomize-controller', document?.value as JsonObject))
  }

  /** A whole turn. Time stands still unless `pass` moves it, so that a repeated one makes the same commits. */
  async turn(clusters: readonly ClusterReader[] = this.clusters): Promise<TurnResult> {
    return runFleetTurn(
      { repository: this.#signing, forge: this.forge, clusters },
      await this.#request(),
      SIGNAL,
    )
  }

  /** A turn of the controller. */
  async answer(requestedActions: RequestedActionSource): Promise<readonly Answer[]> {
    const { forge, clusters } = this
    return (
      await runFleetTurn(
        { repository: this.#signing, forge, clusters },
        await this.#request(requestedActions),
        SIGNAL,
      )
    ).answers
  }

  /** Ada approves the package in the first cluster. */
  async approve(packageName: string): Promise<Decided> {
    const { forge, clusters } = this
    const [cluster] = clusters
    const request = await this.#request()
    const turn = { ...request, units: { ...request.units, packages: [packageName] } }
    const decider = { name: 'Ada <ada@example.com>', at: cluster.now, reason: undefined }
    return approve(
      { repository: this.#signing, forge, cluster },
      { turn, decider, confirm: async () => true },
      SIGNAL,
    )
  }

  async #request(requestedActions?: RequestedActionSource): Promise<TurnRequest> {
    const account = await this.forge.commits?.getAccount(SIGNAL)
    return turnRequest({
      clock: { now: () => new Date(this.clusters[0].now) },
      key: createRedactionKey(new Uint8Array(32).fill(7)),
      bot: {
        email: BOT_EMAIL,
        forges: ['noreply@github.com'],
        ...(account === undefined ? {} : { account }),
      },
      renderer: new InProcessRenderer(),
      requestedActions,
    })
  }

  /** Requests and pushes that change something, while the work is done. */
  async writesOf(work: () => Promise<unknown>): Promise<string[]> {
    const [from, pushed] = [this.emulator.writes.length, this.repository.pushes.length]
    await work()
    const sent = this.emulator.writes
      .slice(from)
      .map(({ method, path, body }) => `${method} ${path} ${body}`)
    return [
      ...sent,
      ...this.repository.pushes
        .slice(pushed)
        .map((updates) => `push ${updates.map(({ ref }) => ref).join(' ')}`),
    ]
  }

  /** All that people can see, without numbers and times that only GitHub gives. */
  observed(): Readonly<Record<string, unknown>> {
    const { state, origin } = this.emulator
    state.sync()
    const nameOf = (number: string): string => {
      const thread = state.thread(Number(number))
      return thread?.pull?.head ?? thread?.title ?? number
    }
    const plain = (text: string): string =>
      text
        .replaceAll(`${origin}/${state.owner}/${state.repo}`, 'http://github/repository')
        .replaceAll(`${origin}/acme/deploy`, 'http://github/repository')
        .replace(
          /(#|\/(?:pull|issues)\/)(\d+)\b/g,
          (_all, before: string, number: string) => `${before}${nameOf(number)}`,
        )
    const comments = (number: number): string[] =>
      state.comments
        .filter(({ thread }) => thread === number)
        .map(({ user, body }) => `${user}: ${plain(body)}`)
    const threads = state.threads.map((thread) => ({
      user: thread.user,
      state: thread.state,
      title: thread.title,
      body: plain(thread.body),
      labels: [...thread.labels].sort(),
      comments: comments(thread.number),
      branch: thread.pull?.head ?? '',
      base: thread.pull?.base ?? '',
      draft: thread.pull?.draft ?? false,
      head: thread.pull?.sha ?? '',
    }))
    const statuses = new Map(
      state.statuses.map((status) => [`${status.sha} ${status.context}`, status]),
    )
    return {
      // When the numbers of pull requests came into the ledger is another time for each disturbance; what it says is the same.
      refs: [...this.repository.branches]
        .filter(([ref]) => ref !== 'refs/heads/drift-ledger')
        .sort(),
      ledger: this.ledger(),
      threads: threads.sort((left, right) =>
        `${left.branch} ${left.title}` < `${right.branch} ${right.title}` ? -1 : 1,
      ),
      labels: [...state.labels].sort(),
      statuses: [...statuses]
        .map(([key, { state: now, description, target_url }]) => [
          key,
          now,
          description,
          plain(target_url ?? ''),
        ])
        .sort(),
    }
  }

  /** Every file of the ledger. */
  ledger(): ReadonlyMap<string, string> {
    const { threads } = this.emulator.state
    const headOf = (number: string): string =>
      threads.find((thread) => thread.number === Number(number))?.pull?.head ?? number
    const named = (text: string): string =>
      text
        .replace(/(?<=^ +pullRequest: )\d+$/gm, headOf)
        // Each world has an address of its own, and a repository that was renamed has another one.
        .replace(/(?<=^ +pullRequestUrl: )http.*\/(\d+)$/gm, (_, number: string) => headOf(number))
    return new Map(
      this.repository
        .paths('drift-ledger')
        .map((path) => [path, named(this.repository.text('drift-ledger', path) ?? '')]),
    )
  }

  /** Never two open pull requests of one unit, whatever happened. */
  assertNoDuplicates(): void {
    const open = this.emulator.state.threads.filter(
      ({ state, pull }) => state === 'open' && pull !== undefined,
    )
    const units = open.map(({ title }) => title)
    assert.deepEqual(units, [...new Set(units)], 'one open pull request for each unit')
    const issues = this.emulator.state.threads
      .filter(({ pull, state }) => pull === undefined && state === 'open')
      .map(({ title }) => title)
    assert.deepEqual(issues, [...new Set(issues)], 'one issue for each topic')
  }
}

function packageFiles(name: string): Readonly<Record<string, string>> {
  return {
    [`apps/${name}/Kptfile`]: `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n`,
    [`apps/${name}/config.yaml`]: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata:\n  color: blue\n  size: "5"\n`,
  }
}

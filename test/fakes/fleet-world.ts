/** One package in many clusters, with a forge that has pages, and everything in memory. */
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import type { UnitPlan } from '../../src/plan/observation/unit-plan.ts'
import type { TurnRequest } from '../../src/reconcile/observe/turn-request.ts'
import { readRepository } from '../../src/reconcile/repository/repository-view.ts'
import { runFleetTurn, runTurn, type TurnResult } from '../../src/reconcile/turn/run-turn.ts'
import type { ClosedEpisode } from '../../src/record/documents/closed-episode.ts'
import { InProcessRenderer } from './in-process-renderer.ts'
import { appliedBy, editedBy } from './live-object.ts'
import { MemoryCluster } from './memory-cluster.ts'
import { MemoryForge } from './memory-forge.ts'
import { BOT_EMAIL, MemoryRepository } from './memory-repository.ts'
import { type TestRequest, turnRequest } from './turn-request.ts'
import { CONFIG, DEPLOYMENT, KPTFILE, policyText, WEB } from './turn-world.ts'

export class FleetWorld {
  readonly repository = new MemoryRepository()
  readonly forge = new MemoryForge(this.repository)
  readonly clusters: readonly MemoryCluster[]
  private minute = 0

  constructor(
    count: number,
    policy = '{mode: Propose, detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, digest: off}}',
  ) {
    this.clusters = Array.from(
      { length: count },
      (_each, index) => new MemoryCluster(`edge-${String(index + 1).padStart(2, '0')}`),
    )
    for (const [index, cluster] of this.clusters.entries()) cluster.uid = `uid-${index}`
    this.repository.commitByHand('main', {
      'apps/web/Kptfile': KPTFILE,
      'apps/web/deployment.yaml': DEPLOYMENT,
      'apps/web/config.yaml': CONFIG,
      '.drift/policy.yaml': policyText(policy),
    })
    this.sync()
  }

  cluster(index: number): MemoryCluster {
    const cluster = this.clusters[index]
    if (cluster === undefined) throw new TypeError(`there is no cluster ${index}`)
    return cluster
  }

  /** The syncer of each cluster applies `main`. */
  sync(clusters: readonly MemoryCluster[] = this.clusters): void {
    for (const path of this.repository.paths('main')) {
      if (!/^apps\/.*\.yaml$/.test(path) || path.includes('/bad/')) continue
      for (const { value } of parseGoYaml(this.repository.text('main', path) ?? '', path).documents)
        for (const cluster of clusters) cluster.put(this.applied(value as JsonObject, path))
    }
  }

  /** A manifest as the syncer leaves it. @param _path of its file */
  protected applied(manifest: JsonObject, _path: string): JsonObject {
    return appliedBy('kustomize-controller', manifest)
  }

  /** The same edit by the same manager, in some clusters. */
  edit(
    indexes: readonly number[],
    value: Json = 5,
    field = 'spec.replicas',
    manager = 'kubectl-edit',
  ): void {
    for (const index of indexes)
      this.cluster(index).change(WEB, (live) => editedBy(manager, live, field, value))
  }

  request(more: TestRequest = {}): TurnRequest {
    return turnRequest({
      packages: [],
      clock: { now: () => new Date(this.cluster(0).now) },
      key: createRedactionKey(new Uint8Array(32).fill(7)),
      bot: { email: BOT_EMAIL },
      renderer: new InProcessRenderer(),
      ...more,
    })
  }

  /** One turn about all clusters, a minute after the one before. */
  async scan(
    more: TestRequest = {},
    clusters: readonly MemoryCluster[] = this.clusters,
  ): Promise<TurnResult> {
    this.pass()
    const { repository, forge } = this
    return runFleetTurn(
      { repository, forge, clusters },
      this.request(more),
      new AbortController().signal,
    )
  }

  /** One turn about one cluster, as where each cluster has its own. */
  async scanOne(index: number, more: TestRequest = {}): Promise<UnitPlan> {
    this.pass()
    const { repository, forge } = this
    const ports = { repository, forge, cluster: this.cluster(index) }
    const { units } = await runTurn(ports, this.request(more), new AbortController().signal)
    const [unit] = units
    if (unit?.state !== 'planned') throw unit?.failures[0] ?? new TypeError('no unit')
    return unit.plan
  }

  /** Somebody squashes the branch onto `main` on the forge. */
  merge(branch: string): void {
    const changed = this.repository
      .paths(branch)
      .filter((path) => this.repository.text(branch, path) !== this.repository.text('main', path))
    this.repository.commitByHand(
      'main',
      Object.fromEntries(changed.map((path) => [path, this.repository.text(branch, path) ?? null])),
    )
    this.decide(branch, 'merged')
  }

  close(branch: string): void {
    this.decide(branch, 'closed')
  }

  private decide(branch: string, state: 'merged' | 'closed'): void {
    const index = this.forge.proposals.findIndex(
      (proposal) => proposal.ref === `refs/heads/${branch}` && proposal.state === 'open',
    )
    const proposal = this.forge.proposals[index]
    if (proposal === undefined) throw new TypeError(`no open proposal from ${branch}`)
    this.forge.proposals[index] = {
      ...proposal,
      state,
      decidedBy: 'grace',
      decidedAt: this.cluster(0).now,
    }
  }

  async closed(): Promise<readonly ClosedEpisode[]> {
    return (await readRepository(this.repository, undefined, new AbortController().signal)).closed
  }

  pass(minutes = 1): void {
    this.minute += minutes
    const now = `${new Date(Date.parse('2026-11-21T10:00:00Z') + this.minute * 60_000).toISOString().slice(0, 19)}Z`
    for (const cluster of this.clusters) cluster.now = now
  }
}

/** Plans of a turn, by cluster. @throws what a unit failed with */
export function plans(result: TurnResult): ReadonlyMap<string, UnitPlan> {
  return new Map(
    result.units.map((unit) => {
      if (unit.state === 'failed') throw unit.failures[0]
      return [unit.unit.cluster, unit.plan]
    }),
  )
}

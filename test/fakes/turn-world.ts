/** One package in one cluster, with everything in memory, and the steps that people and syncers take. */
import assert from 'node:assert/strict'
import { LocalForge } from '@backporch/forge/local-forge'
import type { RefUpdate } from '@backporch/git-store/package-repository'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { createRedactionKey, type RedactionKey } from '@backporch/kyaml/redaction'
import type { UnitPlan } from '../../src/plan/observation/unit-plan.ts'
import type { ResolutionSelectors } from '../../src/plan/unit/commands/resolution-request.ts'
import type { TurnRequest } from '../../src/reconcile/observe/turn-request.ts'
import { approve, type Decided, reject } from '../../src/reconcile/turn/decide.ts'
import { runTurn, type TurnResult } from '../../src/reconcile/turn/run-turn.ts'
import { InProcessRenderer } from './in-process-renderer.ts'
import { appliedBy, editedBy } from './live-object.ts'
import { MemoryCluster } from './memory-cluster.ts'
import type { MemoryForge } from './memory-forge.ts'
import { BOT_EMAIL, MemoryRepository } from './memory-repository.ts'
import { type TestRequest, turnRequest } from './turn-request.ts'

export const DEPLOYMENT = `# the shop
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels: {app: web} # who
spec:
  replicas: 3 # for the day
  template:
    spec:
      containers:
      - name: app
        image: "nginx:1.27"
        env:
        - name: COLOR
          value: blue
`
export const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: shop}
data:
  color: blue
  size: "5"
`
export const KPTFILE = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n'
export const WEB = 'apps/Deployment/shop/web'
export const WEB_CONFIG = '/ConfigMap/shop/web'

export function yaml(text: string): JsonObject {
  return parseGoYaml(text, 'test').documents[0]?.value as JsonObject
}

export function policyText(spec: string): string {
  return `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: test}\nspec: ${spec}\n`
}

/** Drift is proposed in the turn that sees it, however much of it there is. */
export const AT_ONCE = {
  '.drift/at-once.yaml': policyText(
    '{detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 0, stormShare: 0, digest: off}}',
  ).replace('name: test', 'name: zz-at-once'),
}

export class TurnWorld {
  readonly repository = new MemoryRepository()
  readonly cluster: MemoryCluster
  readonly syncer = 'kustomize-controller'
  key: RedactionKey = createRedactionKey(new Uint8Array(32).fill(7))
  packages: readonly string[] = []
  /** Set for a forge with pages; git alone otherwise. */
  forge: MemoryForge | undefined
  private minute = 0

  constructor(policy = '{mode: Propose}', files: { readonly [path: string]: string } = {}) {
    this.cluster = new MemoryCluster()
    this.repository.commitByHand('main', {
      'apps/web/Kptfile': KPTFILE,
      'apps/web/deployment.yaml': DEPLOYMENT,
      'apps/web/config.yaml': CONFIG,
      '.drift/policy.yaml': policyText(policy),
      ...AT_ONCE,
      ...files,
    })
    this.sync()
  }

  get ports() {
    return {
      repository: this.repository,
      cluster: this.cluster,
      forge: this.forge ?? new LocalForge(this.repository),
    }
  }

  request(more: TestRequest = {}): TurnRequest {
    return turnRequest({
      packages: this.packages,
      clock: { now: () => new Date(this.cluster.now) },
      key: this.key,
      bot: { email: BOT_EMAIL },
      renderer: new InProcessRenderer(),
      ...more,
    })
  }

  /** The syncer applies the manifests of `main`, as server-side apply with force leaves them. */
  sync(): void {
    for (const path of this.repository.paths('main')) {
      if (
        !/^apps\/.*\.yaml$/.test(path) ||
        path.endsWith('resourcegroup.yaml') ||
        path.includes('/bad/')
      )
        continue
      for (const { value } of parseGoYaml(this.repository.text('main', path) ?? '', path).documents)
        this.cluster.put(appliedBy(this.syncer, value as JsonObject))
    }
  }

  edit(key: string, field: string, value: Json, manager = 'kubectl-edit'): void {
    this.cluster.change(key, (live) => editedBy(manager, live, field, value))
  }

  /** The Deployment reports that its rollout ended, or that it failed: a status that is no drift. */
  rollOut(isReady: boolean): void {
    const conditions = isReady
      ? [{ type: 'Available', status: 'True' }]
      : [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }]
    const replicas = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 }
    this.cluster.change(WEB, (live) => ({
      ...live,
      status: { observedGeneration: 1, ...replicas, conditions },
    }))
  }

  /** One turn, a minute after the one before. */
  async scan(more: TestRequest = {}): Promise<TurnResult> {
    this.pass(1)
    return runTurn(this.ports, this.request(more), new AbortController().signal)
  }

  /** One turn with an observation of another time. */
  async scanAt(now: string, more: TestRequest = {}): Promise<TurnResult> {
    this.cluster.now = now
    return runTurn(this.ports, this.request(more), new AbortController().signal)
  }

  /** The plan of the one unit of a turn. @throws what the unit failed with */
  async plan(
    more: TestRequest = {},
  ): Promise<UnitPlan & { readonly updates: readonly RefUpdate[] }> {
    const { units, updates } = await this.scan(more)
    const [unit] = units
    if (unit === undefined) throw new TypeError('no unit')
    if (unit.state === 'failed') throw unit.failures[0]
    return { ...unit.plan, updates }
  }

  async resolutionRequest(
    resolution: ResolutionSelectors['resolution'],
    selectors: readonly string[] = [],
    message?: string,
  ): Promise<UnitPlan> {
    return this.plan({ resolutionRequest: { resolution, selectors, message } })
  }

  async approve(confirm: () => Promise<boolean> = async () => true): Promise<Decided> {
    this.pass(1)
    const decider = { name: 'Ada', at: this.cluster.now, reason: undefined }
    return approve(
      this.ports,
      { turn: this.request(), decider, confirm },
      new AbortController().signal,
    )
  }

  async reject(): Promise<Decided> {
    this.pass(1)
    const decider = { name: 'Ada', at: this.cluster.now, reason: 'not now' }
    return reject(
      this.ports,
      { turn: this.request(), decider, confirm: async () => true },
      new AbortController().signal,
    )
  }

  /** Lets minutes go by. */
  pass(minutes: number): void {
    this.minute += minutes
    this.cluster.now = `${new Date(Date.parse('2026-11-21T10:00:00Z') + this.minute * 60_000).toISOString().slice(0, 19)}Z`
  }
}

/** The failure that the work ends with. */
export async function refused(work: Promise<unknown>, code: FailureCode): Promise<Failure> {
  try {
    await work
  } catch (thrown) {
    assert.ok(thrown instanceof Failure, String(thrown))
    assert.equal(thrown.code, code, `${thrown.what}: ${thrown.why}`)
    return thrown
  }
  throw new assert.AssertionError({ message: `not refused with ${code}` })
}

/** A world in which replicas were changed by hand and the drift is proposed. */
export async function proposed(policy = '{mode: Propose}'): Promise<TurnWorld> {
  const world = new TurnWorld(policy)
  world.edit(WEB, 'spec.replicas', 5)
  const { outcome } = await world.plan()
  assert.equal(outcome, 'created')
  return world
}

/** State and what became of the branch, after one more turn. */
export async function stateOf(world: TurnWorld): Promise<string[]> {
  const { report, outcome } = await world.plan()
  return [report.status.state, outcome]
}

/** Somebody merges a branch with plain git: its files are on `main`, in a commit of theirs. */
export async function mergeByHand(world: TurnWorld, branch: string): Promise<void> {
  const changed = world.repository
    .paths(branch)
    .filter((path) => world.repository.text(branch, path) !== world.repository.text('main', path))
  world.repository.commitByHand(
    'main',
    Object.fromEntries(changed.map((path) => [path, world.repository.text(branch, path) ?? null])),
  )
}

/** What a turn observed, written by hand: units, a repository and a forge in which nothing differs, and what a test wants to be otherwise. */
import assert from 'node:assert/strict'
import type { KnownProposal } from '@backporch/forge/hosted-forge'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Drift, ObjectVerdict } from '../../src/drift/compare/drift.ts'
import { addSeconds } from '../../src/plan/observation/drift-age.ts'
import { computeLedgerAfter } from '../../src/plan/observation/ledger-after.ts'
import type { GitState, Observation, OpenBranch } from '../../src/plan/observation/observation.ts'
import type { PlanOptions, UnitPlan } from '../../src/plan/observation/unit-plan.ts'
import type {
  ObservedUnit,
  TurnForge,
  TurnGit,
  TurnObservation,
  TurnPurpose,
} from '../../src/plan/turn/turn-observation.ts'
import type { ProposalRequests } from '../../src/plan/unit/commands/proposal-requests.ts'
import { planReconcile } from '../../src/plan/unit/plan-reconcile.ts'
import { DEFAULT_POLICY } from '../../src/policy/effective-policy.ts'
import { parsePolicyFiles } from '../../src/policy/parse-policy.ts'
import { parseCommentCommands } from '../../src/proposal/text/comment-command.ts'
import { NO_TICKS } from '../../src/proposal/text/dashboard-ticks.ts'
import type { ClosedEpisode } from '../../src/record/documents/closed-episode.ts'
import { NOBODY } from '../golden/proposals/samples.ts'
import { GITHUB, PLAIN } from './dialects.ts'
import { driftOf, TEST_KEY } from './drift-samples.ts'
import { AT_ONCE } from './turn-world.ts'

export const NOW = '2026-11-21T10:00:00Z'
export const BASE = parseObjectId('a'.repeat(40))
const encoder = new TextEncoder()
/** The Deployment `web`, as git has it. */
const MANIFEST =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: 3\n'
const FILES = {
  Kptfile: 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n',
  'deployment.yaml': MANIFEST,
}

/** An object with these differences; in sync without any. */
export function verdictOf(
  items: readonly Drift[],
  more: Partial<ObjectVerdict> = {},
): ObjectVerdict {
  const { id, apiVersion } = items[0] ?? driftOf('spec.replicas')
  const state = items.length === 0 ? 'in-sync' : 'drifted'
  return {
    ...{
      id,
      apiVersion,
      desired: undefined,
      state,
      proof: 'dry-run',
      items,
      setAside: [],
      failure: undefined,
      reapplyFails: undefined,
    },
    ...more,
  }
}

/** What git declares of the Deployment `web`, in a file of `apps/web`. */
export function desiredOf(spec: JsonObject, more: JsonObject = {}): DesiredResource {
  const { id, apiVersion } = driftOf('spec.replicas')
  const metadata = { name: id.name, namespace: id.namespace }
  const location = { path: 'apps/web/deployment.yaml', document: 0, item: undefined, line: 1 }
  return {
    id,
    apiVersion,
    object: { apiVersion, kind: id.kind, metadata, spec, ...more },
    location,
  }
}

export function gitOf(more: Partial<GitState> = {}): GitState {
  const tree = Object.keys(FILES).map((path, index) => ({
    path,
    mode: '100644' as const,
    id: parseObjectId(`${index}`.repeat(40)),
  }))
  return {
    baseBranch: 'main',
    base: BASE,
    files: Object.entries(FILES).map(([path, text]) => ({
      path,
      mode: '100644',
      content: encoder.encode(text),
    })),
    tree,
    treeHash: '0'.repeat(16),
    baseTrees: new Map([[BASE, tree]]),
    refs: new Map([
      ['refs/heads/main', BASE],
      ...(more.branches ?? []).map(({ ref, commit }) => [ref, commit] as const),
    ]),
    branches: [],
    siblings: [],
    merged: [],
    earlierNamed: [],
    unreadable: [],
    heads: new Map(),
    mergeCommits: new Map(),
    published: [],
    decidedCommits: new Map(),
    undone: [],
    travellingRecord: false,
    revision: 0,
    publishedName: '',
    episodes: { closed: new Set(), open: new Set(), pushed: new Set() },
    ledger: { head: null, report: undefined, closed: [], texts: new Map() },
    ...more,
  }
}

/** `apps/web` in `prod`, whose drift is proposed, with one Deployment. */
export function observationOf(
  items: readonly Drift[] = [],
  more: Partial<Observation> = {},
): Observation {
  return {
    unit: { cluster: 'prod', packagePath: 'apps/web', packageName: 'apps/web', slug: 'apps--web' },
    cluster: {
      uid: 'c-1',
      version: 'v1.34.3',
      observedAt: NOW,
      recorded: false,
      namespace: 'default',
    },
    syncer: { manager: 'kustomize-controller', operation: 'Apply', subresource: '' },
    applier: NOBODY,
    verdicts: [verdictOf(items)],
    health: [],
    notHandedOver: new Set(),
    inventory: undefined,
    incomplete: [],
    pipeline: false,
    functions: { answer: () => ({ failure: undefined as never }) },
    git: gitOf(),
    proposals: new Map(),
    policy: { ...DEFAULT_POLICY, mode: 'Propose' },
    key: TEST_KEY,
    ...more,
  }
}

/** The branch that a plan makes, as the next turn finds it. */
export function branchOf({ branch, record }: UnitPlan, more: Partial<OpenBranch> = {}): OpenBranch {
  if (record === undefined) throw new TypeError('the plan has no record')
  const commit = parseObjectId('b'.repeat(40))
  return {
    ref: `refs/heads/${branch}`,
    state: branch.startsWith('proposed/') ? 'proposed' : 'drafts',
    workspace: record.metadata.name,
    commit,
    base: BASE,
    record,
    recordPushed: true,
    foreign: false,
    known: true,
    others: [],
    ...more,
  }
}

/** The unit a minute after a plan of it was written, as the next turn observes it. */
export function after(
  before: Observation,
  plan: UnitPlan,
  more: Partial<Observation> = {},
): Observation {
  const { git, unit, cluster } = before
  const folder = `clusters/${unit.cluster}/${unit.slug}`
  const { writes } = plan
  const texts = new Map(git.ledger.texts)
  for (const { path, text } of writes.ledger) {
    if (text === null) texts.delete(path)
    else texts.set(path, text)
  }
  const known = new Map(git.ledger.closed.map((episode) => [episode.metadata.name, episode]))
  const reports = new Map(git.ledger.report === undefined ? [] : [[folder, git.ledger.report]])
  const ledger = computeLedgerAfter({ reports, closed: known, clusters: new Map() }, writes.ledger)
  const moved = new Set(writes.updates.map(({ ref }) => ref))
  const refs = new Map([...git.refs].filter(([ref]) => !moved.has(ref)))
  for (const { ref, to } of writes.updates)
    if (to !== null) refs.set(ref, typeof to === 'string' ? to : parseObjectId('b'.repeat(40)))
  const own =
    plan.record !== undefined && moved.has(`refs/heads/${plan.branch}`) ? [branchOf(plan)] : []
  return {
    ...before,
    cluster: { ...cluster, observedAt: addSeconds(cluster.observedAt, 60) },
    git: {
      ...git,
      refs,
      branches: [...git.branches.filter(({ ref }) => !moved.has(ref)), ...own],
      revision:
        plan.report.spec.unit.revision === undefined
          ? git.revision
          : Number(plan.report.spec.unit.revision.slice(1)),
      ledger: {
        head: parseObjectId('1'.repeat(40)),
        report: ledger.reports.get(folder),
        closed: [...ledger.closed.values()],
        texts,
      },
    },
    ...more,
  }
}

/** The unit with an open proposal of these differences, which the ledger knows. */
export function proposedOf(
  items: readonly Drift[],
  more: Partial<Observation> = {},
  options: PlanOptions = {},
): Observation {
  const unit = observationOf(items, more)
  return after(unit, planReconcile(unit, options))
}

/** A person merged the open proposal of the unit on the forge, and no turn knows of it yet. */
export function mergedOf(proposed: Observation): Observation {
  const { git } = proposed
  const [open] = git.branches
  if (open === undefined) throw new TypeError('nothing is proposed')
  const refs = new Map([...git.refs].filter(([ref]) => ref !== open.ref))
  const commit = parseObjectId('c'.repeat(40))
  const mergeCommit = {
    commit,
    published: commit,
    named: true,
    at: proposed.cluster.observedAt,
    by: 'Ada <ada@example.com>',
  }
  const mergeCommits = new Map([[open.record.metadata.name, mergeCommit]])
  return {
    ...proposed,
    git: { ...git, refs, branches: [], merged: [...git.merged, open.record], mergeCommits },
  }
}

/** The same, and the ledger has the decision. */
export function decidedOf(proposed: Observation): Observation {
  const merged = mergedOf(proposed)
  return after(merged, planReconcile(merged))
}

/** With another status of the decisions that the ledger has. */
export function withStatus(
  unit: Observation,
  status: Partial<ClosedEpisode['status']>,
): Observation {
  const closed = unit.git.ledger.closed.map((episode) => ({
    ...episode,
    status: { ...episode.status, ...status },
  }))
  return { ...unit, git: { ...unit.git, ledger: { ...unit.git.ledger, closed } } }
}

/** What the forge has of the proposal from a branch. */
export function pullOf(ref: string, more: Partial<KnownProposal> = {}): KnownProposal {
  return {
    ...{
      number: 1,
      label: '#1',
      url: 'https://forge.example/pulls/1',
      ref,
      baseBranch: 'main',
      state: 'open',
    },
    ...{
      commit: parseObjectId('b'.repeat(40)),
      title: '',
      body: '',
      labels: [],
      draft: false,
      decidedBy: undefined,
      decidedAt: undefined,
    },
    ...more,
  }
}

/** Comments of `ada`, who may write, on the open proposal of a unit; and what else is requested there. */
export function requestsOf(
  unit: Observation,
  bodies: readonly string[],
  more: Partial<ProposalRequests> = {},
): ProposalRequests {
  const [open] = unit.git.branches
  const ref = open?.ref ?? 'refs/heads/proposed/apps/web/drift-00000000'
  const at = unit.cluster.observedAt
  return {
    unit: {
      ...unit.unit,
      proposal: pullOf(ref),
      head: open?.commit ?? '',
      numbered: open?.record.spec.changes ?? [],
      drifts: [open?.record.spec.fingerprint ?? ''],
    },
    ticks: [],
    comments: bodies.map((body, index) => {
      const comment = {
        id: `${index + 1}`,
        author: 'ada',
        bot: false,
        body,
        writer: 'ada',
        at,
        answered: false,
      }
      const requester = { login: 'ada', permission: 'write', comment: comment.id, at } as const
      return {
        comment,
        commands: parseCommentCommands(body),
        requester,
        refusal: undefined,
        mayCommand: true,
      }
    }),
    requestedActions: [],
    answered: '',
    codeOwners: '',
    policyFiles: [],
    unread: [],
    ...more,
  }
}

/** The failure that the work ends with. */
export function refusalOf(work: () => unknown): Failure {
  try {
    work()
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
  throw new assert.AssertionError({ message: 'nothing is refused' })
}

export interface TurnParts {
  readonly git?: Partial<TurnGit>
  readonly forge?: Partial<TurnForge>
  readonly purpose?: Partial<TurnPurpose>
  readonly cluster?: Partial<TurnObservation['cluster']>
  /** Specs of policies, beside one that proposes drift at once. */
  readonly policy?: string
}

/** A turn over these units; git alone is the forge where nobody says otherwise. */
export function turnOf(
  units: readonly Observation[],
  { git, forge, purpose, cluster, policy }: TurnParts = {},
): TurnObservation {
  const branches = units.flatMap((unit) =>
    unit.git.branches.map(({ ref, commit }): [string, ObjectId] => [ref, commit]),
  )
  const clusters = new Map(units.map((unit) => [unit.unit.cluster, unit.cluster]))
  return {
    git: {
      baseBranch: 'main',
      base: BASE,
      refs: new Map([['refs/heads/main', BASE], ...branches]),
      packages: [],
      ledgerTree: [],
      closed: [],
      ledger: { reports: new Map(), closed: new Map(), clusters: new Map() },
      lost: new Map(),
      endedBranches: [],
      codeOwners: '',
      ...git,
    },
    cluster: {
      observed: [...clusters].map(([name, identity]) => ({ cluster: name, identity })),
      notObserved: [],
      units: units.map(
        (observation): ObservedUnit => ({ state: 'observed', observation, notes: [] }),
      ),
      inGit: [],
      ...cluster,
    },
    forge: {
      proposals: new Map(),
      dialect: forge?.hosted === true ? GITHUB : PLAIN,
      hosted: false,
      ticks: NO_TICKS,
      requests: [],
      unobservedProposals: [],
      ...forge,
    },
    policy: parsePolicyFiles(
      Object.entries(policy === undefined ? AT_ONCE : { '.drift/policy.yaml': policy }).map(
        ([path, text]) => ({ path, text }),
      ),
    ),
    clock: { present: NOW, observedAt: NOW, ledgerPushedAt: undefined },
    purpose: {
      resolutionRequest: undefined,
      observations: false,
      settles: false,
      whole: true,
      version: '0.0.0',
      ...purpose,
    },
    answers: new Map(),
  }
}

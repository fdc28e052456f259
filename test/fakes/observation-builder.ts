/** What a turn observed, written by hand: units, a repository and a forge in which nothing differs, and what a test wants to be otherwise. */
import type { Drift, ObjectVerdict } from '../../src/drift/drift.ts'
import { type ObjectId, objectId } from '../../src/package/object-id.ts'
import type { GitState, Observation, OpenBranch } from '../../src/plan/turn/observation.ts'
import type { ObservedUnit, TurnForge, TurnGit, TurnObservation, TurnPurpose } from '../../src/plan/turn/turn-observation.ts'
import type { UnitPlan } from '../../src/plan/turn/unit-plan.ts'
import { DEFAULT_POLICY } from '../../src/policy/effective-policy.ts'
import { parsePolicyFiles } from '../../src/policy/parse-policy.ts'
import { NO_TICKS } from '../../src/proposal/text/dashboard-ticks.ts'
import { NOBODY } from '../golden/proposals/samples.ts'
import { GITHUB, PLAIN } from './dialects.ts'
import { driftOf, TEST_KEY } from './drift-samples.ts'
import { AT_ONCE } from './turn-world.ts'

export const NOW = '2026-11-21T10:00:00Z'
export const BASE = objectId('a'.repeat(40))
const encoder = new TextEncoder()
const FILES = { Kptfile: 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n', 'deployment.yaml': 'spec:\n  replicas: 3\n' }

/** An object with these differences; in sync without any. */
export function verdictOf(items: readonly Drift[], more: Partial<ObjectVerdict> = {}): ObjectVerdict {
  const { id, apiVersion } = items[0] ?? driftOf('spec.replicas')
  const state = items.length === 0 ? 'in-sync' : 'drifted'
  return {
    ...{ id, apiVersion, desired: undefined, state, proof: 'dry-run', items, setAside: [], failure: undefined, reapplyFails: undefined },
    ...more,
  }
}

export function gitOf(more: Partial<GitState> = {}): GitState {
  const tree = Object.keys(FILES).map((path, index) => ({ path, mode: '100644' as const, id: objectId(`${index}`.repeat(40)) }))
  return {
    baseBranch: 'main',
    base: BASE,
    files: Object.entries(FILES).map(([path, text]) => ({ path, mode: '100644', content: encoder.encode(text) })),
    tree,
    treeHash: '0'.repeat(16),
    baseTrees: new Map([[BASE, tree]]),
    refs: new Map([['refs/heads/main', BASE], ...(more.branches ?? []).map(({ ref, commit }) => [ref, commit] as const)]),
    branches: [],
    siblings: [],
    merged: [],
    unreadable: [],
    heads: new Map(),
    mergeCommits: new Map(),
    revision: 0,
    publishedName: '',
    episodes: { closed: new Set(), open: new Set() },
    ledger: { head: null, report: undefined, closed: [], texts: new Map() },
    ...more,
  }
}

/** `apps/web` in `prod`, whose drift is proposed, with one Deployment. */
export function observationOf(items: readonly Drift[] = [], more: Partial<Observation> = {}): Observation {
  return {
    unit: { cluster: 'prod', packagePath: 'apps/web', packageName: 'apps/web', slug: 'apps--web' },
    cluster: { uid: 'c-1', version: 'v1.34.3', observedAt: NOW, recorded: false, namespace: 'default' },
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
  const commit = objectId('b'.repeat(40))
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

export interface TurnParts {
  readonly git?: Partial<TurnGit>
  readonly forge?: Partial<TurnForge>
  readonly purpose?: Partial<TurnPurpose>
  readonly cluster?: Partial<TurnObservation['cluster']>
  /** Specs of policies, beside one that proposes drift at once. */
  readonly policy?: string
}

/** A turn over these units; git alone is the forge where nobody says otherwise. */
export function turnOf(units: readonly Observation[], { git, forge, purpose, cluster, policy }: TurnParts = {}): TurnObservation {
  const branches = units.flatMap((unit) => unit.git.branches.map(({ ref, commit }): [string, ObjectId] => [ref, commit]))
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
      units: units.map((observation): ObservedUnit => ({ state: 'observed', observation, notes: [] })),
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
      Object.entries(policy === undefined ? AT_ONCE : { '.drift/policy.yaml': policy }).map(([path, text]) => ({ path, text })),
    ),
    clock: { present: NOW, observedAt: NOW },
    purpose: { resolutionRequest: undefined, observations: false, settles: false, whole: true, version: '0.0.0', ...purpose },
    answers: new Map(),
  }
}

/** What the dashboard lists, as its text takes it. */
import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import type { Change } from '../../record/documents/change.ts'
import type { Plan } from '../../record/documents/drift-record.ts'
import type { PolicyProblem } from './proposal-subject.ts'

/** A package in one cluster that differs. */
export interface DashboardUnit {
  readonly cluster: string
  readonly packageName: string
  readonly changes: number
  readonly risk: Change['risk']
  /** RFC 3339 UTC: first observed. */
  readonly since: string
  /** Address of its status; empty where there is no page. */
  readonly url: string
}

/** Both are empty where the forge has no proposal yet. */
export interface DashboardProposal {
  readonly label: string
  readonly url: string
  /** RFC 3339 UTC; absent where unknown. */
  readonly openedAt?: string
}

/** An open proposal that waits for a decision. */
export interface UndecidedUnit extends DashboardUnit {
  readonly proposal: DashboardProposal
  readonly plan: Plan
  readonly waits: boolean
  /** Seconds without a decision, in whole steps of the policy's limit; absent below the limit. */
  readonly overdue?: number
}

/** Units are in the order of their risk, then of their age. */
export interface DashboardSubject {
  /** Where the policy of the base branch cannot be used: its first problem, and the commit whose policy decides. */
  readonly policyProblem?: PolicyProblem & { readonly commit: string }
  /** Packages that the ledger knows, each in one cluster. */
  readonly packages: number
  /** Clusters that the ledger knows. */
  readonly clusters: number
  /** RFC 3339 UTC: when the ledger last had news. */
  readonly newsAt: string
  readonly drifted: number
  readonly undecided: readonly UndecidedUnit[]
  /** `id` binds the box to the drift. */
  readonly held: readonly (DashboardUnit & {
    readonly id: string
    readonly why: string
    readonly until: string
  })[]
  readonly snoozed: readonly (DashboardUnit & {
    readonly proposal: DashboardProposal
    readonly until: string
  })[]
  readonly silenced: readonly (DashboardUnit & {
    readonly id: string
    readonly by: string
    readonly at: string
    readonly until: string
  })[]
  /** Mode Warn. */
  readonly recorded: readonly DashboardUnit[]
  readonly failed: readonly (DashboardUnit & {
    readonly mergedAt: string
    readonly revision: string
  })[]
  /** Units whose syncer did not apply git's revision in time. `stuckSince` is RFC 3339 UTC, empty where it is unknown. */
  readonly stuck: readonly (DashboardUnit & { readonly stuckSince: string; readonly why: string })[]
  readonly notAdoptable: readonly {
    readonly cluster: string
    readonly packageName: string
    readonly object: string
    readonly field: string
    readonly why: string
  }[]
  /** `packageName` is empty where the whole cluster could not be read; `since` is empty where the ledger has no update of it. */
  readonly notObserved: readonly {
    readonly cluster: string
    readonly packageName: string
    readonly since: string
    readonly why: string
  }[]
  readonly ignores: readonly {
    readonly about: string
    readonly where: string
    readonly reason: string
    readonly expires: string
  }[]
  /** Sentences about ignore rules that have ended or match nothing, with their locations. */
  readonly staleRules: readonly string[]
  readonly limits: { readonly hourly: number; readonly concurrent: number }
  readonly dialect: ForgeDialect
  readonly version: string
}

/** Whether nothing needs attention. */
export function isQuiet(subject: DashboardSubject): boolean {
  const {
    undecided,
    held,
    snoozed,
    silenced,
    recorded,
    failed,
    stuck,
    notObserved,
    policyProblem,
  } = subject
  if (policyProblem !== undefined) return false
  return [undecided, held, snoozed, silenced, recorded, failed, stuck, notObserved].every(
    ({ length }) => length === 0,
  )
}

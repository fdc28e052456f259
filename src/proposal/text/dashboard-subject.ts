import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import type { Change } from '../../record/documents/change.ts'
import type { Plan } from '../../record/documents/drift-record.ts'
import type { PolicyProblem } from './proposal-subject.ts'

export interface DashboardUnit {
  readonly cluster: string
  readonly packageName: string
  readonly changes: number
  readonly risk: Change['risk']
  /** RFC 3339 UTC. */
  readonly since: string
  /** Empty if there is no page. */
  readonly url: string
}

export interface DashboardProposal {
  /** Undefined while the forge has no proposal. */
  readonly label: string | undefined
  readonly url: string
  /** RFC 3339 UTC; absent if unknown. */
  readonly openedAt?: string
}

export interface UndecidedUnit extends DashboardUnit {
  readonly proposal: DashboardProposal
  readonly plan: Plan
  readonly waits: boolean
  /** Seconds, in whole steps of the policy's limit; absent below it. */
  readonly overdue?: number
}

export interface DashboardSubject {
  /** The first problem, and the commit with the deciding policy. */
  readonly policyProblem?: PolicyProblem & { readonly commit: string }
  /** Each in one cluster. */
  readonly packages: number
  readonly clusters: number
  /** RFC 3339 UTC. */
  readonly newsAt: string
  readonly drifted: number
  readonly undecided: readonly UndecidedUnit[]
  readonly held: readonly (DashboardUnit & {
    /** Undefined if no box opens it. */
    readonly id: string | undefined
    readonly why: string
    readonly until: string | undefined
  })[]
  readonly snoozed: readonly (DashboardUnit & {
    readonly proposal: DashboardProposal
    readonly until: string
  })[]
  readonly silenced: readonly (DashboardUnit & {
    readonly id: string | undefined
    readonly by: string | undefined
    readonly at: string
    readonly until: string
  })[]
  readonly recorded: readonly DashboardUnit[]
  readonly failed: readonly (DashboardUnit & {
    readonly mergedAt: string
    readonly revision: string | undefined
  })[]
  /**
   * The syncer did not apply git's revision in time. `stuckSince` is RFC 3339 UTC, undefined if
   * unknown.
   */
  readonly stuck: readonly (DashboardUnit & {
    readonly stuckSince: string | undefined
    readonly why: string
  })[]
  readonly notAdoptable: readonly {
    readonly cluster: string
    readonly packageName: string
    readonly object: string
    /** Undefined for the whole object. */
    readonly field: string | undefined
    readonly why: string
  }[]
  /** `packageName` is undefined for a whole cluster; `since` if the ledger has no update. */
  readonly notObserved: readonly {
    readonly cluster: string
    readonly packageName: string | undefined
    readonly since: string | undefined
    readonly why: string
  }[]
  readonly ignores: readonly {
    readonly about: string
    readonly where: string
    readonly reason: string
    readonly expires: string | undefined
  }[]
  readonly staleRules: readonly string[]
  readonly limits: { readonly hourly: number; readonly concurrent: number }
  readonly dialect: ForgeDialect
  readonly version: string
}

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

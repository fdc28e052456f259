/** Planned writes in execution order. Applying decides nothing. */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'
import type { PushedContent } from '../../record/pushed-branch.ts'

/** Others refer to it by its name within the plan. */
export interface PlannedCommit {
  readonly name: string
  readonly parents: readonly PlannedObject[]
  readonly base: ObjectId | undefined
  readonly changes: readonly FileChange[]
  readonly message: string
  /** Default true. */
  readonly signOff?: boolean
  /** Seconds since 1970, UTC. */
  readonly at: number
}

export type PlannedObject = ObjectId | { readonly commit: string }

/** Equal `from` and `to` only record an existing Backporch branch in the ledger. */
export interface PlannedUpdate {
  readonly ref: string
  readonly from: ObjectId | null
  readonly to: PlannedObject | null
  readonly holds?: PushedContent
}

/** `null` deletes. */
export interface LedgerFile {
  readonly path: string
  readonly text: string | null
}

export interface LedgerWrites {
  readonly ledger: readonly LedgerFile[]
  /** For the ledger commit's message, one per unit with a changed status. */
  readonly ledgerLines: readonly string[]
}

/** One push per turn, with one ledger commit for all its units. */
export interface GitWrites extends LedgerWrites {
  readonly commits: readonly PlannedCommit[]
  readonly updates: readonly PlannedUpdate[]
}

export const NO_WRITES: GitWrites = { commits: [], updates: [], ledger: [], ledgerLines: [] }

export function isNothing(writes: GitWrites): boolean {
  return writes.updates.length === 0 && writes.ledger.length === 0
}

export function joinWrites(parts: readonly GitWrites[]): GitWrites {
  return {
    commits: parts.flatMap((part) => part.commits),
    // Units that share a branch each remove it when it is done.
    updates: [
      ...new Map(
        parts.flatMap((part) => part.updates.map((update) => [JSON.stringify(update), update])),
      ).values(),
    ],
    // Units of one cluster each contain its same observation: a file is written once.
    ledger: [
      ...new Map(parts.flatMap((part) => part.ledger.map((file) => [file.path, file]))).values(),
    ],
    ledgerLines: parts.flatMap((part) => part.ledgerLines),
  }
}

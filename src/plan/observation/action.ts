/** What a turn will write: values, in the order in which they are done. Applying decides nothing. */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'
import type { PushedContent } from '../../record/pushed-branch.ts'

/** A commit to make; others refer to it by its name within the plan. */
export interface PlannedCommit {
  readonly name: string
  readonly parents: readonly PlannedObject[]
  /** Commit whose tree the changes are laid over. */
  readonly base: ObjectId | undefined
  readonly changes: readonly FileChange[]
  readonly message: string
  /** Whether it ends in a sign-off of its author; true unless given. */
  readonly signOff?: boolean
  /** Seconds since 1970, UTC. */
  readonly at: number
}

export type PlannedObject = ObjectId | { readonly commit: string }

/** `from` equal to `to` moves nothing: the branch exists and is ours, and the ledger records it. */
export interface PlannedUpdate {
  readonly ref: string
  readonly from: ObjectId | null
  readonly to: PlannedObject | null
  /** Of an existing commit. */
  readonly holds?: PushedContent
}

/** A file of the ledger: its wanted text, `null` to delete. */
export interface LedgerFile {
  readonly path: string
  readonly text: string | null
}

/** What goes into one ledger commit. */
export interface LedgerWrites {
  readonly ledger: readonly LedgerFile[]
  /** One line for each unit whose status changed, for the message of the ledger commit. */
  readonly ledgerLines: readonly string[]
}

/** All ref updates of a turn go in one push, with one ledger commit for all units of the turn. */
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
    // Units that share a branch each take it away when it is done.
    updates: [
      ...new Map(
        parts.flatMap((part) => part.updates.map((update) => [JSON.stringify(update), update])),
      ).values(),
    ],
    // Units of one cluster each bring its observation, the same one: a file is written once.
    ledger: [
      ...new Map(parts.flatMap((part) => part.ledger.map((file) => [file.path, file]))).values(),
    ],
    ledgerLines: parts.flatMap((part) => part.ledgerLines),
  }
}

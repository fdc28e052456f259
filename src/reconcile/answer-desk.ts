/** What is passed on while one proposal is answered. */
import type { Failure } from '../failure.ts'
import type { Commenter } from '../plan/comment-rights.ts'
import type { ForgeComment, HostedForge } from '../ports/hosted-forge.ts'
import type { AskedUnit } from './answer-unit.ts'
import type { RepositoryView } from './repository-view.ts'
import type { FleetPorts, TurnRequest } from './run-turn.ts'

/** Everything that is at hand while one proposal is answered. */
export interface Desk {
  readonly unit: AskedUnit
  readonly view: RepositoryView
  readonly forge: HostedForge
  /** Of the proposal; a failure where they cannot be read now. */
  readonly comments: readonly ForgeComment[] | Failure
  /** CODEOWNERS; empty where there is none. */
  readonly codeOwners: string
  readonly request: TurnRequest
  readonly ports: FleetPorts
  readonly signal: AbortSignal
}

export interface Asker extends Commenter {
  /** Id of the comment. */
  readonly comment: string
  /** RFC 3339 UTC: when its text was written. What lasts for a while lasts from then on, however often it is done. */
  readonly at: string
}

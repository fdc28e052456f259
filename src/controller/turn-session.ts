/** What a session of one repository gives to the turns that it serves. */
import type { AuditSource } from '@backporch/cluster/audit'
import type { DriftEvent } from '@backporch/cluster/drift-events'
import type { RequestedActionSource } from '@backporch/forge/check-run'
import type { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import type { BetweenTurns } from '../reconcile/observe/between-turns.ts'
import type { PreviewPass } from '../reconcile/observe/preview/open-previews.ts'
import type { Meanwhile, OnlyUnits } from '../reconcile/observe/turn-request.ts'
import type { WrittenHeads } from '../reconcile/turn/apply/write-open-heads.ts'
import type { PolledRepository } from '../reconcile/turn/poll-repository.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'

/** State that outlives a session, and the progress for the log. */
interface TurnInputs {
  readonly between: BetweenTurns
  readonly requestedActions: RequestedActionSource
  /** Audit events that the API server sends to the controller. */
  readonly audit: AuditSource | undefined
  /** The units that the turn is about; undefined for all. */
  readonly only: OnlyUnits | undefined
  /** Names of clusters whose changes are watched. */
  readonly watched: ReadonlySet<string>
  /** Clusters that are not asked, and why: their watch tells that nobody answers. */
  readonly unreachable: ReadonlyMap<string, Failure>
  readonly meanwhile: Meanwhile
  readonly onProgress: (step: string) => void
}

/** Open ports, whose caches and connections the next turn reuses. */
export interface TurnSession {
  /** Names of its clusters. */
  readonly clusters: readonly string[]
  readonly key: RedactionKey
  /** Reads git and the forge. @throws Failure */
  poll(
    inputs: Pick<TurnInputs, 'requestedActions' | 'between'>,
    signal: AbortSignal,
  ): Promise<PolledRepository>
  /** @throws Failure when nothing at all could be done; failures of one package are in the result */
  turn(inputs: TurnInputs, signal: AbortSignal): Promise<TurnResult>
  /** Writes Events by name of the cluster; undefined where none are written. Never throws. @returns why one was not written */
  readonly announce?:
    | ((
        events: ReadonlyMap<string, readonly DriftEvent[]>,
        signal: AbortSignal,
      ) => Promise<readonly Note[]>)
    | undefined
  /** Writes the statuses of pull requests of people and of merge groups. Throws only the reason of `signal`. */
  vouch(view: PolledRepository['view'], signal: AbortSignal): Promise<WrittenHeads>
  /** Writes previews of open pull requests; undefined where nobody asked for them. Throws only the reason of `signal`. */
  readonly preview?: ((signal: AbortSignal) => Promise<PreviewPass>) | undefined
  close(): Promise<void>
}

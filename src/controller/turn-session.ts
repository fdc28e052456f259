import type { AuditSource } from '@backporch/cluster/audit'
import type { DriftEvent } from '@backporch/cluster/drift-events'
import type { RequestedActionSource } from '@backporch/forge/check-run'
import type { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import type { PreviewPass } from '../reconcile/observe/preview/open-previews.ts'
import type { TurnCache } from '../reconcile/observe/turn-cache.ts'
import type { Meanwhile, OnlyUnits } from '../reconcile/observe/turn-request.ts'
import type { WrittenHeads } from '../reconcile/turn/apply/write-open-heads.ts'
import type { PolledRepository } from '../reconcile/turn/poll-repository.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'

interface TurnInputs {
  readonly between: TurnCache
  readonly requestedActions: RequestedActionSource
  readonly audit: AuditSource | undefined
  /** Undefined: all. */
  readonly only: OnlyUnits | undefined
  readonly watched: ReadonlySet<string>
  readonly unreachable: ReadonlyMap<string, Failure>
  readonly meanwhile: Meanwhile
  readonly onProgress: (step: string) => void
}

export interface TurnSession {
  readonly clusters: readonly string[]
  readonly key: RedactionKey
  /** @throws Failure */
  poll(
    inputs: Pick<TurnInputs, 'requestedActions' | 'between'>,
    signal: AbortSignal,
  ): Promise<PolledRepository>
  /** @throws Failure when nothing could be done; failures of one package are in the result */
  turn(inputs: TurnInputs, signal: AbortSignal): Promise<TurnResult>
  /** Undefined if none are written. Never throws. @returns why one was not written */
  readonly announce?:
    | ((
        events: ReadonlyMap<string, readonly DriftEvent[]>,
        signal: AbortSignal,
      ) => Promise<readonly Note[]>)
    | undefined
  /** For people's pull requests and merge groups. Throws only the reason of `signal`. */
  vouch(view: PolledRepository['view'], signal: AbortSignal): Promise<WrittenHeads>
  /** Undefined if not requested. Throws only the reason of `signal`. */
  readonly preview?: ((signal: AbortSignal) => Promise<PreviewPass>) | undefined
  close(): Promise<void>
}

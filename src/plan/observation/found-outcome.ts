/** What a turn found of an episode that ended without `approve` and `reject`. */
import type { KnownProposal } from '@backporch/forge/hosted-forge'
import { formatWorkspaceBranch } from '@backporch/git-store/ref-name'
import type { Change } from '../../record/documents/change.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { GitWrites } from './action.ts'
import { silenceEnd } from './closed-episode.ts'
import type { Observation } from './observation.ts'

/** A decision that this turn found: reported on the proposal. */
export interface FoundOutcome {
  /** Full ref name of the proposal's branch, which may be gone. */
  readonly ref: string
  readonly episode: ClosedEpisode
}

export interface Found extends FoundOutcome {
  readonly writes: GitWrites
  readonly note: string
}

/** Full ref name of a workspace of the unit. */
export function proposedRef({ unit }: Pick<Observation, 'unit'>, workspace: string): string {
  return `refs/heads/${formatWorkspaceBranch({ state: 'proposed', packagePath: unit.packageName, workspace })}`
}

/** Reason of an episode that ended with a close on the forge. */
export const PROPOSAL_CLOSED = 'the proposal was closed'

export function isClosedByPerson({ outcome, reason }: ClosedEpisode['status']): boolean {
  return outcome === 'Declined' && reason === PROPOSAL_CLOSED
}

/** Silence begins with the decision, not with its observation. */
export function declined(
  { cluster, policy }: Observation,
  changes: readonly Change[],
  by: KnownProposal | undefined,
  reason: string,
): ClosedEpisode['status'] & { readonly silentUntil: string } {
  const closed = by?.state === 'closed' ? by : undefined
  const at =
    closed !== undefined && closed.decidedAt !== '' && closed.decidedAt < cluster.observedAt
      ? closed.decidedAt
      : cluster.observedAt
  const silentUntil = silenceEnd(changes, at, policy.closeSilence)
  return { outcome: 'Declined', decidedBy: closed?.decidedBy ?? '', at, silentUntil, reason }
}

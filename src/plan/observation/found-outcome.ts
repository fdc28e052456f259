import type { KnownProposal } from '@backporch/forge/hosted-forge'
import { formatWorkspaceBranch } from '@backporch/git-store/ref-name'
import type { Change } from '../../record/documents/change.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { GitWrites } from './action.ts'
import { silenceEnd } from './closed-episode.ts'
import type { Observation } from './observation.ts'

export interface FoundOutcome {
  /** Full name; the branch may be deleted. */
  readonly ref: string
  readonly episode: ClosedEpisode
}

export interface Found extends FoundOutcome {
  readonly writes: GitWrites
  readonly note: string
}

export function formatProposedRef({ unit }: Pick<Observation, 'unit'>, workspace: string): string {
  return `refs/heads/${formatWorkspaceBranch({ state: 'proposed', packagePath: unit.packageName, workspace })}`
}

export const PROPOSAL_CLOSED = 'the proposal was closed'

export function isClosedByPerson({ outcome, reason }: ClosedEpisode['status']): boolean {
  return outcome === 'Declined' && reason === PROPOSAL_CLOSED
}

/** Silence begins with the decision, not with its observation. */
export function createDeclinedStatus(
  { cluster, policy }: Observation,
  changes: readonly Change[],
  by: KnownProposal | undefined,
  reason: string,
): ClosedEpisode['status'] & { readonly silentUntil: string } {
  const closed = by?.state === 'closed' ? by : undefined
  const at =
    closed?.decidedAt !== undefined && closed.decidedAt < cluster.observedAt
      ? closed.decidedAt
      : cluster.observedAt
  const silentUntil = silenceEnd(changes, at, policy.closeSilence)
  return { outcome: 'Declined', decidedBy: closed?.decidedBy ?? '', at, silentUntil, reason }
}

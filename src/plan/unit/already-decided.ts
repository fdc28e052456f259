import { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { formatShownPath } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import { isLeftByApply } from '../../drift/compare/last-applied.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { findOtherBase } from '../observation/base-branch.ts'
import type { Observation, ResolutionRequest } from '../observation/observation.ts'
import { isWaiting } from '../observation/waiting-state.ts'
import {
  listApplyingFingerprints,
  listUnverifiedMerges,
  type OpenChange,
} from './commands/pick-changes.ts'

/**
 * Ignoring such a change would look as if the request was accepted.
 * @throws Failure BP2008
 */
export function assertUndecided(
  observed: Observation,
  resolutionRequest: ResolutionRequest | undefined,
  changes: readonly OpenChange[],
  closed: readonly ClosedEpisode[],
): void {
  const named =
    resolutionRequest === undefined
      ? []
      : [resolutionRequest, ...(resolutionRequest.more ?? [])].flatMap((choice) => [
          ...(choice.changes ?? []),
        ])
  if (named.length === 0) return
  const wanted = new Set(named)
  const applying = listApplyingFingerprints(closed)
  const decided = changes.filter(
    ({ fingerprint }) => wanted.has(fingerprint) && applying.has(fingerprint),
  )
  if (decided.length === 0) return
  const shown = decided.map(({ drift: { id, path, change } }) => {
    return `${describeResourceId(id)} ${path.length === 0 ? change : formatShownPath(observed.key, id, path)}`
  })
  const more = shown.length > 3 ? ` and ${shown.length - 3} more` : ''
  throw new Failure({
    code: 'BP2008',
    what: `the decision about ${shown.slice(0, 3).join(', ')}${more} is already made`,
    where: `${observed.unit.packageName} in ${observed.unit.cluster}`,
    why: `${listDecisions(decided, closed).join(', ')} was merged to restore it, and the cluster does not agree yet`,
    remedy:
      decided.length < wanted.size
        ? 'select only the changes that are still open, by their numbers in backporch diff'
        : `let it be applied, then backporch scan ${observed.unit.packageName}; decide again if it differs after that`,
    retry: 'on-change',
  })
}

function listDecisions(
  decided: readonly Pick<OpenChange, 'fingerprint'>[],
  closed: readonly ClosedEpisode[],
): string[] {
  const wanted = new Set(decided.map(({ fingerprint }) => fingerprint))
  return listUnverifiedMerges(closed)
    .filter(({ spec }) =>
      spec.changes.some(
        ({ fingerprint, resolution }) => resolution === 'Restore' && wanted.has(fingerprint),
      ),
    )
    .map(
      ({ metadata, status }) =>
        `drift-${metadata.name}${status.revision === undefined ? '' : ` (${status.revision})`}`,
    )
}

interface DecidedTurn {
  readonly report: DriftReport
  readonly outcomes: readonly { readonly episode: ClosedEpisode }[]
}

/** Decided lines need no second decision, and disappear once the decision is applied. */
export function createWaitingNotes(
  observed: Observation,
  { report, outcomes }: DecidedTurn,
): readonly Note[] {
  if (findOtherBase(observed) !== undefined) return []
  const closed = [...observed.git.ledger.closed, ...outcomes.map(({ episode }) => episode)]
  const latest = [...new Map(closed.map((episode) => [episode.metadata.name, episode])).values()]
  const applying = listApplyingFingerprints(latest)
  const decided = report.spec.changes.filter(({ fingerprint }) => applying.has(fingerprint))
  if (decided.length === 0) return []
  const stay =
    observed.policy.settle === 'backporch'
      ? 0
      : decided.filter(({ notes = [] }) => notes.some(isLeftByApply)).length
  const count = decided.length === 1 ? '1 change is' : `${decided.length} changes are`
  const text = `${count} decided by ${listDecisions(decided, latest).join(', ')}: ${describeWhatIsLeft(decided.length, stay)}`
  return [
    {
      cause: 'waits-for-apply',
      subject: `${observed.unit.packageName} in ${observed.unit.cluster}`,
      text,
    },
  ]
}

function describeWhatIsLeft(count: number, stay: number): string {
  if (stay === 0)
    return `${count === 1 ? 'it waits' : 'they wait'} until the merged change is applied`
  if (stay === count)
    return `no apply removes ${count === 1 ? 'it, so remove it' : 'them, so remove them'} by hand`
  return `apply the merged change, and remove by hand the ${stay} that no apply removes`
}

/** @param applying changes with a merged decision that live does not match yet */
export function createNothingToDecideFailure(observed: Observation, applying: number): Failure {
  const { packageName: name, cluster } = observed.unit
  const { why, remedy } = explainNothing(observed, applying)
  return new Failure({
    code: 'BP2008',
    what: `there is nothing to decide about ${name} in ${cluster}`,
    why,
    remedy,
    retry: 'on-change',
  })
}

function explainNothing(
  { unit, verdicts, incomplete }: Observation,
  applying: number,
): Pick<Failure, 'why' | 'remedy'> {
  const scan = `then backporch scan ${unit.packageName}`
  if (applying > 0)
    return {
      why: `all differences (${applying}) are decided and merged, and the cluster does not agree yet`,
      remedy: `let it be applied, ${scan}`,
    }
  const aside = verdicts.flatMap(({ setAside }) => setAside)
  const waiting = aside.filter(({ state }) => isWaiting(state))
  const [first] = waiting
  if (first !== undefined)
    return {
      why: `the differences (${waiting.length}) wait for the syncer and are not drift: ${first.why}`,
      remedy: `${first.state === 'Suspended' ? 'resume the syncer' : 'let the syncer apply it'}, ${scan}; to keep what is live, revert that commit`,
    }
  if (incomplete.length > 0)
    return {
      why: 'no difference was found, but not everything could be observed',
      remedy: 'backporch diff shows what could not be observed',
    }
  if (aside.length > 0)
    return {
      why: `the differences (${aside.length}) are ignored or released, so they are not drift`,
      remedy: 'backporch diff --show-ignored lists them',
    }
  return { why: 'live agrees with git', remedy: 'backporch diff shows the state' }
}

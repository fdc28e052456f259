/**
 * The statuses of a proposal. They contain no time, so that an equal state is not sent again
 * (docs/guides/review-a-drift-pull-request.md).
 */
import type { CommitStatus } from '@backporch/forge/hosted-forge'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { SyncerReport } from '../../syncers/syncer.ts'
import type { MassSubject } from './mass-text.ts'
import { hasNoApplier, type PolicyProblem, type ProposalSubject } from './proposal-subject.ts'

const LIMIT = 140
/** People may require it of every pull request into the base branch. */
export const FRESH = 'drift/fresh'

interface Facts
  extends Pick<
    MassSubject,
    'policy' | 'ledgerUrl' | 'fingerprint' | 'plan' | 'changes' | 'settle'
  > {
  readonly moved?: boolean
  /** Why live may no longer be the reviewed state; undefined if it is. */
  readonly unseen: string | undefined
  readonly applier: { readonly fails: boolean; readonly text: string }
}

/**
 * @param complete the whole unit could be observed
 * @param moved live is not what was reviewed, and a merge queue keeps the proposal unchanged
 */
export function createProposalStatuses(
  subject: ProposalSubject,
  complete: boolean,
  moved = false,
): CommitStatus[] {
  const { applier, record } = subject
  const fails = hasNoApplier(subject) || applier.warning !== undefined
  return createStatuses({
    ...record.spec,
    ...subject,
    moved,
    unseen: complete ? undefined : 'the unit was observed only in part: this may be out of date',
    applier: {
      fails,
      text: fails ? (applier.warning ?? applier.sentence) : `${applier.name}: ${applier.sentence}`,
    },
  })
}

export function createMassStatuses(subject: MassSubject): CommitStatus[] {
  const { appliers, rows } = subject
  const failing = appliers.find(
    ({ applier }) => applier.restores === 'never' || applier.warning !== undefined,
  )
  const [first] = appliers
  const missed = rows.filter(({ state }) => state === 'not observed').length
  return createStatuses({
    ...subject,
    unseen:
      missed === 0
        ? undefined
        : `${missed} of ${rows.length} clusters could not be observed: this may be out of date`,
    applier:
      failing === undefined
        ? {
            fails: false,
            text:
              first === undefined
                ? 'the syncer of the package'
                : `${first.applier.name}: ${first.applier.sentence}`,
          }
        : {
            fails: true,
            text: `in ${failing.clusters} of ${rows.length} clusters: ${failing.applier.warning ?? failing.applier.sentence}`,
          },
  })
}

function createStatuses({
  policy,
  ledgerUrl,
  fingerprint,
  plan,
  changes,
  settle,
  unseen,
  moved,
  applier,
}: Facts): CommitStatus[] {
  const make = (
    context: string,
    state: CommitStatus['state'],
    description: string,
  ): CommitStatus => ({
    context,
    state,
    description: convertToOneLine(description, LIMIT),
    url: ledgerUrl,
  })
  const short = fingerprint.slice('sha256:'.length, 'sha256:'.length + 8)
  const restores = changes.some(({ resolution }) => resolution === 'Restore')
  return [
    // A failing check makes a queue release a pull request.
    moved === true
      ? createMovedStatus(ledgerUrl)
      : unseen === undefined
        ? make(FRESH, 'success', `the cluster matches this record (${short})`)
        : make(FRESH, 'pending', unseen),
    make(
      'drift/render',
      'success',
      plan === 'Restore'
        ? 'no manifest changes'
        : 'rendering these edits gives the planned values and changes nothing else',
    ),
    policy.problem === undefined
      ? make(
          'drift/policy',
          'success',
          `${policy.name}: ${policy.mode}, as ${policy.location ?? 'shipped'} says`,
        )
      : make('drift/policy', 'failure', describeUnusablePolicy(policy.problem)),
    ...(!restores
      ? []
      : settle === 'backporch'
        ? [
            make(
              'drift/applier',
              'success',
              'backporch restores exactly these fields after the merge',
            ),
          ]
        : [make('drift/applier', applier.fails ? 'failure' : 'success', applier.text)]),
  ]
}

/** A proposal in a merge queue is never rebuilt. */
export function createMovedStatus(url: string | undefined): CommitStatus {
  const description = 'live changed after the review: out of the merge queue, this is rebuilt'
  return { context: FRESH, state: 'failure', description, url }
}

const VOUCHING = [FRESH, 'drift/render', 'drift/policy', 'drift/applier'] as const

function describeUnusablePolicy({ where, why }: PolicyProblem): string {
  return `the policy cannot be used: ${where}: ${why}`
}

/** @param url of the file */
export function createUnusablePolicyStatus(problem: PolicyProblem, url: string): CommitStatus {
  return {
    context: 'drift/policy',
    state: 'failure',
    description: convertToOneLine(describeUnusablePolicy(problem), LIMIT),
    url,
  }
}

/**
 * Of another author's commit: Backporch may have vouched for an older commit.
 * @param why the beginning of a sentence
 */
export function createForeignStatuses(why: string): CommitStatus[] {
  return VOUCHING.map((context) => ({
    context,
    state: 'failure' as const,
    description: convertToOneLine(why, LIMIT),
    url: undefined,
  }))
}

interface LandedMerge {
  readonly cluster: string
  readonly url: string
  readonly report: SyncerReport | undefined
  /** The merge commit, and the base branch. */
  readonly commits: readonly string[]
}

/** Undefined if `kind` is not a merge. */
export function createRestoredStatus(
  kind: string,
  { cluster, url, report, commits }: LandedMerge,
): CommitStatus | undefined {
  const progress = describeSyncerProgress(report, commits)
  const tail = progress === undefined ? '' : `: ${progress.text}`
  const words: { readonly [kind: string]: readonly [CommitStatus['state'], string] } = {
    merged: [
      progress?.fails === true ? 'failure' : 'pending',
      `waiting for ${cluster} to match the merged revision${tail}`,
    ],
    verified: ['success', `${cluster} matches the merged revision`],
    'not-restored': ['failure', `${cluster} does not match the merged revision${tail}`],
  }
  const [state, description] = words[kind] ?? []
  if (state === undefined || description === undefined) return undefined
  return {
    context: 'drift/restored',
    state,
    description: convertToOneLine(description, LIMIT),
    url,
  }
}

/** A clause; undefined without a report. */
export function describeSyncerProgress(
  report: SyncerReport | undefined,
  commits: readonly string[],
): { readonly fails: boolean; readonly text: string } | undefined {
  if (report?.title === undefined) return undefined
  const { title, applied, atWork, suspended, says } = report
  if (suspended !== undefined) return { fails: true, text: suspended }
  if (says !== undefined) return { fails: true, text: says }
  if (applied !== undefined && commits.includes(applied))
    return { fails: false, text: `${title} applied it` }
  if (atWork !== undefined) return { fails: false, text: atWork }
  return applied === undefined
    ? undefined
    : { fails: false, text: `${title} applied ${applied.slice(0, 7)} last` }
}

export function createNotObservedStatus(clusters: readonly string[]): CommitStatus {
  const who =
    clusters.length === 1 ? `the cluster ${clusters[0] ?? ''}` : `the ${clusters.length} clusters`
  return {
    context: FRESH,
    state: 'pending',
    description: convertToOneLine(`${who} could not be observed: this may be out of date`, LIMIT),
    url: undefined,
  }
}

export function createNoProposalStatus(): CommitStatus {
  return { context: FRESH, state: 'success', description: 'no drift proposal', url: undefined }
}

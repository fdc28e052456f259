import { shortBranch } from '@backporch/git-store/ref-name'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import { type ResourceId, resourceKey } from '@backporch/kyaml/resource'
import { given } from '@backporch/kyaml/text'
import type { Drift, Resolution } from '../../drift/compare/drift.ts'
import { type FingerprintUnit, fingerprintOf } from '../../drift/compare/fingerprint.ts'
import { setsTags } from '../../policy/effective-policy.ts'
import { buildReport, showChange, showHealth } from '../../record/build-report.ts'
import type { Change } from '../../record/documents/change.ts'
import { documentHead } from '../../record/documents/document.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { objectCopies } from '../../record/object-copies.ts'
import { isSameDocument } from '../../record/write-document.ts'
import type { Hold } from '../observation/hold.ts'
import { identityOf } from '../observation/ledger-files.ts'
import type { Observation, OpenBranch, ResolutionRequest } from '../observation/observation.ts'
import { isAhead } from '../observation/seen-at.ts'
import { sameTree } from '../observation/unit-git.ts'
import { stuckSince } from '../observation/waiting-state.ts'
import { plannedBy, snoozed } from './commands/comment-status.ts'
import { type PlannedChange, planOf } from './commands/pick-changes.ts'
import { ruleMatches } from './commands/rule-matches.ts'
import { rolloutOf } from './rollout.ts'

export function unitFingerprint(
  { unit, key, ...observed }: Observation,
  active: readonly PlannedChange[],
): string {
  const cluster = identityOf({ unit, key, ...observed }) || unit.cluster
  const of: FingerprintUnit = { cluster, package: unit.packagePath }
  const drifts = (): Drift[] => active.map(({ drift }) => drift)
  return key.derived.get(active, `fingerprint ${JSON.stringify(of)}`, [], () =>
    fingerprintOf(of, drifts(), key),
  )
}

function resolutionsOf(
  active: readonly PlannedChange[],
  key: RedactionKey,
): ReadonlyMap<Drift, Resolution> {
  return key.derived.get(
    active,
    'resolutions',
    [],
    () => new Map(active.map(({ drift, resolution }) => [drift, resolution])),
  )
}

export interface ReportState {
  readonly state: DriftReport['status']['state']
  readonly branch: Pick<OpenBranch, 'ref' | 'state' | 'record'> | undefined
  /** Why a possible proposal is a draft; not set while values are withheld. */
  readonly hold?: Hold | undefined
}

/** The last tag of a folder that is no longer tagged does not describe its present content. */
function isRevision({ git, policy, unit }: Observation): boolean {
  return git.revision !== 0 && (unit.source !== 'folder' || setsTags(policy, unit.source))
}

export function unitReport(
  observed: Observation,
  active: readonly PlannedChange[],
  fingerprint: string,
  { state, branch, hold }: ReportState,
): DriftReport {
  const before = observed.git.ledger.report?.status
  const at = observed.cluster.observedAt
  const episode = branch?.record.spec.episode ?? ''
  const lifecycle = branch === undefined ? '' : branch.state === 'drafts' ? 'Draft' : 'Proposed'
  return buildReport({
    unit: {
      cluster: observed.unit.cluster,
      package: observed.unit.packagePath,
      ...(observed.unit.packagePath === '' ? { name: observed.unit.packageName } : {}),
      ...(observed.unit.source === 'folder' ? { source: observed.unit.source } : {}),
      ...(observed.unit.appliedBy === undefined ? {} : { appliedBy: observed.unit.appliedBy }),
      branch: observed.git.baseBranch,
      ...(isRevision(observed) ? { revision: `v${observed.git.revision}` } : {}),
      commit: observed.git.base,
      tree: observed.git.treeHash,
    },
    fingerprint,
    observedAt: at,
    syncer: observed.syncer?.manager ?? '',
    recorded: observed.cluster.recorded,
    verdicts: observed.verdicts,
    resolutions: resolutionsOf(active, observed.key),
    key: observed.key,
    status: {
      state,
      ...sinceWhen(before, state, { at, now: observed.now ?? at }),
      ...given({ stuckSince: stuckSince(observed.verdicts) }),
      episode,
      lifecycle,
      plan:
        active.length === 0 || state === 'Off'
          ? ''
          : planOf(active.map(({ resolution }) => resolution)),
      // In schema order, as it is read back.
      ...(branch === undefined || branch.ref.endsWith(`/drift-${episode}`)
        ? {}
        : { branch: shortBranch(branch.ref) }),
      ...(hold === undefined || !isHeld({ state, lifecycle }, hold) ? {} : { held: hold }),
      ...snoozed(observed, { episode, lifecycle }),
      ...ruleMatches(observed),
      health: showHealth(observed.health, observed.incomplete),
      ...rolloutOf(observed),
      ...(observed.key.isNew && fingerprint !== '' ? { newKeyId: observed.key.id } : {}),
    },
    incomplete: observed.incomplete,
  })
}

function isHeld(
  { state, lifecycle }: Pick<DriftReport['status'], 'state' | 'lifecycle'>,
  { reason }: Hold,
): boolean {
  return lifecycle === 'Draft' || (state === 'Drifted' && lifecycle === '' && reason === 'policy')
}

function sinceWhen(
  before: DriftReport['status'] | undefined,
  state: DriftReport['status']['state'],
  { at, now }: { readonly at: string; readonly now: string },
): Pick<DriftReport['status'], 'since' | 'lastKnown'> {
  if (before === undefined || isAhead(before.since, now)) return { since: at }
  const { lastKnown } = before
  if (state === 'Unknown' && before.state !== 'Unknown')
    return { since: at, lastKnown: { state: before.state, since: before.since } }
  if (before.state === state) return { since: before.since, ...given({ lastKnown }) }
  return { since: lastKnown?.state === state ? lastKnown.since : at }
}

export interface EpisodeState {
  readonly episode: string
  readonly began: string
  readonly lifecycle: DriftRecord['spec']['lifecycle']
  readonly previous: DriftRecord['spec'] | undefined
  readonly resolutionRequest: ResolutionRequest | undefined
  readonly after: string | undefined
  readonly excludes: readonly string[]
}

export function unitRecord(
  observed: Observation,
  active: readonly PlannedChange[],
  fingerprint: string,
  { episode, began, lifecycle, previous, resolutionRequest, after, excludes }: EpisodeState,
): DriftRecord {
  const report = unitReport(observed, active, fingerprint, { state: 'Drifted', branch: undefined })
  const message = resolutionRequest === undefined ? previous?.message : resolutionRequest.message
  const plan = planOf(active.map(({ resolution }) => resolution))
  let objects: ReadonlySet<string> | undefined
  const isWanted = (id: ResourceId): boolean => {
    objects ??= new Set(active.map(({ drift }) => resourceKey(drift.id)))
    return objects.has(resourceKey(id))
  }
  const copies = objectCopies(observed.verdicts, observed.key, { isWanted })
  return {
    ...documentHead('DriftRecord', `drift-${episode}`),
    spec: {
      ...report.spec,
      changes: observed.key.derived.get(active, 'shown', [], () =>
        active.map((change) => showChange(change, observed.key)),
      ),
      episode,
      began,
      ...proposedWhen(lifecycle, began, previous, observed.cluster.observedAt),
      lifecycle,
      plan,
      ...given({ message }),
      ...plannedBy(resolutionRequest, previous, plan),
      ...given({ after }),
      ...(excludes.length === 0 ? {} : { excludes: [...excludes] }),
      // The edit on the branch is rebuilt only if something else changes.
      ...given({ notes: previous?.notes }),
      policy: { name: observed.policy.name, mode: observed.policy.mode },
      settle: observed.policy.settle,
      keyId: observed.key.id,
      ...(copies.length === 0 ? {} : { copies }),
    },
  }
}

function proposedWhen(
  lifecycle: EpisodeState['lifecycle'],
  began: string,
  previous: DriftRecord['spec'] | undefined,
  now: string,
): { readonly proposedAt?: string } {
  const at = previous?.lifecycle === 'Proposed' ? previous.proposedAt : now
  return lifecycle === 'Draft' || at === undefined || at === began ? {} : { proposedAt: at }
}

/** Observation times alone change nothing. */
export function isEqualText({ git }: Observation, open: OpenBranch, record: DriftRecord): boolean {
  const [before, after] = [open.record.spec, record.spec]
  const timeless = ({
    observed,
    unit,
    policy,
    copies = [],
    ...rest
  }: DriftRecord['spec']): object => ({
    ...rest,
    // A declared object also changes outside the difference: its copy is from the last change of
    // the difference.
    copies: copies.map(({ ref, manifest }) => ({ ref, retained: manifest !== undefined })),
    changes: rest.changes.length,
    cluster: unit.cluster,
    syncer: observed.syncer,
  })
  return (
    isSameDocument(timeless(before), timeless(after)) &&
    before.changes.every((change, index) => sameTextOf(change, after.changes[index])) &&
    sameTree(git.tree, git.baseTrees.get(open.base))
  )
}

function sameTextOf(before: Change, after: Change | undefined): boolean {
  if (before === after || after === undefined) return before === after
  const [{ source: _before, ...left }, { source: _after, ...right }] = [before, after]
  return isSameDocument(left, right)
}

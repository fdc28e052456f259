import { shortenBranch } from '@backporch/git-store/ref-name'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import { getResourceKey, type ResourceId } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import type { Drift, Resolution } from '../../drift/compare/drift.ts'
import { computeFingerprint, type FingerprintUnit } from '../../drift/compare/fingerprint.ts'
import { shouldSetTags } from '../../policy/effective-policy.ts'
import { buildReport, showChange, showHealth } from '../../record/build-report.ts'
import type { Change } from '../../record/documents/change.ts'
import { createDocumentHead } from '../../record/documents/document.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { createObjectCopies } from '../../record/object-copies.ts'
import { isSameDocument } from '../../record/write-document.ts'
import type { Hold } from '../observation/hold.ts'
import { getIdentity } from '../observation/ledger-files.ts'
import type { Observation, OpenBranch, ResolutionRequest } from '../observation/observation.ts'
import { isAhead } from '../observation/seen-at.ts'
import { isSameTree } from '../observation/unit-git.ts'
import { findStuckSince } from '../observation/waiting-state.ts'
import { attributePlan, computeSnooze } from './commands/comment-status.ts'
import { getPlan, type PlannedChange } from './commands/pick-changes.ts'
import { listRuleMatches } from './commands/rule-matches.ts'
import { deriveRollout } from './rollout.ts'

export function computeUnitFingerprint(
  { unit, key, ...observed }: Observation,
  active: readonly PlannedChange[],
): string {
  const cluster = getIdentity({ unit, key, ...observed }) || unit.cluster
  const of: FingerprintUnit = { cluster, package: unit.packagePath }
  const drifts = (): Drift[] => active.map(({ drift }) => drift)
  return key.derived.get(active, `fingerprint ${JSON.stringify(of)}`, [], () =>
    computeFingerprint(of, drifts(), key),
  )
}

function indexResolutions(
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
  return git.revision !== 0 && (unit.source !== 'folder' || shouldSetTags(policy, unit.source))
}

export function createUnitReport(
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
    resolutions: indexResolutions(active, observed.key),
    key: observed.key,
    status: {
      state,
      ...computeSince(before, state, { at, now: observed.now ?? at }),
      ...omitUndefined({ stuckSince: findStuckSince(observed.verdicts) }),
      episode,
      lifecycle,
      plan:
        active.length === 0 || state === 'Off'
          ? ''
          : getPlan(active.map(({ resolution }) => resolution)),
      // In schema order, as it is read back.
      ...(branch === undefined || branch.ref.endsWith(`/drift-${episode}`)
        ? {}
        : { branch: shortenBranch(branch.ref) }),
      ...(hold === undefined || !isHeld({ state, lifecycle }, hold) ? {} : { held: hold }),
      ...computeSnooze(observed, { episode, lifecycle }),
      ...listRuleMatches(observed),
      health: showHealth(observed.health, observed.incomplete),
      ...deriveRollout(observed),
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

function computeSince(
  before: DriftReport['status'] | undefined,
  state: DriftReport['status']['state'],
  { at, now }: { readonly at: string; readonly now: string },
): Pick<DriftReport['status'], 'since' | 'lastKnown'> {
  if (before === undefined || isAhead(before.since, now)) return { since: at }
  const { lastKnown } = before
  if (state === 'Unknown' && before.state !== 'Unknown')
    return { since: at, lastKnown: { state: before.state, since: before.since } }
  if (before.state === state) return { since: before.since, ...omitUndefined({ lastKnown }) }
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

export function createUnitRecord(
  observed: Observation,
  active: readonly PlannedChange[],
  fingerprint: string,
  { episode, began, lifecycle, previous, resolutionRequest, after, excludes }: EpisodeState,
): DriftRecord {
  const report = createUnitReport(observed, active, fingerprint, {
    state: 'Drifted',
    branch: undefined,
  })
  const message = resolutionRequest === undefined ? previous?.message : resolutionRequest.message
  const plan = getPlan(active.map(({ resolution }) => resolution))
  let objects: ReadonlySet<string> | undefined
  const isWanted = (id: ResourceId): boolean => {
    objects ??= new Set(active.map(({ drift }) => getResourceKey(drift.id)))
    return objects.has(getResourceKey(id))
  }
  const copies = createObjectCopies(observed.verdicts, observed.key, { isWanted })
  return {
    ...createDocumentHead('DriftRecord', `drift-${episode}`),
    spec: {
      ...report.spec,
      changes: observed.key.derived.get(active, 'shown', [], () =>
        active.map((change) => showChange(change, observed.key)),
      ),
      episode,
      began,
      ...computeProposedAt(lifecycle, began, previous, observed.cluster.observedAt),
      lifecycle,
      plan,
      ...omitUndefined({ message }),
      ...attributePlan(resolutionRequest, previous, plan),
      ...omitUndefined({ after }),
      ...(excludes.length === 0 ? {} : { excludes: [...excludes] }),
      // The edit on the branch is rebuilt only if something else changes.
      ...omitUndefined({ notes: previous?.notes }),
      policy: { name: observed.policy.name, mode: observed.policy.mode },
      settle: observed.policy.settle,
      keyId: observed.key.id,
      ...(copies.length === 0 ? {} : { copies }),
    },
  }
}

function computeProposedAt(
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
    before.changes.every((change, index) => hasSameText(change, after.changes[index])) &&
    isSameTree(git.tree, git.baseTrees.get(open.base))
  )
}

function hasSameText(before: Change, after: Change | undefined): boolean {
  if (before === after || after === undefined) return before === after
  const [{ source: _before, ...left }, { source: _after, ...right }] = [before, after]
  return isSameDocument(left, right)
}

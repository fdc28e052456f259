import { createHash } from 'node:crypto'
import type { ClusterIdentity } from '@backporch/cluster/cluster'
import { catchFailure, Failure } from '@backporch/kyaml/failure'
import { isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { redactHashes } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import type { PolicySet } from '../../policy/parse-policy.ts'
import {
  type ClusterObservation,
  type ClusterStatus,
  clusterObservationSchema,
  selectUnknownFields,
} from '../../record/documents/cluster-observation.ts'
import { createDocumentHead } from '../../record/documents/document.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { knownTexts } from '../../record/known-texts.ts'
import { formatLedgerObservationPath, formatLedgerUnitFolder } from '../../record/record-paths.ts'
import {
  deferText,
  formatDocument,
  isSameDocument,
  isWrittenAs,
} from '../../record/write-document.ts'
import { buildResourceGroup, type MemberDrift } from '../../status/resource-group.ts'
import type { LedgerFile } from './action.ts'
import type { Observation } from './observation.ts'
import { getLastLook, isAhead, isOlder } from './seen-at.ts'
import { isWaiting } from './waiting-state.ts'

export interface LedgerFiles {
  readonly files: readonly LedgerFile[]
  readonly line: string | undefined
  readonly report: DriftReport
}

export function createLedgerFiles(observed: Observation, report: DriftReport): LedgerFiles {
  const before = observed.git.ledger.report
  const folder = formatLedgerUnitFolder(observed.unit.cluster, observed.unit.slug)
  const isEqual =
    before !== undefined &&
    (isEqualText(before, report) || (observed.key.isNew && isEqualKeyless(before, report)))
  const retained =
    isEqual && !isAheadOf(before, observed) ? before : keepFirstCommit(before, report)
  const groupPath = `${folder}/resourcegroup.yaml`
  const text = observed.git.ledger.texts.get(groupPath)
  const previous = text === undefined ? undefined : readObject(text, groupPath)
  const retainedGroup = createResourceGroup(observed, retained, previous)
  const files = [
    ...listChangedFiles(`${folder}/report.yaml`, retained, retained === before, observed),
    ...listChangedFiles(groupPath, retainedGroup, retainedGroup === previous, observed),
  ]
  if (files.length === 0) return { files, line: undefined, report: retained }
  return {
    files: [...files, ...createObservedFiles(observed)],
    line: `${observed.unit.packageName}: ${retained.status.state}${retained.spec.changes.length === 0 ? '' : ` (${retained.spec.changes.length})`}`,
    report: retained,
  }
}

function isAheadOf(
  { spec }: DriftReport,
  { cluster, now = cluster.observedAt }: Observation,
): boolean {
  const { at, seenAt = '' } = spec.observed
  return (isAhead(at, now) && at !== cluster.observedAt) || isAhead(seenAt, now)
}

function createResourceGroup(
  { inventory, unit, health, cluster, key }: Observation,
  { spec, status }: DriftReport,
  previous: JsonObject | undefined,
): JsonObject {
  const source = {
    name: inventory?.name || unit.slug,
    namespace: inventory?.namespace || undefined,
    inventoryId: inventory?.id || undefined,
    commit: spec.unit.commit,
    drift: getMemberDrift({ spec, status }),
  }
  return key.derived.get(health, 'group', [spec.changes, JSON.stringify(source), previous], () => {
    const drifted = [...new Map(spec.changes.map(({ ref }) => [getResourceKey(ref), ref])).values()]
    const created = buildResourceGroup({
      ...source,
      members: health,
      drifted,
      at: cluster.observedAt,
      previous,
    })
    return previous !== undefined && isSameDocument(previous, created) ? previous : created
  })
}

function listChangedFiles(
  path: string,
  document: object,
  isRetained: boolean,
  { git }: Observation,
): LedgerFile[] {
  const before = git.ledger.texts.get(path)
  if (isRetained && before !== undefined && isWrittenAs(document, before)) return []
  const later = deferText(document, formatDocument)
  return [
    {
      path,
      get text() {
        return later()
      },
    },
  ]
}

function getMemberDrift({ spec, status }: Pick<DriftReport, 'spec' | 'status'>): MemberDrift {
  if (spec.changes.length > 0) return 'drifted'
  if (status.state === 'Unknown' || (status.incomplete ?? []).length > 0) return 'unverified'
  if (status.stuckSince !== undefined) return 'stuck'
  return isWaiting(status.state) ? 'waiting' : 'in-sync'
}

/** The ledger is a cache: an unreadable file is rewritten. */
export function readObject(text: string, where: string): JsonObject | undefined {
  const read = catchFailure(() => knownTexts.read(text, where))
  return !(read instanceof Failure) && isJsonObject(read.value) ? read.value : undefined
}

function isEqualText(before: DriftReport, after: DriftReport): boolean {
  return isSameDocument(omitTimes(before), omitTimes(after))
}

function omitTimes({ spec, status }: DriftReport): TimelessReport {
  const { commit: _commit, ...unit } = spec.unit
  const { seenAt: _seen, ...observed } = spec.observed
  // Another key gives other fingerprints.
  const { newKeyId: _key, ...rest } = status
  return { spec: { ...spec, unit, observed: { ...observed, at: '' } }, status: rest }
}

interface TimelessReport {
  readonly spec: Omit<DriftReport['spec'], 'unit'> & { readonly unit: object }
  readonly status: object
}

/** A throw-away machine with a new key can compare only the key-independent parts. */
function isEqualKeyless(before: DriftReport, after: DriftReport): boolean {
  return (
    before.status.newKeyId !== after.status.newKeyId &&
    isSameDocument(omitKeyedFields(before), omitKeyedFields(after))
  )
}

function omitKeyedFields(report: DriftReport): object {
  const { spec, status } = omitTimes(report)
  const changes = spec.changes.map(({ fingerprint: _fingerprint, ...change }) => change)
  return JSON.parse(
    redactHashes(JSON.stringify({ spec: { ...spec, changes, fingerprint: '' }, status })),
  )
}

function keepFirstCommit(before: DriftReport | undefined, after: DriftReport): DriftReport {
  if (before === undefined || before.spec.unit.tree !== after.spec.unit.tree) return after
  return {
    ...after,
    spec: { ...after.spec, unit: { ...after.spec.unit, commit: before.spec.unit.commit } },
  }
}

export function createObservationFile(
  cluster: string,
  status: ClusterStatus,
  before: ClusterObservation | undefined,
): LedgerFile {
  const document = {
    ...before,
    ...createDocumentHead('ClusterObservation', cluster),
    status: { ...status, ...selectUnknownFields(before?.status) },
  }
  return { path: formatLedgerObservationPath(cluster), text: formatDocument(document) }
}

function createObservedFiles({
  unit,
  git,
  cluster,
  policy,
  now = cluster.observedAt,
}: Observation): readonly LedgerFile[] {
  const before = findKnownObservation({ unit, git })
  const { observedAt: changedAt, recorded } = cluster
  if (isOlder({ at: changedAt, now, recorded }, getLastLook(before?.status))) return []
  const known = {
    ...createIdentityFields(cluster, before),
    ...omitUndefined({ observedAt: before?.status.observedAt }),
  }
  const status = { changedAt, ...known, reachable: true, ...createPolicyField(policy) }
  return [createObservationFile(unit.cluster, status, before)]
}

export function createIdentityFields(
  { uid, version, recorded }: ClusterIdentity,
  before: ClusterObservation | undefined,
): Pick<ClusterStatus, 'version' | 'identity' | 'recorded'> {
  const identity = uid === undefined ? (before?.status.identity ?? '') : hashIdentity(uid)
  return { version, identity, ...(recorded ? { recorded } : {}) }
}

export function createPolicyField({
  lastGood,
}: Pick<PolicySet, 'lastGood'>): Pick<ClusterStatus, 'policy'> {
  return lastGood === undefined ? {} : { policy: { commit: lastGood.commit, ...lastGood.problem } }
}

/** Undefined if there is none, or it is unreadable. */
export function findKnownObservation({
  unit,
  git,
}: Pick<Observation, 'unit'> & { readonly git: Pick<Observation['git'], 'ledger'> }):
  | ClusterObservation
  | undefined {
  const path = formatLedgerObservationPath(unit.cluster)
  const text = git.ledger.texts.get(path)
  const read = clusterObservationSchema.safeParse(
    text === undefined ? undefined : readObject(text, path),
  )
  return read.success ? read.data : undefined
}

/** 16 hex digits. */
export function hashIdentity(uid: string): string {
  return createHash('sha256').update(uid).digest('hex').slice(0, 16)
}

/**
 * Falls back to the ledger if the account may not read it, so that one drift has one fingerprint
 * whichever account reads it. Empty if neither is known.
 */
export function getIdentity(observed: Observation): string {
  return createIdentityFields(observed.cluster, findKnownObservation(observed)).identity
}

import { createHash } from 'node:crypto'
import { parseWorkspaceBranch } from '@backporch/git-store/ref-name'
import { derivePackageSlug } from '@backporch/kpt/package'
import { isSecret } from '@backporch/kyaml/redaction'
import type { Change } from '../../record/documents/change.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import type { TreeProblem } from '../../record/read-tree.ts'
import {
  convertToEarlierPath,
  formatClosedPath,
  formatLedgerUnitFolder,
  recordPath,
} from '../../record/record-paths.ts'
import { checkChanges, isTime, TIME } from './check-changes.ts'

/** A number if the digits were taken. */
const EPISODE = /^[0-9a-f]{8}(-[1-9][0-9]{0,8})?$/

interface Check {
  readonly path: string | undefined
  readonly holds: boolean
  readonly message: string
}

function listFailedChecks(checks: readonly Check[]): TreeProblem[] {
  return checks.filter(({ holds }) => !holds).map(({ path, message }) => ({ path, message }))
}

export interface SignOff {
  readonly drafts: 'pass' | 'fail'
  readonly message: 'optional' | 'required'
}

/** @param file from the repository root, as far as known */
export function checkRecord(
  record: DriftRecord,
  file: string,
  { drafts, message }: SignOff,
): readonly TreeProblem[] {
  const { spec, metadata } = record
  const text = spec.message?.trim() ?? ''
  const isDraft = spec.lifecycle === 'Draft'
  return [
    ...checkChanges(spec),
    ...spec.changes.flatMap((change, index) =>
      checkResolution(change, `spec.changes[${index}].resolution`),
    ),
    ...checkFileName(spec, file),
    ...listFailedChecks([
      {
        path: 'metadata.name',
        holds: metadata.name === `drift-${spec.episode}`,
        message: 'wanted drift- and the episode',
      },
      {
        path: 'spec.episode',
        holds: EPISODE.test(spec.episode),
        message: 'wanted eight hex digits',
      },
      {
        path: 'spec.changes',
        holds: spec.changes.length > 0,
        message: 'a record without a change decides nothing',
      },
      {
        path: 'spec.fingerprint',
        holds: spec.fingerprint !== '',
        message: 'there are changes, so there is a fingerprint',
      },
      { path: 'spec.began', holds: isTime(spec.began), message: TIME },
      {
        path: 'spec.began',
        holds: spec.began <= spec.observed.at,
        message: 'the episode began after it was observed',
      },
      { path: 'spec.proposedAt', holds: isTime(spec.proposedAt ?? spec.began), message: TIME },
      {
        path: 'spec.proposedAt',
        holds: (spec.proposedAt ?? spec.began) >= spec.began,
        message: 'it was proposed before it began',
      },
      {
        path: 'spec.proposedAt',
        holds: !isDraft || spec.proposedAt === undefined,
        message: 'a draft is not proposed',
      },
      {
        path: 'spec.plan',
        holds: spec.plan === getPlan(spec.changes),
        message: `the resolutions of the changes make it ${getPlan(spec.changes)}`,
      },
      {
        path: 'spec.plannedBefore',
        holds:
          spec.plannedBefore === undefined ||
          (spec.plannedBy !== undefined && spec.plannedBefore !== spec.plan),
        message: 'wanted an earlier plan that differs from spec.plan, and spec.plannedBy',
      },
      {
        path: 'spec.after',
        holds: spec.after !== spec.episode,
        message: 'an episode does not follow itself',
      },
      {
        path: 'spec.keyId',
        holds: /^[0-9a-f]{8}$/.test(spec.keyId),
        message: 'wanted eight hex digits',
      },
      {
        path: 'spec.message',
        holds: spec.message === undefined || text !== '',
        message: 'it is present and empty',
      },
      {
        path: 'spec.lifecycle',
        holds: !isDraft || drafts === 'pass',
        message: 'a draft has no approval: merging it decides nothing',
      },
      {
        path: 'spec.message',
        holds: message === 'optional' || isDraft || spec.plan === 'Restore' || text !== '',
        message: `a plan to ${spec.plan} needs a reason`,
      },
    ]),
  ]
}

function getPlan(changes: readonly Change[]): DriftRecord['spec']['plan'] {
  const [first] = changes
  return first !== undefined && changes.every(({ resolution }) => resolution === first.resolution)
    ? first.resolution
    : 'Mixed'
}

/** What Backporch itself rejects (BP2002, BP2010). */
function checkResolution(
  { change, ref, redacted, resolution }: Change,
  path: string,
): TreeProblem[] {
  if (resolution !== 'Adopt') return []
  if (change === 'unexpected' && isSecret(ref))
    return [{ path, message: 'a Secret that git does not declare cannot be adopted' }]
  return redacted === true && change !== 'removed'
    ? [{ path, message: 'a hidden value cannot be adopted' }]
    : []
}

/** Outside the records folder a record may have any name. */
function checkFileName({ unit, began, episode }: DriftRecord['spec'], file: string): TreeProblem[] {
  const at = file.search(/(?:^|\/)\.drift\/records\//)
  if (at === -1) return []
  const within = file.slice(at).replace(/^\//, '')
  const slug =
    unit.package === '' ? (within.split('/')[3] ?? '') : derivePackageSlug(unit.package, '')
  const present = recordPath(unit.cluster, slug, began, episode)
  // From earlier versions, or a manual copy.
  const wanted = within.endsWith('.yaml') ? convertToEarlierPath(present) : present
  return within === wanted
    ? []
    : [{ path: undefined, message: `the file of this record is ${wanted}` }]
}

export function checkReport(
  { metadata, spec, status }: DriftReport,
  file: string,
): readonly TreeProblem[] {
  const name = createHash('sha256')
    .update(`${spec.unit.cluster}\0${spec.unit.package}`)
    .digest('hex')
    .slice(0, 16)
  const inLedger = /^clusters\/.*\/report\.yaml$/.test(file) && spec.unit.package !== ''
  const wanted = `${formatLedgerUnitFolder(spec.unit.cluster, derivePackageSlug(spec.unit.package, ''))}/report.yaml`
  return [
    ...checkChanges(spec),
    ...listFailedChecks([
      {
        path: undefined,
        holds: !inLedger || file === wanted,
        message: `the file of this report is ${wanted}`,
      },
      {
        path: 'metadata.name',
        holds: metadata.name === name,
        message: `for this cluster and package it must be ${name}`,
      },
      { path: 'status.since', holds: isTime(status.since), message: TIME },
      {
        path: 'status.episode',
        holds: status.episode === '' || EPISODE.test(status.episode),
        message: 'wanted eight hex digits',
      },
      {
        path: 'status.lifecycle',
        holds: status.lifecycle === '' || status.episode !== '',
        message: 'it needs an episode',
      },
      {
        path: 'status.held',
        holds: status.held === undefined || status.lifecycle === 'Draft',
        message: 'only a draft is held',
      },
      {
        path: 'status.state',
        holds: status.state !== 'Drifted' || spec.changes.length > 0,
        message: 'there is no change',
      },
      {
        path: 'status.branch',
        holds: status.branch === undefined || parseWorkspaceBranch(status.branch) !== undefined,
        message: 'wanted a branch below drafts/ or proposed/',
      },
    ]),
  ]
}

export function checkClosed(
  { metadata, spec, status }: ClosedEpisode,
  file: string,
): readonly TreeProblem[] {
  const wanted = formatClosedPath(spec.began, spec.episode)
  return [
    ...checkChanges(spec),
    ...listFailedChecks([
      {
        path: undefined,
        holds: !file.startsWith('closed/') || file === wanted,
        message: `the file of this episode is ${wanted}`,
      },
      {
        path: 'metadata.name',
        holds: metadata.name === spec.episode,
        message: 'wanted the episode',
      },
      {
        path: 'spec.episode',
        holds: EPISODE.test(spec.episode),
        message: 'wanted eight hex digits',
      },
      { path: 'spec.began', holds: isTime(spec.began), message: TIME },
      { path: 'status.at', holds: isTime(status.at), message: TIME },
      {
        path: 'status.verifiedAt',
        holds:
          status.verifiedAt === undefined ||
          status.failedAt === undefined ||
          status.verifiedAt >= status.failedAt,
        message: 'it is earlier than status.failedAt',
      },
      {
        path: 'spec.plan',
        holds: spec.plan === getPlan(spec.changes),
        message: `the resolutions of the changes make it ${getPlan(spec.changes)}`,
      },
    ]),
  ]
}

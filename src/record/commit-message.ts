/**
 * A conventional subject, prose, Porch's `kpt:` line in its own paragraph, then trailers. The
 * trailers are an index for `git log`; the record in the tree is the truth (design §7). The git
 * adapter, which knows the identity, adds `Signed-off-by`.
 */
import { formatKptAnnotation } from '@backporch/kpt/kptfile'
import { describeResourceId } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import { computeActorLimit, formatActorName } from './actor-name.ts'
import { commitJson, commitText } from './commit-text.ts'
import type { Change } from './documents/change.ts'
import type { DriftRecord } from './documents/drift-record.ts'
import { formatSides } from './format-value.ts'
import { computeJointFingerprint } from './joint-fingerprint.ts'
import { formatJointSubject, formatSubject, SUBJECT_LIMIT } from './subject.ts'

const OBJECT_LIMIT = 20
const LEDGER_LINE_LIMIT = 50

export interface MessageSubject {
  readonly record: DriftRecord
  readonly slug: string
  /** Path, or the name of a root package. */
  readonly packageName: string
  /** Porch object name, `deploy.apps.web.v3`; empty before the first published revision. */
  readonly sourceRevision: string
  /** The same drift in several clusters; `record` is then of one of them. */
  readonly joint?: { readonly workspace: string; readonly records: readonly DriftRecord[] }
}

export function formatProposalMessage(
  subject: MessageSubject,
  lifecycle: 'Draft' | 'Proposed',
): string {
  const { record } = subject
  const { changes } = record.spec
  return joinParagraphs([
    subject.joint === undefined
      ? formatSubject(record, lifecycle)
      : formatJointSubject(record, subject.joint.records.length),
    commitText(describeChanges(changes)),
    ...listClusterLines(subject),
    ...formatWhyLines(record),
    describeMergeEffect(record, lifecycle),
    formatKptLine(subject, 0),
    formatTrailers(subject, []),
  ])
}

interface Approval {
  /** Undefined if it gets no tag. */
  readonly revision: number | undefined
  readonly decidedBy: string
  readonly at: string
}

export function formatApprovalMessage(subject: MessageSubject, approval: Approval): string {
  const { record } = subject
  return joinParagraphs([
    formatSubject(record, 'Proposed'),
    `${formatApproved(subject, approval)}, decided by ${convertToOneLine(commitText(approval.decidedBy))}.`,
    commitText(describeChanges(record.spec.changes)),
    ...formatWhyLines(record),
    formatKptLine(subject, approval.revision ?? 0),
    formatTrailers(subject, [
      `${DECIDED_BY}${convertToOneLine(approval.decidedBy)}`,
      `Drift-Decided-At: ${convertToOneLine(approval.at)}`,
    ]),
  ])
}

function formatApproved({ packageName }: MessageSubject, { revision }: Approval): string {
  const name = convertToOneLine(commitText(packageName), 300)
  return revision === undefined
    ? `Approving the proposal for ${name}`
    : `Approving package revision ${name}/${revision}`
}

const DECIDED_BY = 'Drift-Decided-By: '

/** Undefined without the trailer of an `approve` merge. */
export function parseDecidedBy(message: string): string | undefined {
  // A forge may add lines behind the trailers. No Backporch line begins with foreign words.
  const named = message.split('\n').filter((line) => line.startsWith(DECIDED_BY))
  const by = named[0]?.slice(DECIDED_BY.length).trim() || undefined
  return named.length === 1 ? by : undefined
}

/** `[skip ci]`: no workflow runs for status. */
export function formatLedgerMessage(cluster: string, lines: readonly string[]): string {
  const [first = 'status unchanged'] = lines
  const scope = `status(${convertToOneLine(commitText(cluster), 40)}): `
  const subject = convertToOneLine(
    lines.length === 1 ? commitText(first) : `${lines.length} packages`,
    SUBJECT_LIMIT - scope.length,
  )
  const listed =
    lines.length > 1
      ? lines
          .slice(0, LEDGER_LINE_LIMIT)
          .map((line) => `  ${convertToOneLine(commitText(line), 200)}`)
      : []
  const more =
    lines.length > LEDGER_LINE_LIMIT ? [`  and ${lines.length - LEDGER_LINE_LIMIT} more`] : []
  return joinParagraphs([scope + subject, [...listed, ...more].join('\n'), '[skip ci]'])
}

export function formatLandingMessage(decided: readonly string[]): string {
  const subject =
    decided.length === 1
      ? `keep the record of ${decided[0]}`
      : `keep ${decided.length} records of decisions through Porch`
  const listed = decided
    .slice(0, OBJECT_LIMIT)
    .map((line) => `  ${convertToOneLine(commitText(line), 200)}`)
  const more = decided.length > OBJECT_LIMIT ? [`  and ${decided.length - OBJECT_LIMIT} more`] : []
  return joinParagraphs([
    convertToOneLine(commitText(`chore(drift): ${subject}`), SUBJECT_LIMIT),
    'The record of a decision stays outside of the package, which Porch publishes alone.',
    [...listed, ...more].join('\n'),
    '[skip ci]',
  ])
}

function listClusterLines({ joint }: MessageSubject): string[] {
  if (joint === undefined) return []
  const clusters = joint.records.map(({ spec }) => spec.unit.cluster).sort()
  const lines = clusters
    .slice(0, OBJECT_LIMIT)
    .map((cluster) => `  ${convertToOneLine(commitText(cluster), 100)}`)
  const more =
    clusters.length > OBJECT_LIMIT
      ? [`  and ${clusters.length - OBJECT_LIMIT} more, each with its record`]
      : []
  return [
    [
      `The same in ${clusters.length} cluster${clusters.length === 1 ? '' : 's'}:`,
      ...lines,
      ...more,
    ].join('\n'),
  ]
}

/** A fixed word precedes them, so that no foreign line begins a message line. */
function formatWhyLines({ spec: { message } }: DriftRecord): string[] {
  return message === undefined || message.trim() === ''
    ? []
    : [`Why: ${convertToOneLine(commitText(message), 500)}`]
}

/** Porch reads the same text as without the escapes, and a forge finds nothing to act on. */
function formatKptLine(subject: MessageSubject, revision: number): string {
  const line = formatKptAnnotation({
    packagePath: subject.packageName,
    workspace: subject.joint?.workspace ?? subject.record.metadata.name,
    revision: String(revision),
    task: { type: 'edit', source: subject.sourceRevision },
  })
  return `kpt:${commitJson(line.slice('kpt:'.length))}`
}

function joinParagraphs(paragraphs: readonly string[]): string {
  return `${paragraphs.filter((paragraph) => paragraph !== '').join('\n\n')}\n`
}

function describeChanges(changes: readonly Change[]): string {
  const lines: string[] = []
  let object = ''
  for (const change of changes.slice(0, OBJECT_LIMIT)) {
    const here = describeResourceId(change.ref)
    if (here !== object) lines.push(`  ${convertToOneLine(here)}`)
    object = here
    lines.push(`    ${describeChange(change)}`)
  }
  if (changes.length > OBJECT_LIMIT)
    lines.push(`  and ${changes.length - OBJECT_LIMIT} more, see the record`)
  return lines.join('\n')
}

function describeChange(change: Change): string {
  const { actor } = change
  // The time may belong to another change of the last writer.
  const isGuess = actor.confidence === 'last-writer'
  const who =
    actor.confidence === 'none'
      ? 'by an unknown writer'
      : `${isGuess ? 'perhaps ' : ''}by ${convertToOneLine(formatActorName(actor), computeActorLimit(actor, 60))}`
  const when = actor.at === '' || isGuess ? '' : ` ${convertToOneLine(actor.at, 40)}`
  const { git, live } = formatSides(change)
  const what =
    change.path === undefined
      ? change.change
      : `${convertToOneLine(change.path, 160)}  ${git} → ${live}`
  return `${what}  ${who}${when}  ${change.risk} ${change.reason}`
}

function describeMergeEffect(record: DriftRecord, lifecycle: 'Draft' | 'Proposed'): string {
  if (lifecycle === 'Draft') return 'Recorded only: nothing is proposed.'
  const { plan, settle } = record.spec
  if (plan === 'Restore' && settle === 'backporch')
    return 'Merging keeps git as it is, and backporch then writes exactly these values to the cluster.'
  if (plan === 'Restore')
    return 'Merging keeps git as it is: the syncer of the package puts the cluster back.'
  if (plan === 'Adopt') return 'Merging makes git say what the cluster runs.'
  if (plan === 'Release')
    return 'Merging stops managing these fields in git; the cluster stays as it is.'
  return 'Merging does for each change what its resolution in the record says.'
}

function formatTrailers(
  { record, slug, packageName, joint }: MessageSubject,
  more: readonly string[],
): string {
  const { spec } = record
  const units = (joint?.records ?? [record])
    .map((one) => one.spec)
    .sort((left, right) => (left.unit.cluster < right.unit.cluster ? -1 : 1))
  const named = units.slice(0, OBJECT_LIMIT)
  const objects = [
    ...new Set(
      spec.changes.map(({ ref }) => `${ref.group}/${ref.kind}/${ref.namespace}/${ref.name}`),
    ),
  ]
  const actors = [
    ...new Set(
      spec.changes.map(
        ({ actor }) =>
          `${actor.user === undefined ? '' : `${actor.user}, `}${actor.manager} (${actor.confidence})`,
      ),
    ),
  ].slice(0, OBJECT_LIMIT)
  const risk =
    (['critical', 'high', 'medium', 'low'] as const).find((level) =>
      spec.changes.some((change) => change.risk === level),
    ) ?? 'low'
  const revision = spec.unit.revision === undefined ? '' : `@${spec.unit.revision}`
  return [
    ...named.map(
      ({ unit, episode }) =>
        `Drift-Id: ${convertToOneLine(unit.cluster)}/${convertToOneLine(slug)}/${episode}`,
    ),
    `Drift-Fingerprint: ${joint === undefined ? spec.fingerprint : computeJointFingerprint(joint.records)}`,
    `Drift-Resolution: ${spec.plan}`,
    `Drift-Risk: ${risk}`,
    ...named.map(({ unit }) => `Drift-Cluster: ${convertToOneLine(unit.cluster)}`),
    ...(units.length > OBJECT_LIMIT ? [`Drift-Cluster-Count: ${units.length}`] : []),
    `Drift-Package: ${convertToOneLine(packageName)}${revision}`,
    ...objects
      .slice(0, OBJECT_LIMIT)
      .map((object) => `Drift-Object: ${convertToOneLine(object, 300)}`),
    ...(objects.length > OBJECT_LIMIT ? [`Drift-Object-Count: ${objects.length}`] : []),
    ...actors.map((actor) => `Drift-Actor: ${convertToOneLine(actor)}`),
    `Drift-Detected-At: ${convertToOneLine(spec.observed.at)}`,
    ...more,
  ]
    .map(commitText)
    .join('\n')
}

import { formatMarkdownCell, formatMarkdownLink } from '@backporch/kyaml/markdown'
import { compareText } from '@backporch/kyaml/text'
import type { Change } from '../../record/documents/change.ts'
import { recordFolder, recordPath } from '../../record/record-paths.ts'
import { joinFolderPath } from '../../sources/kustomize/files/kustomization-walk.ts'
import type { ProposalFrame, ProposalSubject } from './proposal-subject.ts'
import { formatNumbers, getDriftKey } from './ticks.ts'
import { formatSourceUrl, formatWrittenAt, time } from './words.ts'

const MANAGER_NOTE =
  '¹ The field manager: a name that the client chose. It does not prove who the person was.'
const TIMES_LISTED = 8

const USER_NOTE =
  'A name before the brackets is the user of the request, from the audit log of the API server.'

export function formatWriterNote(changes: readonly Change[]): string {
  const numbered = changes.flatMap((change, index) => {
    const at = formatWrittenAt(change)
    return at === undefined ? [] : [{ at, number: index + 1 }]
  })
  const latestFirst = [...Map.groupBy(numbered, ({ at }) => at)].sort(([one], [other]) =>
    compareText(other, one),
  )
  const listed = latestFirst.slice(0, TIMES_LISTED).map(([at, own]) => {
    return changes.length === 1 ? at : `${at} (${formatNumbers(own.map(({ number }) => number))})`
  })
  if (listed.length === 0) return MANAGER_NOTE
  const earlier = latestFirst.length > listed.length ? ', the others earlier' : ''
  return `${MANAGER_NOTE} Last writes to any of its fields: ${listed.join(', ')}${earlier}.`
}

export function reportPath(cluster: string, slug: string): string {
  return `${recordFolder(cluster, slug)}/report.md`
}

/** The branch's report, or else the record. */
export function formatMoreLink(subject: ProposalSubject, links: boolean): string {
  const { unit, record, hasReport, dialect, headBranch } = subject
  const path = hasReport
    ? reportPath(unit.cluster, unit.slug)
    : recordPath(unit.cluster, unit.slug, record.spec.began, record.spec.episode)
  const words = hasReport ? 'full report' : 'record'
  return links
    ? formatMarkdownLink(words, dialect.branchFileUrl(headBranch, path))
    : `${words} on this branch, under \`.drift/\``
}

export function formatProposalFooter(subject: ProposalSubject, links: boolean): string[] {
  const { record, unit, base, dialect } = subject
  const { spec } = record
  const revision = spec.unit.revision === undefined ? '' : `@${spec.unit.revision}`
  const commit = formatMarkdownCell(base.slice(0, 7))
  const kptfile = joinFolderPath(unit.packagePath, 'Kptfile')
  const isFolder = unit.source === 'folder'
  const by = unit.appliedBy === undefined ? '' : ` of ${formatMarkdownCell(unit.appliedBy, 200)}`
  const at =
    links && !isFolder
      ? formatMarkdownLink(commit, dialect.fileUrl(base, kptfile, undefined))
      : commit
  return [
    `<sub>${formatWriterNote(spec.changes)}${spec.changes.some(({ actor }) => actor.user !== undefined) ? ` ${USER_NOTE}` : ''}</sub>`,
    '',
    `<sub>${[
      formatCreated(subject),
      `${isFolder ? 'folder' : 'package'} ${formatMarkdownCell(`${unit.packageName}${revision}`)}${by} at ${at}`,
      `observed ${time(spec.observed.at)}`,
      formatPolicyPart(subject, links),
      ...(links ? linkParts(subject) : []),
    ].join(' · ')}</sub>`,
    formatMarker(spec.episode, spec.fingerprint),
  ]
}

function formatCreated({ version, record }: ProposalSubject): string {
  return `backporch ${formatMarkdownCell(version, 30)} · drift ${formatMarkdownCell(record.spec.episode, 20)}`
}

export function formatPolicyPart({ policy, base, dialect }: ProposalFrame, links: boolean): string {
  const name = formatMarkdownCell(policy.name, 60)
  return `policy ${links ? formatMarkdownLink(name, formatSourceUrl(policy.location, base, dialect)) : name} (${formatMarkdownCell(policy.mode, 20)})`
}

function linkParts(subject: ProposalSubject): string[] {
  const { unit, record, dialect, headBranch, hasReport, ledgerUrl } = subject
  const url = dialect.branchFileUrl(
    headBranch,
    recordPath(unit.cluster, unit.slug, record.spec.began, record.spec.episode),
  )
  const parts = [
    { words: 'record', url },
    ...(hasReport
      ? [
          {
            words: 'full report',
            url: dialect.branchFileUrl(headBranch, reportPath(unit.cluster, unit.slug)),
          },
        ]
      : []),
    { words: 'live status', url: ledgerUrl },
  ]
  return parts
    .filter((part) => part.url !== '')
    .map((part) => formatMarkdownLink(part.words, part.url))
}

/** No decision is read from it. */
export function formatMarker(episode: string, fingerprint: string): string {
  const drift = getDriftKey(fingerprint)
  return `<!-- backporch:v1 ${[episode, drift].map((id) => (/^[0-9a-f]{8}$/.test(id) ? id : '-')).join(' ')} -->`
}

/** Subject of the commit and title of the proposal, which are always equal. */
import { convertToOneLine } from '@backporch/kyaml/text'
import { commitText } from './commit-text.ts'
import type { Change } from './documents/change.ts'
import type { DriftRecord } from './documents/drift-record.ts'
import { formatSides, formatValue } from './format-value.ts'

const WANTED = 72
export const SUBJECT_LIMIT = 100

/**
 * As `fix(drift): adopt Deployment/web replicas 5 in prod-eu-1 (git 3)`. `fix` if the merge changes
 * a manifest, `chore` if only the record: release tools cut a release for `fix`. Ends with `
 * [CRITICAL]` if a change is critical; at most 100 characters, and without the other side's value
 * if that keeps it within 72.
 */
export function formatSubject(record: DriftRecord, lifecycle: 'Draft' | 'Proposed'): string {
  const type = lifecycle === 'Proposed' && record.spec.plan !== 'Restore' ? 'fix' : 'chore'
  const [text, aside] = formatSubjectText(record, lifecycle)
  return fitSubject(type, text, aside, isCritical(record.spec.changes))
}

export function formatJointSubject(
  { spec: { plan, changes, unit } }: DriftRecord,
  clusters: number,
): string {
  const [first] = changes
  const verb = plan === 'Mixed' ? 'settle' : plan.toLowerCase()
  const one =
    changes.length === 1 && first !== undefined ? `${first.ref.kind}/${first.ref.name}` : undefined
  const what = one ?? `${changes.length} changes of ${unit.package || 'the package'}`
  const where = `${clusters} cluster${clusters === 1 ? '' : 's'}`
  return fitSubject(
    plan === 'Restore' ? 'chore' : 'fix',
    `${verb} ${what} in ${where}`,
    ' (one cause)',
    isCritical(changes),
  )
}

export function fitSubject(
  type: 'fix' | 'chore',
  text: string,
  aside: string,
  critical: boolean,
): string {
  const [head, tail] = [`${type}(drift): `, critical ? ' [CRITICAL]' : '']
  const whole = head + commitText(text + aside) + tail
  if (Array.from(convertToOneLine(whole, Number.POSITIVE_INFINITY)).length <= WANTED)
    return convertToOneLine(whole, SUBJECT_LIMIT)
  return head + convertToOneLine(commitText(text), SUBJECT_LIMIT - head.length - tail.length) + tail
}

export function isCritical(changes: readonly Change[]): boolean {
  return changes.some(({ risk }) => risk === 'critical')
}

function formatSubjectText(
  record: DriftRecord,
  lifecycle: 'Draft' | 'Proposed',
): readonly [text: string, aside: string] {
  const { changes, unit } = record.spec
  const [first] = changes
  const cluster = convertToOneLine(unit.cluster, 30)
  const verbOf = (change: Change): string =>
    lifecycle === 'Draft' ? 'record' : change.resolution.toLowerCase()
  if (changes.length === 1 && first !== undefined) {
    const [text, aside] = formatSingleChange(first, lifecycle, cluster)
    return [`${verbOf(first)} ${text}`, aside]
  }
  return [
    `${countVerbs(changes.map(verbOf))} changes of ${unit.package || 'the package'} in ${cluster}`,
    '',
  ]
}

export function countResolutions(changes: readonly Change[]): string {
  return countVerbs(changes.map(({ resolution }) => resolution.toLowerCase()))
}

function countVerbs(verbs: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const verb of verbs) counts.set(verb, (counts.get(verb) ?? 0) + 1)
  const sorted = [...counts].sort(([left], [right]) => (left < right ? -1 : 1))
  return sorted.map(([verb, count]) => `${verb} ${count}`).join(', ')
}

function formatSingleChange(
  change: Change,
  lifecycle: 'Draft' | 'Proposed',
  cluster: string,
): readonly [text: string, aside: string] {
  const object = `${change.ref.kind}/${change.ref.name}`
  if (change.path === undefined) return [`${change.change} ${object} in ${cluster}`, '']
  const field = `${object} ${shortenPath(change.path)}`
  const { git, live } = formatSides(change, 40)
  if (lifecycle === 'Draft') return [`${field} ${git} → ${live} in ${cluster}`, '']
  const without = `${object} without ${shortenPath(change.path)} in ${cluster}`
  const telling = [change.git, change.live].every(
    (value) => value === null || (typeof value !== 'object' && isShort(value)),
  )
  if (change.resolution === 'Adopt') {
    if (change.live === undefined) return [without, '']
    return telling
      ? [`${field} ${live} in ${cluster}`, change.git === undefined ? '' : ` (git ${git})`]
      : [`${field} in ${cluster}`, '']
  }
  const aside = change.live === undefined || !telling ? '' : ` (live ${live})`
  if (change.resolution === 'Release') return [`${field} in ${cluster}`, aside]
  if (change.git === undefined) return [without, aside]
  return [telling ? `${field} to ${git} in ${cluster}` : `${field} in ${cluster}`, aside]
}

function isShort(value: Change['git']): boolean {
  const text = formatValue(value, 40)
  return !text.endsWith('…') && text !== '••••'
}

function shortenPath(path: string): string {
  return /(?:^|\.)([^.[]+(?:\[[^\]]*\])*)$/.exec(path)?.[1] ?? path
}

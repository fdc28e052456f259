import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import { describeResourceId } from '@backporch/kyaml/resource'
import { convertToOneLine, omitUndefined } from '@backporch/kyaml/text'
import {
  countLive,
  countPreviewObjects,
  groupPreviewUnits,
} from '../../proposal/preview/preview-groups.ts'
import type {
  Preview,
  PreviewChange,
  PreviewFailure,
  PreviewUnit,
} from '../../record/documents/preview.ts'
import { formatSides, formatValue } from '../../record/format-value.ts'
import { printFailures } from './print-failures.ts'
import type { Printer } from './printer.ts'
import { count } from './ranked-changes.ts'

/** Per unit. */
const MOST_CHANGES = 100
const LIVE = {
  before: 'not live',
  after: 'already live',
  other: 'drifted',
  unknown: 'live is unknown',
} as const

export function printPreview(preview: Preview, printer: Printer): void {
  const { terminal } = printer
  const { base, head, items, merge } = preview
  const changing = items.filter(({ state }) => state === 'changes')
  const clusters = new Set(changing.map(({ cluster }) => cluster)).size
  const what =
    changing.length === 0
      ? 'changes nothing that could be built'
      : `changes ${count(countPreviewObjects(changing), 'object')} of ${count(changing.length, 'unit')} in ${count(clusters, 'cluster')}`
  printer.write(
    `merging ${convertToOneLine(head.name, 300)} (${head.commit.slice(0, 7)}) into ${convertToOneLine(base.branch, 300)} (${base.commit.slice(0, 7)}) ${what}\n`,
  )
  for (const { units, changes } of groupPreviewUnits(preview)) {
    for (const unit of units)
      printer.write(
        `${terminal.getGlyph('changed')} ${terminal.style(getName(unit), 'bold')}  ${describePreviewUnit(unit)}\n`,
      )
    for (const change of changes.slice(0, MOST_CHANGES))
      printer.write(`    ${changeText(change, units.length === 1, printer)}\n`)
    if (changes.length > MOST_CHANGES)
      printer.write(
        `    and ${count(changes.length - MOST_CHANGES, 'more change')}; -o json has all\n`,
      )
  }
  for (const unit of items.filter(({ state }) => state === 'same'))
    printer.write(
      `${terminal.getGlyph('ok')} ${getName(unit)}  reads ${convertToOneLine(unit.edited.slice(0, 3).join(', '), 300)}, and does not change\n`,
    )
  for (const unit of items.filter(({ state }) => state === 'failed'))
    printer.write(`${terminal.getGlyph('unknown')} ${getName(unit)}  is not built\n`)
  for (const { name, files } of preview.elsewhere.slice(0, 10))
    printer.write(
      `${terminal.getGlyph('unknown')} ${convertToOneLine(name, 300)}  reads ${convertToOneLine(files.slice(0, 3).join(', '), 300)}, and is in none of these clusters\n`,
    )
  if (preview.elsewhere.length > 10)
    printer.write(
      `    and ${preview.elsewhere.length - 10} more that read edited files; -o json has all\n`,
    )
  if (merge.why !== undefined)
    printer.hint(`note: the head itself is compared: ${convertToOneLine(merge.why, 500)}`)
  for (const path of merge.conflicts.slice(0, 10))
    printer.hint(
      `note: ${convertToOneLine(path, 300)} changed on both sides: the version of the head is compared`,
    )
  if (head.fork)
    printer.hint(
      'note: the head is from a fork: no program that it names was run, and no cluster was read',
    )
  if (preview.policies)
    printer.hint('note: the head changes policies: those of the base branch were used')
  for (const note of preview.notes.slice(0, 10))
    printer.hint(`note: ${convertToOneLine(note, 500)}`)
  for (const { name, failure } of preview.clusters)
    if (failure !== undefined && !head.fork)
      printer.hint(
        `note: the live state of ${convertToOneLine(name, 300)} is unknown (${failure.code}): ${convertToOneLine(failure.why, 500)}`,
      )
}

/**
 * @returns the failures of the merge: a unit that the base branch cannot build is not the fault of
 * the head
 */
export function printPreviewFailures(
  { items, policyProblem }: Preview,
  printer: Printer,
): readonly Failure[] {
  const ofUnits = items.flatMap((unit) =>
    unit.failures.map((failure) => ({ at: failure.at, failure: createPreviewFailure(failure) })),
  )
  const ofPolicy =
    policyProblem === undefined
      ? []
      : [{ at: 'merge' as const, failure: createUnusablePolicyFailure(policyProblem) }]
  const failures = [...ofPolicy, ...ofUnits]
  printFailures(
    failures.map(({ failure }) => failure),
    printer.cli,
    printer,
  )
  return failures.flatMap(({ at, failure }) => (at === 'merge' ? [failure] : []))
}

function createUnusablePolicyFailure({
  where,
  why,
}: NonNullable<Preview['policyProblem']>): Failure {
  return new Failure({
    code: 'BP1005',
    what: 'after the merge the policy cannot be used',
    where,
    why,
    remedy:
      'correct it before the merge: an earlier policy decides then, and nothing is opened, merged or settled',
    retry: 'on-change',
  })
}

function createPreviewFailure({ code, where, ...failure }: PreviewFailure): Failure {
  return new Failure({ ...failure, code: code as FailureCode, ...omitUndefined({ where }) })
}

function getName({ package: path, cluster }: PreviewUnit): string {
  return convertToOneLine(`${path || '.'} in ${cluster}`, 300)
}

function describePreviewUnit(unit: PreviewUnit): string {
  const { before, after, other, unknown } = countLive(unit.changes)
  const live = Object.entries({
    'not live': before,
    'already live': after,
    drifted: other,
    unknown,
  }).flatMap(([words, number]) => (number === 0 ? [] : [`${number} ${words}`]))
  const presence =
    unit.presence === 'both' ? '' : unit.presence === 'new' ? 'new unit, ' : 'no longer a unit, '
  const shared =
    unit.shared.length === 0
      ? ''
      : `, through ${convertToOneLine(unit.shared.slice(0, 3).join(', '), 300)}`
  return `${presence}${count(countPreviewObjects([unit]), 'object')}, ${count(unit.changes.length, 'change')}: ${live.join(', ')}${shared}`
}

function changeText(
  { ref, path, change, before, after, risk, reason, live, liveValue }: PreviewChange,
  single: boolean,
  { terminal }: Printer,
): string {
  const name = convertToOneLine(describeResourceId(ref), 300)
  const { git, live: to } = formatSides({ git: before, live: after })
  const what =
    path === undefined
      ? `${name} is ${change}`
      : `${name} ${convertToOneLine(path, 300)}: ${git} ${terminal.getGlyph('arrow')} ${to}`
  const third = liveValue === undefined ? '' : `: ${formatValue(liveValue)}`
  return `${what}  ${risk} ${convertToOneLine(reason, 40)}${single ? `, ${LIVE[live]}${third}` : ''}`
}

/** All text from git and clusters goes through the encoders. */
import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import { objectId } from '@backporch/kyaml/files'
import { markdownCell, markdownProse } from '@backporch/kyaml/markdown'
import type {
  Preview,
  PreviewChange,
  PreviewFailure,
  PreviewUnit,
} from '../../record/documents/preview.ts'
import { formatValue } from '../../record/format-value.ts'
import { worstRisk } from '../text/proposal-subject.ts'
import {
  box,
  clusterCell,
  count,
  fieldCell,
  firstFitting,
  folded,
  listOf,
  objectLink,
  riskWord,
  sides,
  table,
  time,
} from '../text/words.ts'
import {
  type GroupedChange,
  liveCounts,
  objectCount,
  type UnitGroup,
  unitGroups,
} from './preview-groups.ts'
import { changesIn, liveLines, states, summary } from './preview-summary.ts'

/** Rows of units, changes per group, groups with a table, other lines. */
const AMOUNTS = [
  [100, 50, 40, 50],
  [100, 20, 20, 20],
  [50, 10, 8, 10],
  [20, 3, 3, 5],
  [10, 0, 0, 2],
] as const
type Amount = (typeof AMOUNTS)[number]

export function previewMark({ base, head }: Pick<Preview, 'base' | 'head'>): string {
  return `<!-- backporch:preview ${head.commit} ${base.commit} -->`
}

interface TextOptions {
  readonly dialect: ForgeDialect
  readonly version: string
}

/** At most the forge's limit. */
export function previewText(preview: Preview, options: TextOptions): string {
  const { bodyLimit } = options.dialect
  const text = firstFitting(AMOUNTS, (amount) => textOf(preview, options, amount), bodyLimit)
  return (
    text ??
    `${previewMark(preview)}\n${summary(preview)}\n\nThe rest is too long for a comment: run \`backporch preview\`.\n`
  )
}

function textOf(
  preview: Preview,
  { dialect, version }: TextOptions,
  [rows, changes, groups, others]: Amount,
): string {
  const grouped = unitGroups(preview)
  const lines = [
    previewMark(preview),
    ...box(dialect, boxOf(preview), [summary(preview), ...liveLines(preview), ...states(preview)]),
    ...unitTable(grouped, rows),
    ...grouped
      .slice(0, groups)
      .flatMap((group) => (changes === 0 ? [] : changesOf(group, preview, dialect, changes))),
    ...(grouped.length > groups
      ? [
          `The changes of ${count(grouped.length - groups, 'more unit')} are not shown: run \`backporch preview\`.`,
          '',
        ]
      : []),
    ...sameUnits(preview, others),
    ...failedUnits(preview, others),
    ...noteLines(preview, others),
    `<sub>${footer(preview, version)}</sub>`,
  ]
  return `${lines.join('\n')}\n`
}

function boxOf(preview: Preview): 'caution' | 'warning' | 'note' {
  const changes = changesIn(preview)
  if (changes.some(({ risk }) => risk === 'critical')) return 'caution'
  return changes.some(({ risk }) => risk === 'high') ||
    preview.items.some(({ failures }) => failures.length > 0) ||
    preview.policyProblem !== undefined
    ? 'warning'
    : 'note'
}

function unitTable(groups: readonly UnitGroup[], most: number): string[] {
  if (groups.length === 0) return []
  const rows = groups.flatMap(({ units }) => units)
  const shown = rows
    .slice(0, most)
    .map((unit) => [
      unitCell(unit),
      clusterCell(unit.cluster),
      whatOf(unit),
      riskWord(worstRisk(unit.changes)),
      liveCell(unit.changes),
    ])
  return [
    ...table(['Unit', 'Cluster', 'Merging changes', 'Risk', 'Live today'], shown),
    ...(rows.length > most ? [`and ${count(rows.length - most, 'more unit')}.`, ''] : []),
  ]
}

function unitCell({ package: path, shared, presence }: PreviewUnit): string {
  const note =
    presence === 'new'
      ? ' (new)'
      : presence === 'gone'
        ? ' (removed)'
        : shared.length > 0
          ? ' (shared files)'
          : ''
  return `${markdownCell(path || '.')}${note}`
}

function whatOf(unit: PreviewUnit): string {
  const kinds = [...new Set(unit.changes.map(({ ref }) => ref.kind))]
  const more = kinds.length > 3 ? ` and ${kinds.length - 3} more` : ''
  return `${count(objectCount([unit]), 'object')}: ${kinds
    .slice(0, 3)
    .map((kind) => markdownCell(kind, 60))
    .join(', ')}${more}`
}

function liveCell(changes: readonly PreviewChange[]): string {
  const { before, after, other, unknown } = liveCounts(changes)
  const parts = [
    ...(before === 0 ? [] : [`${before} not yet`]),
    ...(after === 0 ? [] : [`${after} already`]),
    ...(other === 0 ? [] : [`${other} drifted`]),
    ...(unknown === 0 ? [] : [`${unknown} unknown`]),
  ]
  return parts.join(', ')
}

function changesOf(
  group: UnitGroup,
  { base, head }: Preview,
  dialect: ForgeDialect,
  most: number,
): string[] {
  const [{ edited, shared, appliedBy }] = group.units
  const clusters = group.units.map(({ cluster }) => clusterCell(cluster))
  const where = `${clusters.slice(0, 5).join(', ')}${clusters.length > 5 ? ` and ${clusters.length - 5} more` : ''}`
  const shown = group.changes.slice(0, most)
  const files = (shared.length > 0 ? shared : edited).slice(0, 3).map((path) => markdownCell(path))
  const through = `${shared.length > 0 ? 'Through the shared' : 'Through'} ${files.join(', ')}${(shared.length > 0 ? shared : edited).length > 3 ? ' and more' : ''}`
  const rows = shown.map((change) => {
    const { git, live } = fromTo(change)
    const links =
      change.change === 'removed'
        ? { base: objectId(base.commit), dialect }
        : { base: objectId(head.commit), dialect }
    return [
      `${objectLink(change, links)} ${change.path === undefined ? '' : fieldCell(change)}`.trim(),
      git,
      live,
      `${riskWord(change.risk)} ${markdownCell(change.reason, 40)}`,
      groupedLive(change),
    ]
  })
  return folded(dialect, `${count(group.changes.length, 'change')} of`, group.package || '.', [
    `In ${where}. ${through}${appliedBy === undefined ? '' : `, as ${markdownCell(appliedBy, 200)} builds it`}.`,
    '',
    ...table(['Object and field', 'Base branch', 'After the merge', 'Risk', 'Live today'], rows),
    ...(group.changes.length > most
      ? [`and ${count(group.changes.length - most, 'more change')}.`]
      : []),
  ])
}

function fromTo({ change, path, before, after }: PreviewChange): {
  readonly git: string
  readonly live: string
} {
  if (path === undefined)
    return change === 'added'
      ? { git: 'not declared', live: 'declared' }
      : { git: 'declared', live: 'not declared' }
  return sides({
    change,
    ...(before === undefined ? {} : { git: before }),
    ...(after === undefined ? {} : { live: after }),
  })
}

const LIVE_WORDS = {
  before: 'not yet',
  after: '**already**',
  other: 'drifted',
  unknown: 'unknown',
} as const

function groupedLive({ everywhere }: GroupedChange): string {
  const states = new Set(everywhere.map(({ live }) => live))
  const [only] = everywhere
  if (states.size !== 1 || only === undefined) return liveCell(everywhere)
  if (only.live !== 'other') return LIVE_WORDS[only.live]
  const values = new Set(
    everywhere.map(({ liveValue }) => (liveValue === undefined ? '' : formatValue(liveValue))),
  )
  const [value = ''] = values
  return values.size === 1 && value !== ''
    ? `drifted: ${markdownCell(value, 60)}`
    : LIVE_WORDS.other
}

function sameUnits({ items }: Preview, most: number): string[] {
  const same = items.filter(({ state }) => state === 'same')
  if (same.length === 0) return []
  const lines = [...Map.groupBy(same, (unit) => unit.package)].map(([path, own]) => {
    const [first] = own
    const files =
      first?.edited
        .slice(0, 3)
        .map((file) => markdownCell(file))
        .join(', ') ?? ''
    return `${markdownCell(path || '.')} in ${own
      .slice(0, 5)
      .map(({ cluster }) => clusterCell(cluster))
      .join(
        ', ',
      )}${own.length > 5 ? ` and ${own.length - 5} more` : ''}${files === '' ? '' : `: reads ${files}`}`
  })
  return ['**Read an edited file, and do not change:**', '', ...listOf(lines, most, 'unit'), '']
}

function failedUnits({ items }: Preview, most: number): string[] {
  const failures = items.flatMap((unit) => unit.failures.map((failure) => ({ unit, failure })))
  if (failures.length === 0) return []
  const groups = [
    ...Map.groupBy(failures, ({ unit, failure }) =>
      JSON.stringify([unit.package, failure.at, failure.code, failure.why]),
    ).values(),
  ]
  const lines = groups.flatMap((own) => {
    const [first] = own
    return first === undefined
      ? []
      : [
          failureLine(
            first.unit,
            first.failure,
            own.map(({ unit }) => unit.cluster),
          ),
        ]
  })
  return ['**Not known:**', '', ...listOf(lines, most, 'failure'), '']
}

const AT = { base: 'on the base branch', merge: 'after the merge', live: 'live' } as const

function failureLine(
  unit: PreviewUnit,
  { at, code, what, where, why, remedy }: PreviewFailure,
  clusters: readonly string[],
): string {
  const place = where === undefined ? '' : ` at ${markdownCell(where, 200)}`
  const more = clusters.length > 3 ? ` and ${clusters.length - 3} more` : ''
  const name = `${markdownCell(unit.package || '.')} in ${clusters.slice(0, 3).map(clusterCell).join(', ')}${more}`
  return `${name}, ${AT[at]} (${markdownCell(code, 20)})${place}: ${markdownProse(what, 300)}: ${markdownProse(why, 400)}. To correct it: ${markdownProse(remedy, 300)}.`
}

function noteLines({ notes }: Preview, most: number): string[] {
  return notes.length === 0
    ? []
    : [
        ...listOf(
          notes.map((note) => markdownProse(note, 300)),
          Math.min(most, 5),
          'note',
        ),
        '',
      ]
}

function footer({ base, head, clusters, untouched, edited }: Preview, version: string): string {
  const times = clusters
    .flatMap(({ observedAt }) => (observedAt === undefined ? [] : [observedAt]))
    .sort()
  const [first] = times
  return [
    `backporch ${markdownCell(version, 30)}`,
    `${markdownCell(head.name, 100)} at ${markdownCell(head.commit.slice(0, 7))} into ${markdownCell(base.branch, 100)} at ${markdownCell(base.commit.slice(0, 7))}`,
    count(edited.length, 'edited file'),
    ...(untouched === 0 ? [] : [`${count(untouched, 'unit')} not touched`]),
    ...(first === undefined ? [] : [`observed ${time(first)}`]),
  ].join(' · ')
}

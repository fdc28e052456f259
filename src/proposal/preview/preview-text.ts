/** The text of a preview. All text from git and clusters goes through the encoders. */
import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import { parseObjectId } from '@backporch/kyaml/files'
import { formatMarkdownCell, formatMarkdownProse } from '@backporch/kyaml/markdown'
import type {
  Preview,
  PreviewChange,
  PreviewFailure,
  PreviewUnit,
} from '../../record/documents/preview.ts'
import { formatValue } from '../../record/format-value.ts'
import { getWorstRisk } from '../text/proposal-subject.ts'
import {
  count,
  findFirstFitting,
  formatBox,
  formatChangeSides,
  formatClusterCell,
  formatFieldCell,
  formatFolded,
  formatList,
  formatMarkdownTable,
  formatObjectLink,
  formatRiskWord,
  time,
} from '../text/words.ts'
import {
  countLive,
  countPreviewObjects,
  type GroupedChange,
  groupPreviewUnits,
  type UnitGroup,
} from './preview-groups.ts'
import {
  formatLiveLines,
  formatPreviewSummary,
  listPreviewChanges,
  listPreviewStates,
} from './preview-summary.ts'

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
  const text = findFirstFitting(
    AMOUNTS,
    (amount) => formatText(preview, options, amount),
    bodyLimit,
  )
  return (
    text ??
    `${previewMark(preview)}\n${formatPreviewSummary(preview)}\n\nThe rest is too long for a comment: run \`backporch preview\`.\n`
  )
}

function formatText(
  preview: Preview,
  { dialect, version }: TextOptions,
  [rows, changes, groups, others]: Amount,
): string {
  const grouped = groupPreviewUnits(preview)
  const lines = [
    previewMark(preview),
    ...formatBox(dialect, chooseBox(preview), [
      formatPreviewSummary(preview),
      ...formatLiveLines(preview),
      ...listPreviewStates(preview),
    ]),
    ...formatUnitTable(grouped, rows),
    ...grouped
      .slice(0, groups)
      .flatMap((group) => (changes === 0 ? [] : formatChanges(group, preview, dialect, changes))),
    ...(grouped.length > groups
      ? [
          `The changes of ${count(grouped.length - groups, 'more unit')} are not shown: run \`backporch preview\`.`,
          '',
        ]
      : []),
    ...formatSameUnits(preview, others),
    ...formatFailedUnits(preview, others),
    ...noteLines(preview, others),
    `<sub>${formatFooter(preview, version)}</sub>`,
  ]
  return `${lines.join('\n')}\n`
}

function chooseBox(preview: Preview): 'caution' | 'warning' | 'note' {
  const changes = listPreviewChanges(preview)
  if (changes.some(({ risk }) => risk === 'critical')) return 'caution'
  return changes.some(({ risk }) => risk === 'high') ||
    preview.items.some(({ failures }) => failures.length > 0) ||
    preview.policyProblem !== undefined
    ? 'warning'
    : 'note'
}

function formatUnitTable(groups: readonly UnitGroup[], most: number): string[] {
  if (groups.length === 0) return []
  const rows = groups.flatMap(({ units }) => units)
  const shown = rows
    .slice(0, most)
    .map((unit) => [
      formatUnitCell(unit),
      formatClusterCell(unit.cluster),
      describeUnitChanges(unit),
      formatRiskWord(getWorstRisk(unit.changes)),
      formatLiveCell(unit.changes),
    ])
  return [
    ...formatMarkdownTable(['Unit', 'Cluster', 'Merging changes', 'Risk', 'Live today'], shown),
    ...(rows.length > most ? [`and ${count(rows.length - most, 'more unit')}.`, ''] : []),
  ]
}

function formatUnitCell({ package: path, shared, presence }: PreviewUnit): string {
  const note =
    presence === 'new'
      ? ' (new)'
      : presence === 'gone'
        ? ' (removed)'
        : shared.length > 0
          ? ' (shared files)'
          : ''
  return `${formatMarkdownCell(path || '.')}${note}`
}

function describeUnitChanges(unit: PreviewUnit): string {
  const kinds = [...new Set(unit.changes.map(({ ref }) => ref.kind))]
  const more = kinds.length > 3 ? ` and ${kinds.length - 3} more` : ''
  return `${count(countPreviewObjects([unit]), 'object')}: ${kinds
    .slice(0, 3)
    .map((kind) => formatMarkdownCell(kind, 60))
    .join(', ')}${more}`
}

function formatLiveCell(changes: readonly PreviewChange[]): string {
  const { before, after, other, unknown } = countLive(changes)
  const parts = [
    ...(before === 0 ? [] : [`${before} not yet`]),
    ...(after === 0 ? [] : [`${after} already`]),
    ...(other === 0 ? [] : [`${other} drifted`]),
    ...(unknown === 0 ? [] : [`${unknown} unknown`]),
  ]
  return parts.join(', ')
}

function formatChanges(
  group: UnitGroup,
  { base, head }: Preview,
  dialect: ForgeDialect,
  most: number,
): string[] {
  const [{ edited, shared, appliedBy }] = group.units
  const clusters = group.units.map(({ cluster }) => formatClusterCell(cluster))
  const where = `${clusters.slice(0, 5).join(', ')}${clusters.length > 5 ? ` and ${clusters.length - 5} more` : ''}`
  const shown = group.changes.slice(0, most)
  const files = (shared.length > 0 ? shared : edited)
    .slice(0, 3)
    .map((path) => formatMarkdownCell(path))
  const through = `${shared.length > 0 ? 'Through the shared' : 'Through'} ${files.join(', ')}${(shared.length > 0 ? shared : edited).length > 3 ? ' and more' : ''}`
  const rows = shown.map((change) => {
    const { git, live } = formatFromTo(change)
    const links =
      change.change === 'removed'
        ? { base: parseObjectId(base.commit), dialect }
        : { base: parseObjectId(head.commit), dialect }
    return [
      `${formatObjectLink(change, links)} ${change.path === undefined ? '' : formatFieldCell(change)}`.trim(),
      git,
      live,
      `${formatRiskWord(change.risk)} ${formatMarkdownCell(change.reason, 40)}`,
      formatGroupedLive(change),
    ]
  })
  return formatFolded(
    dialect,
    `${count(group.changes.length, 'change')} of`,
    group.package || '.',
    [
      `In ${where}. ${through}${appliedBy === undefined ? '' : `, as ${formatMarkdownCell(appliedBy, 200)} builds it`}.`,
      '',
      ...formatMarkdownTable(
        ['Object and field', 'Base branch', 'After the merge', 'Risk', 'Live today'],
        rows,
      ),
      ...(group.changes.length > most
        ? [`and ${count(group.changes.length - most, 'more change')}.`]
        : []),
    ],
  )
}

function formatFromTo({ change, path, before, after }: PreviewChange): {
  readonly git: string
  readonly live: string
} {
  if (path === undefined)
    return change === 'added'
      ? { git: 'not declared', live: 'declared' }
      : { git: 'declared', live: 'not declared' }
  return formatChangeSides({
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

function formatGroupedLive({ everywhere }: GroupedChange): string {
  const states = new Set(everywhere.map(({ live }) => live))
  const [only] = everywhere
  if (states.size !== 1 || only === undefined) return formatLiveCell(everywhere)
  if (only.live !== 'other') return LIVE_WORDS[only.live]
  const values = new Set(
    everywhere.map(({ liveValue }) =>
      liveValue === undefined ? undefined : formatValue(liveValue) || undefined,
    ),
  )
  const [value] = values
  return values.size === 1 && value !== undefined
    ? `drifted: ${formatMarkdownCell(value, 60)}`
    : LIVE_WORDS.other
}

function formatSameUnits({ items }: Preview, most: number): string[] {
  const same = items.filter(({ state }) => state === 'same')
  if (same.length === 0) return []
  const lines = [...Map.groupBy(same, (unit) => unit.package)].map(([path, own]) => {
    const [first] = own
    const files = (first?.edited ?? []).slice(0, 3).map((file) => formatMarkdownCell(file))
    return `${formatMarkdownCell(path || '.')} in ${own
      .slice(0, 5)
      .map(({ cluster }) => formatClusterCell(cluster))
      .join(
        ', ',
      )}${own.length > 5 ? ` and ${own.length - 5} more` : ''}${files.length === 0 ? '' : `: reads ${files.join(', ')}`}`
  })
  return ['**Read an edited file, and do not change:**', '', ...formatList(lines, most, 'unit'), '']
}

function formatFailedUnits({ items }: Preview, most: number): string[] {
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
          formatFailureLine(
            first.unit,
            first.failure,
            own.map(({ unit }) => unit.cluster),
          ),
        ]
  })
  return ['**Not known:**', '', ...formatList(lines, most, 'failure'), '']
}

const AT = { base: 'on the base branch', merge: 'after the merge', live: 'live' } as const

function formatFailureLine(
  unit: PreviewUnit,
  { at, code, what, where, why, remedy }: PreviewFailure,
  clusters: readonly string[],
): string {
  const place = where === undefined ? '' : ` at ${formatMarkdownCell(where, 200)}`
  const more = clusters.length > 3 ? ` and ${clusters.length - 3} more` : ''
  const name = `${formatMarkdownCell(unit.package || '.')} in ${clusters.slice(0, 3).map(formatClusterCell).join(', ')}${more}`
  return `${name}, ${AT[at]} (${formatMarkdownCell(code, 20)})${place}: ${formatMarkdownProse(what, 300)}: ${formatMarkdownProse(why, 400)}. To correct it: ${formatMarkdownProse(remedy, 300)}.`
}

function noteLines({ notes }: Preview, most: number): string[] {
  return notes.length === 0
    ? []
    : [
        ...formatList(
          notes.map((note) => formatMarkdownProse(note, 300)),
          Math.min(most, 5),
          'note',
        ),
        '',
      ]
}

function formatFooter(
  { base, head, clusters, untouched, edited }: Preview,
  version: string,
): string {
  const times = clusters
    .flatMap(({ observedAt }) => (observedAt === undefined ? [] : [observedAt]))
    .sort()
  const [first] = times
  return [
    `backporch ${formatMarkdownCell(version, 30)}`,
    `${formatMarkdownCell(head.name, 100)} at ${formatMarkdownCell(head.commit.slice(0, 7))} into ${formatMarkdownCell(base.branch, 100)} at ${formatMarkdownCell(base.commit.slice(0, 7))}`,
    count(edited.length, 'edited file'),
    ...(untouched === 0 ? [] : [`${count(untouched, 'unit')} not touched`]),
    ...(first === undefined ? [] : [`observed ${time(first)}`]),
  ].join(' · ')
}

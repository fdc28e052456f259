/** docs/guides/first-look.md */
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { Drift, ObjectVerdict, SetAside } from '../../drift/compare/drift.ts'
import { PRESET } from '../../drift/noise/presets.ts'
import type { UnitPlan } from '../../plan/observation/unit-plan.ts'
import { computeActorLimit, formatActorName } from '../../record/actor-name.ts'
import { getChangeRef } from '../../record/build-report.ts'
import type { Change } from '../../record/documents/change.ts'
import { formatRollback } from '../../record/rolled-back.ts'
import type { GroupMember } from '../../status/resource-group.ts'
import type { Style, Terminal } from '../context/terminal.ts'
import { formatRolloutLines } from './print-applier.ts'
import { formatChangeValues } from './sides-text.ts'
import { alignCells, computeColumnWidths, measureTextWidth } from './table.ts'
import { describeStuckSince, formatTimeText } from './time-text.ts'

export interface DiffView {
  readonly packageName: string
  readonly appliedBy?: string | undefined
  readonly cluster: string
  readonly plan: UnitPlan
  readonly verdicts: readonly ObjectVerdict[]
  readonly showIgnored: boolean
  /** Also listed by `showIgnored`. */
  readonly health?: readonly GroupMember[]
  /** Milliseconds since 1970. */
  readonly now: number
  readonly wide: boolean
  /** By fingerprint; only if `wide`. */
  readonly origins?: ReadonlyMap<string, readonly string[]> | undefined
  /** Numbers in the whole list; undefined: changes count from 1. */
  readonly numbers?: ReadonlyMap<Change, number> | undefined
  readonly resolutions?: boolean
  /** A line that names no object then names the unit. */
  readonly isOneOfSeveral?: boolean
}

const CHANGE_STYLE = {
  modified: 'yellow',
  removed: 'red',
  added: 'green',
  missing: 'red',
  unexpected: 'green',
} as const
const CHANGE_GLYPH = {
  modified: 'changed',
  removed: 'removed',
  added: 'added',
  missing: 'removed',
  unexpected: 'added',
} as const

/** Empty if nothing differs, is set aside or is unobserved. */
export function formatDiff(view: DiffView, terminal: Terminal): string {
  const { changes } = view.plan.report.spec
  const lines: string[] = []
  const rows = layOut(view, terminal)
  const reported = new Map<string, string>()
  let object = ''
  changes.forEach((change, index) => {
    const here = `${change.ref.group}/${change.ref.kind}/${change.ref.namespace}/${change.ref.name}`
    if (here !== object) lines.push(...formatObjectHead(change, view, terminal))
    object = here
    lines.push(rows[index] ?? '')
    const rollback = formatRollback(change)
    if (rollback !== undefined && rollback !== reported.get(here))
      lines.push(`       ${terminal.style(convertToOneLine(rollback, 200), 'yellow')}`)
    if (rollback !== undefined) reported.set(here, rollback)
    for (const line of view.wide ? formatOwnerLines(change) : [])
      lines.push(`       ${terminal.style(line, 'dim')}`)
    for (const line of view.origins?.get(change.fingerprint) ?? [])
      lines.push(`       ${terminal.style(convertToOneLine(line, 400), 'dim')}`)
    for (const note of change.notes ?? [])
      if (view.wide) lines.push(`       ${terminal.style(note, 'dim')}`)
  })
  for (const verdict of view.verdicts) lines.push(...reapplyLines(verdict, terminal))
  lines.push(...setAsideLines(view, terminal), ...formatIncompleteLines(view, terminal))
  if (changes.length > 0) lines.push(formatSummary(view))
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

/** Characters, in a pipe; a longer cell shifts only its own line. */
const COLUMN_LIMIT: readonly number[] = [16, 60, 60, 24, 10, 22]
const GAP = 2
/** Characters; a pipe shows whole values. */
const VALUE_LIMITS = { least: 24, most: 60, pipe: 2_000 } as const
const VALUES = 2
/** Characters that alignment may cut from both values. */
const SLACK = 4

interface Row {
  readonly change: Change
  readonly cells: readonly string[]
}

/** Two lines per change on a narrow terminal. */
function layOut(view: DiffView, terminal: Terminal): string[] {
  const { changes } = view.plan.report.spec
  const riskWidth = Math.max(0, ...changes.map(({ risk }) => risk.length))
  const limit = terminal.isTTY ? VALUE_LIMITS.most : VALUE_LIMITS.pipe
  const rows = changes.map((change, index) => ({
    change,
    cells: changeCells(change, view.numbers?.get(change) ?? index + 1, view, {
      terminal,
      limit,
      riskWidth,
    }),
  }))
  if (!terminal.isTTY)
    return alignColumns(
      rows.map(({ cells }) => cells),
      COLUMN_LIMIT,
    )
  const inOne = fitRowsToRoom(rows, computeValueRoom(rows, terminal), terminal)
  if (inOne !== undefined) return alignColumns(inOne)
  const starts = rows.map(({ change, cells }) => ({ change, cells: cells.slice(0, 3) }))
  const firsts =
    alignStarts(starts, terminal) ??
    starts.flatMap((row) => alignColumns([startAlone(row, terminal)]))
  const actors = alignColumns(rows.map(({ cells }) => cells.slice(3)))
  return firsts.map((line, index) => `${line}\n       ${actors[index]?.trimStart() ?? ''}`)
}

function computeValueRoom(rows: readonly Row[], terminal: Terminal): number {
  const widths = computeColumnWidths(rows.map(({ cells }) => cells))
  return (
    terminal.width -
    widths.reduce(
      (sum, width, column) => (column === VALUES ? sum : sum + width),
      widths.length * GAP,
    )
  )
}

/** Undefined if a value would become too short. */
function fitRowsToRoom(
  rows: readonly Row[],
  room: number,
  terminal: Terminal,
): string[][] | undefined {
  const fitted = rows.map(({ change, cells }) => {
    if (measureTextWidth(cells[VALUES] ?? '') <= room) return [...cells]
    const cut = formatChangeValues(change, terminal, computeValueLimit(room, terminal))
    return measureTextWidth(cut) <= room ? cells.with(VALUES, cut) : undefined
  })
  return fitted.every((cells) => cells !== undefined) ? fitted : undefined
}

function computeValueLimit(room: number, terminal: Terminal): number {
  return Math.max(
    VALUE_LIMITS.least,
    Math.floor((room - measureTextWidth(terminal.getGlyph('arrow')) - 2) / 2),
  )
}

/** Undefined if alignment cuts a value that would otherwise have more room. */
function alignStarts(rows: readonly Row[], terminal: Terminal): string[] | undefined {
  const room = computeValueRoom(rows, terminal)
  const fitted = fitRowsToRoom(rows, room, terminal)
  const cut = rows.filter(({ cells }) => measureTextWidth(cells[VALUES] ?? '') > room)
  return fitted !== undefined &&
    cut.every((row) => computeValueRoom([row], terminal) <= room + SLACK)
    ? alignColumns(fitted)
    : undefined
}

function startAlone(row: Row, terminal: Terminal): readonly string[] {
  const { change, cells } = row
  const room = Math.max(0, computeValueRoom([row], terminal))
  return measureTextWidth(cells[VALUES] ?? '') <= room
    ? cells
    : cells.with(VALUES, formatChangeValues(change, terminal, computeValueLimit(room, terminal)))
}

function alignColumns(
  rows: readonly (readonly string[])[],
  limits: readonly number[] = [],
): string[] {
  const widths = computeColumnWidths(rows).map((width, column) =>
    Math.min(limits[column] ?? Number.POSITIVE_INFINITY, width),
  )
  return rows.map((row) => `  ${alignCells(row, widths, GAP)}`)
}

function formatObjectHead(change: Change, view: DiffView, terminal: Terminal): string[] {
  const { ref } = change
  const version =
    view.verdicts.find(({ id }) => getResourceKey(id) === getResourceKey(ref))?.apiVersion ??
    ref.group
  const name = ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`
  const head = terminal.style(convertToOneLine(`${version} ${ref.kind} ${name}`), 'bold')
  const source =
    change.source === undefined
      ? ''
      : terminal.style(`   ${convertToOneLine(change.source, 300)}`, 'dim')
  return [head + source]
}

interface CellLayout {
  readonly terminal: Terminal
  readonly limit: number
  readonly riskWidth: number
}

function changeCells(
  change: Change,
  number: number,
  view: DiffView,
  { terminal, limit, riskWidth }: CellLayout,
): string[] {
  const style: Style = change.risk === 'critical' ? 'red' : CHANGE_STYLE[change.change]
  const mark = terminal.style(terminal.getGlyph(CHANGE_GLYPH[change.change]), style)
  const { actor } = change
  return [
    `${terminal.style(String(number), 'dim')} ${mark}${view.resolutions === true ? ` ${change.resolution.toLowerCase()}` : ''}`,
    change.path === undefined ? change.change : convertToOneLine(change.path, 160),
    change.path === undefined ? '' : formatChangeValues(change, terminal, limit),
    actor.confidence === 'none'
      ? 'unknown'
      : `${convertToOneLine(formatActorName(actor), computeActorLimit(actor, 40))}${actor.confidence === 'last-writer' ? '?' : ''}`,
    actor.class === 'unknown' ? '-' : actor.class.replace('-', ' '),
    formatTimeText(actor.at || undefined, view, terminal),
    `${terminal.style(change.risk, ...getRiskStyle(change.risk))}${' '.repeat(riskWidth - change.risk.length)} ${change.reason}`,
  ]
}

function formatOwnerLines({ actor }: Change): string[] {
  const others = (actor.others ?? []).map(
    ({ manager, at }) =>
      `${convertToOneLine(manager, 60)}${at === '' ? '' : ` ${convertToOneLine(at, 40)}`}`,
  )
  return [
    ...(others.length === 0 ? [] : [`also owned by ${others.join(', ')}`]),
    ...(actor.confidence === 'audit-time'
      ? ['the user is matched by manager and time: the audit log has no request bodies']
      : []),
  ]
}

function getRiskStyle(risk: Change['risk']): Style[] {
  return risk === 'critical'
    ? ['red', 'bold']
    : risk === 'high'
      ? ['red']
      : risk === 'medium'
        ? ['yellow']
        : []
}

function reapplyLines({ id, reapplyFails }: ObjectVerdict, terminal: Terminal): string[] {
  if (reapplyFails === undefined) return []
  const name = `${id.kind} ${id.namespace === '' ? id.name : `${id.namespace}/${id.name}`}`
  return [
    `${terminal.style(terminal.getGlyph('warning'), 'yellow')} a plain re-apply of ${convertToOneLine(name)} fails: ${convertToOneLine(reapplyFails, 400)}`,
  ]
}

function setAsideLines(view: DiffView, terminal: Terminal): string[] {
  const aside = view.verdicts.flatMap(({ setAside }) => setAside)
  const rollouts = view.showIgnored
    ? formatRolloutLines(view.health ?? []).map((line) => terminal.style(`  ${line}`, 'dim'))
    : []
  if (aside.length === 0) return rollouts
  if (!view.showIgnored) {
    const counts = (['Ignored', 'Released'] as const).flatMap((state) => {
      // Presets mute differences of every cluster.
      const count = aside.filter(
        (entry) => entry.state === state && entry.rule?.startsWith(PRESET) !== true,
      ).length
      return count === 0 ? [] : [`${count} ${state}`]
    })
    const hidden =
      counts.length === 0
        ? []
        : [`${counts.join(', ')}${formatOfUnit(view)} (no drift): --show-ignored lists them`]
    return [
      ...formatWaitingLines(aside, view, terminal),
      ...hidden.map((line) => terminal.style(line, 'dim')),
    ]
  }
  const lines = aside.map((one) =>
    terminal.style(
      `  ${formatWaitingState(one)}: ${describeDrift(one.drift)}: ${convertToOneLine(one.why, 300)}`,
      ...getAsideStyle(one),
    ),
  )
  return [...lines, ...rollouts]
}

/** Always printed, one line per reason. */
function formatWaitingLines(
  aside: readonly SetAside[],
  view: DiffView,
  terminal: Terminal,
): string[] {
  const waiting = aside.filter(({ state }) => state !== 'Ignored' && state !== 'Released')
  const reported = Map.groupBy(
    waiting,
    (one) =>
      `${formatWaitingState(one)}: ${one.why}${one.observe === undefined ? '' : `; ${one.observe}`}`,
  )
  return [...reported].map(([line, [first, ...more]]) => {
    const count = `${more.length + 1} ${more.length === 0 ? 'difference' : 'differences'}${formatOfUnit(view)}`
    const end = first?.stuckSince === undefined ? `${count}, no drift` : count
    return terminal.style(
      `${convertToOneLine(line, 600)} (${end})`,
      ...(first === undefined ? [] : getAsideStyle(first)),
    )
  })
}

function formatOfUnit(view: DiffView): string {
  return view.isOneOfSeveral === true ? ` of ${describeUnit(view)}` : ''
}

function describeUnit({ packageName, appliedBy, cluster }: DiffView): string {
  return `${convertToOneLine(packageName)}${appliedBy === undefined ? '' : ` (${convertToOneLine(appliedBy)})`} in ${convertToOneLine(cluster)}`
}

function formatWaitingState({ state, stuckSince }: SetAside): string {
  return stuckSince === undefined || state === 'SyncFailed'
    ? state
    : `${state} (${describeStuckSince(stuckSince || undefined)})`
}

function getAsideStyle({ stuckSince }: SetAside): Style[] {
  return [stuckSince === undefined ? 'dim' : 'yellow']
}

function describeDrift({ id, path, change }: Drift): string {
  const ref = getChangeRef(id)
  return convertToOneLine(
    `${ref.kind} ${ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`} ${path.length === 0 ? change : formatRedactedPath(path, id)}`,
    200,
  )
}

/** Per reason; `-o wide` lists each. */
const MOST_UNPROVEN_LINES = 3

function formatIncompleteLines(view: DiffView, terminal: Terminal): string[] {
  const all = view.plan.report.status.incomplete ?? []
  const alike = Map.groupBy(all, ({ state, code, why, remedy }) =>
    JSON.stringify([state, code, why, remedy]),
  )
  return [...alike.values()].flatMap((same) => {
    const isShort = !view.wide && same.length > MOST_UNPROVEN_LINES
    const others = isShort ? ` and ${same.length - 1} others` : ''
    return (isShort ? same.slice(0, 1) : same).map(({ ref, state, code, why, remedy }) => {
      const name =
        ref === undefined
          ? view.isOneOfSeveral === true
            ? describeUnit(view)
            : view.packageName
          : `${ref.kind} ${ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`}`
      const mark = terminal.style(terminal.getGlyph('unknown'), 'yellow')
      const end = remedy === undefined ? '' : `. ${convertToOneLine(remedy, 300)}`
      return `${mark} ${convertToOneLine(name)}${others} ${state ?? 'not observed'} (${code}): ${convertToOneLine(why, 300)}${end}`
    })
  })
}

function formatSummary(view: DiffView): string {
  const { changes, observed } = view.plan.report.spec
  const objects = new Set(changes.map(({ ref }) => getResourceKey(ref))).size
  const ignored = view.verdicts
    .flatMap(({ setAside }) => setAside)
    .filter(({ state }) => state === 'Ignored').length
  const unexpected = changes.filter(({ change }) => change === 'unexpected').length
  const count = (number: number, noun: string): string =>
    `${number} ${noun}${number === 1 ? '' : 's'}`
  const hidden = ignored === 0 ? '' : `, ${count(ignored, 'change')} ignored`
  return `${count(changes.length, 'change')} in ${count(objects, 'object')} of ${describeUnit(view)} (${observed.objects + unexpected} checked${hidden})`
}

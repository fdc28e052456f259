/** docs/guides/first-look.md */
import { shownPathOnly } from '@backporch/kyaml/redaction'
import { resourceKey } from '@backporch/kyaml/resource'
import { oneLine } from '@backporch/kyaml/text'
import type { Drift, ObjectVerdict, SetAside } from '../../drift/compare/drift.ts'
import { PRESET } from '../../drift/noise/presets.ts'
import type { UnitPlan } from '../../plan/observation/unit-plan.ts'
import { actorLimit, actorName } from '../../record/actor-name.ts'
import { refOf } from '../../record/build-report.ts'
import type { Change } from '../../record/documents/change.ts'
import { rollbackText } from '../../record/rolled-back.ts'
import type { GroupMember } from '../../status/resource-group.ts'
import type { Style, Terminal } from '../context/terminal.ts'
import { rolloutLines } from './print-applier.ts'
import { valuesOf } from './sides-text.ts'
import { aligned, columnWidths, widthOf } from './table.ts'
import { stuckText, timeOf } from './time-text.ts'

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
    if (here !== object) lines.push(...objectHead(change, view, terminal))
    object = here
    lines.push(rows[index] ?? '')
    const rollback = rollbackText(change)
    if (rollback !== undefined && rollback !== reported.get(here))
      lines.push(`       ${terminal.style(oneLine(rollback, 200), 'yellow')}`)
    if (rollback !== undefined) reported.set(here, rollback)
    for (const line of view.wide ? ownerLines(change) : [])
      lines.push(`       ${terminal.style(line, 'dim')}`)
    for (const line of view.origins?.get(change.fingerprint) ?? [])
      lines.push(`       ${terminal.style(oneLine(line, 400), 'dim')}`)
    for (const note of change.notes ?? [])
      if (view.wide) lines.push(`       ${terminal.style(note, 'dim')}`)
  })
  for (const verdict of view.verdicts) lines.push(...reapplyLines(verdict, terminal))
  lines.push(...setAsideLines(view, terminal), ...incompleteLines(view, terminal))
  if (changes.length > 0) lines.push(summary(view))
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
    return inColumns(
      rows.map(({ cells }) => cells),
      COLUMN_LIMIT,
    )
  const inOne = withRoom(rows, valueRoom(rows, terminal), terminal)
  if (inOne !== undefined) return inColumns(inOne)
  const starts = rows.map(({ change, cells }) => ({ change, cells: cells.slice(0, 3) }))
  const firsts =
    alignedStarts(starts, terminal) ??
    starts.flatMap((row) => inColumns([startAlone(row, terminal)]))
  const actors = inColumns(rows.map(({ cells }) => cells.slice(3)))
  return firsts.map((line, index) => `${line}\n       ${actors[index]?.trimStart() ?? ''}`)
}

function valueRoom(rows: readonly Row[], terminal: Terminal): number {
  const widths = columnWidths(rows.map(({ cells }) => cells))
  return (
    terminal.width -
    widths.reduce(
      (sum, width, column) => (column === VALUES ? sum : sum + width),
      widths.length * GAP,
    )
  )
}

/** Undefined if a value would become too short. */
function withRoom(rows: readonly Row[], room: number, terminal: Terminal): string[][] | undefined {
  const fitted = rows.map(({ change, cells }) => {
    if (widthOf(cells[VALUES] ?? '') <= room) return [...cells]
    const cut = valuesOf(change, terminal, valueLimit(room, terminal))
    return widthOf(cut) <= room ? cells.with(VALUES, cut) : undefined
  })
  return fitted.every((cells) => cells !== undefined) ? fitted : undefined
}

function valueLimit(room: number, terminal: Terminal): number {
  return Math.max(VALUE_LIMITS.least, Math.floor((room - widthOf(terminal.glyph('arrow')) - 2) / 2))
}

/** Undefined if alignment cuts a value that would otherwise have more room. */
function alignedStarts(rows: readonly Row[], terminal: Terminal): string[] | undefined {
  const room = valueRoom(rows, terminal)
  const fitted = withRoom(rows, room, terminal)
  const cut = rows.filter(({ cells }) => widthOf(cells[VALUES] ?? '') > room)
  return fitted !== undefined && cut.every((row) => valueRoom([row], terminal) <= room + SLACK)
    ? inColumns(fitted)
    : undefined
}

function startAlone(row: Row, terminal: Terminal): readonly string[] {
  const { change, cells } = row
  const room = Math.max(0, valueRoom([row], terminal))
  return widthOf(cells[VALUES] ?? '') <= room
    ? cells
    : cells.with(VALUES, valuesOf(change, terminal, valueLimit(room, terminal)))
}

function inColumns(rows: readonly (readonly string[])[], limits: readonly number[] = []): string[] {
  const widths = columnWidths(rows).map((width, column) =>
    Math.min(limits[column] ?? Number.POSITIVE_INFINITY, width),
  )
  return rows.map((row) => `  ${aligned(row, widths, GAP)}`)
}

function objectHead(change: Change, view: DiffView, terminal: Terminal): string[] {
  const { ref } = change
  const version =
    view.verdicts.find(({ id }) => resourceKey(id) === resourceKey(ref))?.apiVersion ?? ref.group
  const name = ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`
  const head = terminal.style(oneLine(`${version} ${ref.kind} ${name}`), 'bold')
  const source =
    change.source === undefined ? '' : terminal.style(`   ${oneLine(change.source, 300)}`, 'dim')
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
  const mark = terminal.style(terminal.glyph(CHANGE_GLYPH[change.change]), style)
  const { actor } = change
  return [
    `${terminal.style(String(number), 'dim')} ${mark}${view.resolutions === true ? ` ${change.resolution.toLowerCase()}` : ''}`,
    change.path === undefined ? change.change : oneLine(change.path, 160),
    change.path === undefined ? '' : valuesOf(change, terminal, limit),
    actor.confidence === 'none'
      ? 'unknown'
      : `${oneLine(actorName(actor), actorLimit(actor, 40))}${actor.confidence === 'last-writer' ? '?' : ''}`,
    actor.class === 'unknown' ? '-' : actor.class.replace('-', ' '),
    timeOf(actor.at, view, terminal),
    `${terminal.style(change.risk, ...riskStyle(change.risk))}${' '.repeat(riskWidth - change.risk.length)} ${change.reason}`,
  ]
}

function ownerLines({ actor }: Change): string[] {
  const others = (actor.others ?? []).map(
    ({ manager, at }) => `${oneLine(manager, 60)}${at === '' ? '' : ` ${oneLine(at, 40)}`}`,
  )
  return [
    ...(others.length === 0 ? [] : [`also owned by ${others.join(', ')}`]),
    ...(actor.confidence === 'audit-time'
      ? ['the user is told by manager and time: the audit log has no bodies']
      : []),
  ]
}

function riskStyle(risk: Change['risk']): Style[] {
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
    `${terminal.style(terminal.glyph('warning'), 'yellow')} a plain re-apply of ${oneLine(name)} fails: ${oneLine(reapplyFails, 400)}`,
  ]
}

function setAsideLines(view: DiffView, terminal: Terminal): string[] {
  const aside = view.verdicts.flatMap(({ setAside }) => setAside)
  const rollouts = view.showIgnored
    ? rolloutLines(view.health ?? []).map((line) => terminal.style(`  ${line}`, 'dim'))
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
        : [`${counts.join(', ')}${ofUnit(view)} (no drift): --show-ignored lists them`]
    return [
      ...waitingLines(aside, view, terminal),
      ...hidden.map((line) => terminal.style(line, 'dim')),
    ]
  }
  const lines = aside.map((one) =>
    terminal.style(
      `  ${waitingWord(one)}: ${describeDrift(one.drift)}: ${oneLine(one.why, 300)}`,
      ...asideStyle(one),
    ),
  )
  return [...lines, ...rollouts]
}

/** Always printed, one line per reason. */
function waitingLines(aside: readonly SetAside[], view: DiffView, terminal: Terminal): string[] {
  const waiting = aside.filter(({ state }) => state !== 'Ignored' && state !== 'Released')
  const reported = Map.groupBy(
    waiting,
    (one) =>
      `${waitingWord(one)}: ${one.why}${one.observe === undefined ? '' : `; ${one.observe}`}`,
  )
  return [...reported].map(([line, [first, ...more]]) => {
    const count = `${more.length + 1} ${more.length === 0 ? 'difference' : 'differences'}${ofUnit(view)}`
    const end = first?.stuckSince === undefined ? `${count}, no drift` : count
    return terminal.style(
      `${oneLine(line, 600)} (${end})`,
      ...(first === undefined ? [] : asideStyle(first)),
    )
  })
}

function ofUnit(view: DiffView): string {
  return view.isOneOfSeveral === true ? ` of ${unitText(view)}` : ''
}

function unitText({ packageName, appliedBy, cluster }: DiffView): string {
  return `${oneLine(packageName)}${appliedBy === undefined ? '' : ` (${oneLine(appliedBy)})`} in ${oneLine(cluster)}`
}

function waitingWord({ state, stuckSince }: SetAside): string {
  return stuckSince === undefined || state === 'SyncFailed'
    ? state
    : `${state} (${stuckText(stuckSince)})`
}

function asideStyle({ stuckSince }: SetAside): Style[] {
  return [stuckSince === undefined ? 'dim' : 'yellow']
}

function describeDrift({ id, path, change }: Drift): string {
  const ref = refOf(id)
  return oneLine(
    `${ref.kind} ${ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`} ${path.length === 0 ? change : shownPathOnly(path, id)}`,
    200,
  )
}

/** Per reason; `-o wide` lists each. */
const MOST_UNPROVEN_LINES = 3

function incompleteLines(view: DiffView, terminal: Terminal): string[] {
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
            ? unitText(view)
            : view.packageName
          : `${ref.kind} ${ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`}`
      const mark = terminal.style(terminal.glyph('unknown'), 'yellow')
      const end = remedy === undefined ? '' : `. ${oneLine(remedy, 300)}`
      return `${mark} ${oneLine(name)}${others} ${state ?? 'not observed'} (${code}): ${oneLine(why, 300)}${end}`
    })
  })
}

function summary(view: DiffView): string {
  const { changes, observed } = view.plan.report.spec
  const objects = new Set(changes.map(({ ref }) => resourceKey(ref))).size
  const ignored = view.verdicts
    .flatMap(({ setAside }) => setAside)
    .filter(({ state }) => state === 'Ignored').length
  const unexpected = changes.filter(({ change }) => change === 'unexpected').length
  const count = (number: number, noun: string): string =>
    `${number} ${noun}${number === 1 ? '' : 's'}`
  const hidden = ignored === 0 ? '' : `, ${count(ignored, 'change')} ignored`
  return `${count(changes.length, 'change')} in ${count(objects, 'object')} of ${unitText(view)} (${observed.objects + unexpected} checked${hidden})`
}

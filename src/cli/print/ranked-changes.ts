/** Riskiest first, with the numbers that `adopt 1,3` uses. */
import { RISKS } from '../../drift/compare/drift.ts'
import type { Change } from '../../record/documents/change.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import { joinFolderPath } from '../../sources/kustomize/files/kustomization-walk.ts'

export interface RankedChange {
  readonly report: DriftReport
  readonly change: Change
  /** Within its report, from 1. */
  readonly number: number
}

export function listRankedChanges(
  { items }: DriftReportList,
  numbers?: ReadonlyMap<Change, number>,
): RankedChange[] {
  const all = items.flatMap((report) =>
    report.spec.changes.map((change, index) => ({
      report,
      change,
      number: numbers?.get(change) ?? index + 1,
    })),
  )
  // sort() is stable.
  return all.sort(
    (left, right) => RISKS.indexOf(left.change.risk) - RISKS.indexOf(right.change.risk),
  )
}

export function formatObjectName({ kind, namespace, name }: Change['ref']): string {
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`
}

interface SourceLocation {
  readonly path: string
  readonly line: number
}

/** Without a recorded location: the Kptfile, or else the first known manifest or the folder. */
export function getChangeSource({ change, report: { spec } }: RankedChange): SourceLocation {
  const own = findSourceLocation(change)
  if (own !== undefined) return own
  const { package: folder, source } = spec.unit
  if (source !== 'folder') return { path: joinFolderPath(folder, 'Kptfile'), line: 1 }
  const [first] = spec.changes.flatMap((other) => findSourceLocation(other)?.path ?? []).sort()
  return { path: first ?? (folder || '.'), line: 1 }
}

function findSourceLocation({ source }: Change): SourceLocation | undefined {
  const [, path, line] = /^(.+):(\d{1,9})$/s.exec(source ?? '') ?? []
  return path !== undefined && line !== undefined && Number(line) > 0
    ? { path, line: Number(line) }
    : undefined
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** The changes of a list, riskiest first, with the numbers by which `adopt 1,3` names them. */
import { RISKS } from '../drift/drift.ts'
import type { Change, DriftReport, DriftReportList } from '../record/schema.ts'

export interface RankedChange {
  readonly report: DriftReport
  readonly change: Change
  /** Within its report, from 1: as `diff` and `get drifts` count. */
  readonly number: number
}

/** `numbers`: in the whole list, where some of it is not shown. */
export function rankedChanges({ items }: DriftReportList, numbers?: ReadonlyMap<Change, number>): RankedChange[] {
  const all = items.flatMap((report) =>
    report.spec.changes.map((change, index) => ({ report, change, number: numbers?.get(change) ?? index + 1 })),
  )
  // sort() is stable: changes of one risk stay in the order of their reports.
  return all.sort((left, right) => RISKS.indexOf(left.change.risk) - RISKS.indexOf(right.change.risk))
}

/** `Deployment shop/web` */
export function objectName({ kind, namespace, name }: Change['ref']): string {
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`
}

export interface SourcePlace {
  /** From the root of the repository. */
  readonly path: string
  readonly line: number
}

/** Where git declares the object; for one that git does not declare, or whose place was not recorded, the package's Kptfile. */
export function sourceOf({ change, report }: RankedChange): SourcePlace {
  const [, path, line] = /^(.+):(\d{1,9})$/s.exec(change.source ?? '') ?? []
  if (path !== undefined && line !== undefined && Number(line) > 0) return { path, line: Number(line) }
  const folder = report.spec.unit.package
  return { path: folder === '' ? 'Kptfile' : `${folder}/Kptfile`, line: 1 }
}

/** `3 changes in 2 packages`, `1 change in 1 package` */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

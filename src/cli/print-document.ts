/** `-o json` and `-o yaml`: documents with integers exact, and nothing but the document on stdout. */
import { formatJson, type Json } from '../krm/json.ts'
import type { UnitResult } from '../reconcile/unit-result.ts'
import { API_VERSION, type DriftReport, type DriftReportList, type Incomplete } from '../record/schema.ts'
import { formatDocument } from '../record/write-document.ts'
import type { Output } from './options.ts'
import type { World } from './world.ts'

export function printDocument(document: object, output: Output, world: World): void {
  world.stdout.write(output === 'yaml' ? formatDocument(document) : `${formatJson(document as Json, 2)}\n`)
}

export function reportList(items: readonly DriftReport[], observedAt: string, incomplete: readonly Incomplete[]): DriftReportList {
  return { apiVersion: API_VERSION, kind: 'DriftReportList', observedAt, incomplete: [...incomplete], items: [...items] }
}

/** What a turn could not observe, over all of its units. */
export function incompleteOf(units: readonly UnitResult[]): Incomplete[] {
  return units.flatMap((unit) =>
    unit.state === 'planned'
      ? unit.observation.incomplete.map((entry) => ({ package: unit.unit.packagePath, ...entry }))
      : unit.failures.map(({ code, what, why, remedy }) => ({ package: unit.packagePath, code, why: `${what}: ${why}`, remedy })),
  )
}

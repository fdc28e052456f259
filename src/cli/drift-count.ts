/** The DRIFT column. */
import type { DriftReport } from '../record/schema.ts'

/** Objects that differ of the objects that git declares. */
export function driftCount({ spec, status: { state } }: DriftReport): string {
  if (state === 'Unknown') return '?'
  const objects = new Set(spec.changes.map(({ ref }) => `${ref.group}/${ref.kind}/${ref.namespace}/${ref.name}`)).size
  return `${objects}/${spec.observed.objects}`
}

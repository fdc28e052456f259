/** Columns that lists have in common. */
import type { DriftReport } from '../../record/schema.ts'

/** Objects that differ of all that were looked at: those that git declares, and the unexpected ones. */
export function driftCount({ spec, status: { state } }: DriftReport): string {
  if (state === 'Unknown') return '?'
  const objects = new Set(spec.changes.map(({ ref }) => `${ref.group}/${ref.kind}/${ref.namespace}/${ref.name}`)).size
  const unexpected = spec.changes.filter(({ change }) => change === 'unexpected').length
  return `${objects}/${spec.observed.objects + unexpected}`
}

/** Workspace that the open record is in: of its own episode, or of the joint proposal that it shares. */
export function workspaceOf({ episode, branch }: DriftReport['status']): string {
  return branch === undefined ? `drift-${episode}` : branch.slice(branch.lastIndexOf('/') + 1)
}

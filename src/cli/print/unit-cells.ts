import { convertToOneLine } from '@backporch/kyaml/text'
import { deriveEffectivePolicy } from '../../policy/effective-policy.ts'
import type { PolicySet } from '../../policy/parse-policy.ts'
import type { DriftReport, UnitHealth } from '../../record/documents/drift-report.ts'
import { describeChoice } from '../../sources/registry.ts'
import type { StatusWord } from '../../status/kstatus-fields.ts'
import type { Terminal } from '../context/terminal.ts'

export function formatDriftCount({ spec, status: { state } }: DriftReport): string {
  if (state === 'Unknown') return '?'
  const objects = new Set(
    spec.changes.map(({ ref }) => `${ref.group}/${ref.kind}/${ref.namespace}/${ref.name}`),
  ).size
  const unexpected = spec.changes.filter(({ change }) => change === 'unexpected').length
  return `${objects}/${spec.observed.objects + unexpected}`
}

export function getUnitSource(
  {
    cluster,
    package: path,
    source,
    appliedBy,
  }: Pick<DriftReport['spec']['unit'], 'cluster' | 'package' | 'source' | 'appliedBy'>,
  policies: PolicySet,
): string {
  if (appliedBy !== undefined) return appliedBy
  return (
    describeChoice(deriveEffectivePolicy(policies, cluster, path).render).unit ?? source ?? 'kpt'
  )
}

/** Of its own episode or its joint proposal. */
export function getWorkspaceName({ episode, branch }: DriftReport['status']): string {
  return branch === undefined ? `drift-${episode}` : branch.slice(branch.lastIndexOf('/') + 1)
}

const HEALTH_GLYPH = {
  Current: 'ok',
  InProgress: 'changed',
  Failed: 'error',
  Terminating: 'changed',
  NotFound: 'removed',
  Unknown: 'unknown',
} as const

/** An earlier version wrote no health. */
export function formatHealthCell(status: StatusWord | undefined, terminal: Terminal): string {
  return status === undefined ? '-' : `${terminal.getGlyph(HEALTH_GLYPH[status])} ${status}`
}

export function formatUnhealthyCell(health: UnitHealth | undefined): string {
  const [worst, ...others] = health?.objects ?? []
  if (worst === undefined) return '-'
  const { ref, status, message } = worst
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `${convertToOneLine(`${ref.kind}/${ref.name}: ${message ?? status}`, 120)}${more}`
}

type Held = NonNullable<DriftReport['status']['held']>

export function describeHeld({ reason, until, why }: Held): string {
  return `held back (${reason})${until === undefined ? '' : ` until ${convertToOneLine(until, 40)}`}: ${convertToOneLine(why, 300)}`
}

export function formatHeldCell(held: Held | undefined): string {
  if (held === undefined) return '-'
  return held.until === undefined ? held.reason : `${held.reason} until ${held.until}`
}

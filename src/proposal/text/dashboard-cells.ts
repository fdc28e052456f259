import { formatMarkdownCell, formatMarkdownLink } from '@backporch/kyaml/markdown'
import { compareText } from '@backporch/kyaml/text'
import type { DashboardProposal, DashboardUnit, UndecidedUnit } from './dashboard-subject.ts'
import { count, formatClusterCell, formatDuration, formatRiskWord, time } from './words.ts'

export function formatWaiting({ waits, overdue }: UndecidedUnit): string {
  if (overdue !== undefined) return `, **no decision for ${formatDuration(overdue)}**`
  return waits ? ', **waits long**' : ''
}

export function name({ packageName, url }: DashboardUnit): string {
  return formatMarkdownLink(formatMarkdownCell(packageName), url)
}

export function nameOfAll([unit, ...more]: readonly [DashboardUnit, ...DashboardUnit[]]): string {
  return more.length === 0 ? name(unit) : formatMarkdownCell(unit.packageName)
}

export function formatCluster(unit: { readonly cluster: string }): string {
  return formatClusterCell(unit.cluster)
}

const CLUSTERS_NAMED = 3

export function formatClusterNames(units: readonly { readonly cluster: string }[]): string {
  const more = units.length - CLUSTERS_NAMED
  return `${units.slice(0, CLUSTERS_NAMED).map(formatCluster).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** `none` if one of them is unknown. */
export function formatEarliest(times: readonly (string | undefined)[], none = ''): string {
  const known = times.filter((at) => at !== undefined)
  const [first] = known.toSorted(compareText)
  return first === undefined || known.length < times.length ? none : time(first)
}

export function formatRisk(unit: DashboardUnit): string {
  return formatRiskWord(unit.risk)
}

export function describeDashboardUnit(unit: DashboardUnit): string {
  return `${name(unit)} in ${formatCluster(unit)}, ${formatRisk(unit)}, ${formatChangeCount(unit)} since ${time(unit.since)}`
}

export function formatChangeCount({ changes: number }: DashboardUnit): string {
  return count(number, 'change')
}

export function formatProposalLink({
  proposal: { label, url },
}: {
  readonly proposal: DashboardProposal
}): string {
  if (label === undefined) return 'being opened'
  return formatMarkdownLink(formatMarkdownCell(label, 40), url)
}

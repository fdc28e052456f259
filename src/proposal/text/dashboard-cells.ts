import { markdownCell, markdownLink } from '@backporch/kyaml/markdown'
import { compareText } from '@backporch/kyaml/text'
import type { DashboardProposal, DashboardUnit, UndecidedUnit } from './dashboard-subject.ts'
import { clusterCell, count, duration, riskWord, time } from './words.ts'

export function waiting({ waits, overdue }: UndecidedUnit): string {
  if (overdue !== undefined) return `, **no decision for ${duration(overdue)}**`
  return waits ? ', **waits long**' : ''
}

export function name({ packageName, url }: DashboardUnit): string {
  return markdownLink(markdownCell(packageName), url)
}

export function nameOfAll([unit, ...more]: readonly [DashboardUnit, ...DashboardUnit[]]): string {
  return more.length === 0 ? name(unit) : markdownCell(unit.packageName)
}

export function cluster(unit: { readonly cluster: string }): string {
  return clusterCell(unit.cluster)
}

const CLUSTERS_NAMED = 3

export function clusterNames(units: readonly { readonly cluster: string }[]): string {
  const more = units.length - CLUSTERS_NAMED
  return `${units.slice(0, CLUSTERS_NAMED).map(cluster).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

export function earliest(times: readonly string[], none = ''): string {
  const [first = ''] = times.toSorted(compareText)
  return first === '' ? none : time(first)
}

export function risk(unit: DashboardUnit): string {
  return riskWord(unit.risk)
}

export function about(unit: DashboardUnit): string {
  return `${name(unit)} in ${cluster(unit)}, ${risk(unit)}, ${changes(unit)} since ${time(unit.since)}`
}

export function changes({ changes: number }: DashboardUnit): string {
  return count(number, 'change')
}

export function proposal({
  proposal: { label, url },
}: {
  readonly proposal: DashboardProposal
}): string {
  if (label === '') return 'being opened'
  return markdownLink(markdownCell(label, 40), url)
}

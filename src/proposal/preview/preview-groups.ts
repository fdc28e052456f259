import { getResourceKey } from '@backporch/kyaml/resource'
import { RISKS } from '../../drift/compare/drift.ts'
import type { Preview, PreviewChange, PreviewUnit } from '../../record/documents/preview.ts'

export interface UnitGroup {
  readonly package: string
  readonly units: readonly [PreviewUnit, ...PreviewUnit[]]
  /** Cluster states have the order of `units`. */
  readonly changes: readonly GroupedChange[]
}

export interface GroupedChange extends PreviewChange {
  readonly everywhere: readonly PreviewChange[]
}

export function groupPreviewUnits({ items }: Pick<Preview, 'items'>): readonly UnitGroup[] {
  const changing = items.filter(({ state }) => state === 'changes')
  const groups = [
    ...Map.groupBy(changing, (unit) =>
      JSON.stringify([unit.package, unit.presence, unit.changes.map(omitLive)], convertToJsonValue),
    ).values(),
  ]
  return groups
    .map((own): UnitGroup => {
      const all = own as [PreviewUnit, ...PreviewUnit[]]
      const changes = all[0].changes.map((change, index) => ({
        ...change,
        everywhere: all.flatMap((unit) => unit.changes[index] ?? []),
      }))
      return { package: all[0].package, units: all, changes }
    })
    .toSorted(
      (one, other) =>
        getRiskRank(one.changes) - getRiskRank(other.changes) ||
        (one.package < other.package ? -1 : 1),
    )
}

/** Numbers beyond 2^53 are bigint. */
function convertToJsonValue(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}

function omitLive({
  live: _live,
  liveValue: _value,
  ...change
}: PreviewChange): Omit<PreviewChange, 'live' | 'liveValue'> {
  return change
}

function getRiskRank(changes: readonly PreviewChange[]): number {
  return Math.min(RISKS.length, ...changes.map(({ risk }) => RISKS.indexOf(risk)))
}

/** Each once per cluster. */
export function countPreviewObjects(units: readonly PreviewUnit[]): number {
  return new Set(
    units.flatMap(({ cluster, changes }) =>
      changes.map(({ ref }) => `${cluster} ${getResourceKey(ref)}`),
    ),
  ).size
}

export function countLive(changes: readonly PreviewChange[]): {
  readonly [live in PreviewChange['live']]: number
} {
  const of = (live: PreviewChange['live']): number =>
    changes.filter((change) => change.live === live).length
  return { before: of('before'), after: of('after'), other: of('other'), unknown: of('unknown') }
}

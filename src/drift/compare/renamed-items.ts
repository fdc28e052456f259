/** A Service's port is its item's key, so another port is one item removed and one added. */
import { isWithin } from '@backporch/kyaml/field'
import { getKey, isJsonObject, type Json } from '@backporch/kyaml/json'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { Drift } from './drift.ts'

interface RenamedItem {
  readonly gone: Drift
  readonly come: Drift
}

export function findRenamedItem(item: Drift, drifts: readonly Drift[]): RenamedItem | undefined {
  const alike = drifts.filter((each) => isInList(each, item))
  const removed = alike.filter(({ change }) => change === 'removed')
  const added = alike.filter(({ change }) => change === 'added')
  const [only] = removed.length === 1 && added.length === 1 ? added : []
  for (const gone of removed) {
    const come = only ?? added.find((each) => isNamedAlike(gone, each))
    if (come !== undefined && (gone === item || come === item)) return { gone, come }
  }
  return undefined
}

function isInList(drift: Drift, { id, path }: Drift): boolean {
  return (
    drift.path.at(-1)?.kind === 'item' &&
    path.at(-1)?.kind === 'item' &&
    getResourceKey(drift.id) === getResourceKey(id) &&
    drift.path.length === path.length &&
    isWithin(drift.path, path.slice(0, -1))
  )
}

function isNamedAlike({ git }: Drift, { live }: Drift): boolean {
  const was = getName(git)
  return was !== undefined && was === getName(live)
}

function getName(item: Json | undefined): Json | undefined {
  return isJsonObject(item) ? getKey(item, 'name') : undefined
}

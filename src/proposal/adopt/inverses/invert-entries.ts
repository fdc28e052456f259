/** Back to the entry of the config of set-label, set-labels or set-annotations that a value is from. */
import { field } from '@backporch/kyaml/field'
import { entryOf, mapAt, textAt, type YamlMap } from '@backporch/kyaml/yaml'
import type { Inverse } from '../../locate/find-locations.ts'

/** `data` of a ConfigMap, or the field of the function's own kind. */
function entriesOf(config: YamlMap | undefined, own: string): string | undefined {
  if (mapAt(config, own) !== undefined && textAt(config, 'kind') !== 'ConfigMap') return own
  return mapAt(config, 'data') === undefined ? undefined : 'data'
}

/** A map of the config whose keys are those of the labels or annotations that the function sets. */
export function invertEntries(own: 'labels' | 'annotations', name = `set-${own}`): Inverse {
  return ({ run, target, finder }) => {
    const last = target.path.at(-1)
    const location = entriesOf(run.config, own)
    if (last?.kind !== 'field' || location === undefined || entryOf(mapAt(run.config, location), last.name) === undefined) return undefined
    if (target.wanted !== undefined && typeof target.wanted !== 'string') return undefined
    const label = { via: `${own.slice(0, -1)}:${last.name}`, what: `the ${own.slice(0, -1)} ${last.name} of ${name}` }
    return finder.configEntry(run, [field(location), field(last.name)], target, label)
  }
}

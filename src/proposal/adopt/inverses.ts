/** From a field that a function wrote to the entry of its config: by the function's inverse (docs/adr/0050), or by the value. */
import { functionName } from '@backporch/kpt/function'
import { field } from '@backporch/kyaml/field'
import { jsonEquals } from '@backporch/kyaml/json'
import { jsonOf, keyOf, pathTo } from '@backporch/kyaml/yaml'
import { FUNCTION_INVERSES } from '../../../functions/inverses.ts'
import { joinLocations, type Locations } from './candidate.ts'
import type { Inverse, Inverses } from './find-locations.ts'

const NOT_CONFIG = new Set(['apiVersion', 'kind', 'metadata'])

/** For a user's own program: an entry of its config with exactly the value that it wrote. */
const invertByValue: Inverse = ({ run, target, node, finder }) => {
  const { config } = run
  if (config === undefined || node === undefined || target.wanted === undefined) return undefined
  const written = jsonOf(node)
  const label = { via: 'function-config', what: `the config of ${functionName(run.step.function)}` }
  const locations = config.entries.flatMap(({ key, value }): Locations[] => {
    if (NOT_CONFIG.has(keyOf(key))) return []
    let isText = false
    const path = pathTo(value, (below) => {
      if (below.kind !== 'scalar') return false
      isText = typeof jsonOf(below) === 'string'
      return jsonEquals(jsonOf(below), written) || below.value === String(written)
    })
    if (path === undefined) return []
    // A text that a program converted to a number stays a text.
    const wanted = isText && typeof target.wanted !== 'object' ? String(target.wanted) : target.wanted
    return [finder.configEntry(run, [field(keyOf(key)), ...path], { ...target, wanted }, label)]
  })
  return locations.length === 0 ? undefined : joinLocations(locations)
}

export const INVERSES: Inverses = { byName: new Map(Object.entries(FUNCTION_INVERSES)), otherwise: invertByValue }

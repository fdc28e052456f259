/** From a field that a function wrote to the entry of its config: by the function's inverse (docs/adr/0079), or by the value. */
import { functionName } from '@backporch/kpt/function'
import { field } from '@backporch/kyaml/field'
import { jsonEquals } from '@backporch/kyaml/json'
import { jsonOf, keyOf, pathTo } from '@backporch/kyaml/yaml'
import { joinLocations, type Locations } from '../../locate/candidate.ts'
import { type Inverse, type Inverses, obstacle } from '../../locate/find-locations.ts'
import { invertEntries } from './invert-entries.ts'
import { invertImage } from './invert-image.ts'
import { invertNamespace } from './invert-namespace.ts'
import { invertReplacement } from './invert-replacement.ts'
import { invertSearchReplace } from './invert-search-replace.ts'
import { invertSetters } from './invert-setters.ts'
import { invertUpsert } from './invert-upsert.ts'

const NOT_CONFIG = new Set(['apiVersion', 'kind', 'metadata'])

/** The functions that are built in. Undefined: its config is searched for the value that it wrote. */
const FUNCTION_INVERSES = {
  'adopt-drift': ({ run }) => obstacle(run, 'adopt-drift writes what a report says was live, and a report is not edited'),
  'apply-replacements': invertReplacement,
  'apply-setters': invertSetters,
  'create-setters': undefined,
  'enable-gcp-services': undefined,
  'ensure-name-substring': ({ run }) => obstacle(run, 'the function writes names, and another name is another object'),
  'gate-drift': undefined,
  'generate-folders': undefined,
  kubeconform: undefined,
  'search-replace': invertSearchReplace,
  'set-annotations': invertEntries('annotations'),
  'set-image': invertImage,
  'set-label': invertEntries('labels', 'set-label'),
  'set-labels': invertEntries('labels'),
  'set-namespace': invertNamespace,
  'upsert-resource': invertUpsert,
  'verify-drift-records': undefined,
} as const satisfies Readonly<Record<string, Inverse | undefined>>

export type FunctionName = keyof typeof FUNCTION_INVERSES

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

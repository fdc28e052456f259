/** For each function that is built in: from a field that it wrote back to the entry of its config that the value is from. */
import { type FieldPath, field } from '../../krm/field-path.ts'
import { configData } from '../../render/kpt/config-data.ts'
import { functionName } from '../../render/kpt/pipeline-step.ts'
import { jsonEquals } from '../../text/json.ts'
import { entryOf, itemsAt, jsonOf, keyOf, mapAt, resolved, textAt, type YamlMap, type YamlNode } from '../../yaml/yaml-node.ts'
import { pathTo } from '../../yaml/yaml-path.ts'
import { joinPlaces, type Places } from './candidate.ts'
import { type Inverse, type Inverses, obstacle } from './find-places.ts'
import { invertImage } from './invert-image.ts'
import { invertReplacement } from './invert-replacement.ts'
import { invertSetters } from './invert-setters.ts'

/** `data` of a ConfigMap, or the field of the function's own kind. */
function entriesOf(config: YamlMap | undefined, own: string): string | undefined {
  if (mapAt(config, own) !== undefined && textAt(config, 'kind') !== 'ConfigMap') return own
  return mapAt(config, 'data') === undefined ? undefined : 'data'
}

/** A map of the config whose keys are those of the labels or annotations that the function sets. */
function invertEntries(own: 'labels' | 'annotations'): Inverse {
  return ({ run, target, finder }) => {
    const last = target.path.at(-1)
    const place = entriesOf(run.config, own)
    if (last?.kind !== 'field' || place === undefined || entryOf(mapAt(run.config, place), last.name) === undefined) return undefined
    if (target.wanted !== undefined && typeof target.wanted !== 'string') return undefined
    const label = { via: `${own.slice(0, -1)}:${last.name}`, what: `the ${own.slice(0, -1)} ${last.name} of set-${own}` }
    return finder.configEntry(run, [field(place), field(last.name)], target, label)
  }
}

const invertNamespace: Inverse = ({ run, target, finder }) => {
  if (typeof target.wanted !== 'string') return undefined
  const isOwn = textAt(run.config, 'kind') === 'SetNamespace'
  const path = isOwn
    ? [field('namespace')]
    : [field('data'), field(textAt(run.config, 'data', 'namespace') === undefined ? 'name' : 'namespace')]
  return finder.configEntry(run, path, target, { via: 'namespace', what: 'the namespace of set-namespace' })
}

/** The function's config is the resource itself: what it replaced or added is written there. */
const invertUpsert: Inverse = ({ run, target, finder }) => {
  const { config } = run
  if (config === undefined) return undefined
  const inList = itemsAt(config, 'items').findIndex((item) => isSameObject(item, target.root))
  const place: FieldPath | undefined =
    inList !== -1 ? [field('items'), { kind: 'index', index: inList }] : isSameObject(config, target.root) ? [] : undefined
  if (place === undefined) return undefined
  const label = { via: 'upsert-resource', what: 'the resource that the function puts in' }
  return finder.configEntry(run, [...place, ...target.path], target, label)
}

function isSameObject(one: YamlNode, other: YamlNode): boolean {
  return textAt(one, 'kind') === textAt(other, 'kind') && textAt(one, 'metadata', 'name') === textAt(other, 'metadata', 'name')
}

const invertSearchReplace: Inverse = ({ run, target, node, finder }) => {
  const put = configData(run.config).get('put-value')
  const value = node === undefined ? undefined : resolved(node)
  // With groups of a regular expression in it, nobody can say which part of the text is whose.
  if (put === undefined || typeof target.wanted !== 'string' || value?.kind !== 'scalar' || value.value !== put) return undefined
  return finder.configEntry(run, [field('data'), field('put-value')], target, { via: 'put-value', what: 'the put-value of search-replace' })
}

const invertNames: Inverse = ({ run }) => obstacle(run, 'the function writes names, and another name is another object')

/** What a report says is live is a fact, and nothing to edit. */
const invertAdoptDrift: Inverse = ({ run }) => obstacle(run, 'adopt-drift writes what a report says was live, and a report is not edited')

const NOT_CONFIG = new Set(['apiVersion', 'kind', 'metadata'])

/** What a program of somebody's writes: an entry of its config with the very value that it wrote, if there is one. */
const invertByValue: Inverse = ({ run, target, node, finder }) => {
  const { config } = run
  if (config === undefined || node === undefined || target.wanted === undefined) return undefined
  const written = jsonOf(node)
  const label = { via: 'function-config', what: `the config of ${functionName(run.step.function)}` }
  const places = config.entries.flatMap(({ key, value }): Places[] => {
    if (NOT_CONFIG.has(keyOf(key))) return []
    let isText = false
    const path = pathTo(value, (below) => {
      if (below.kind !== 'scalar') return false
      isText = typeof jsonOf(below) === 'string'
      return jsonEquals(jsonOf(below), written) || below.value === String(written)
    })
    if (path === undefined) return []
    // A text that a program made a number of stays a text.
    const wanted = isText && typeof target.wanted !== 'object' ? String(target.wanted) : target.wanted
    return [finder.configEntry(run, [field(keyOf(key)), ...path], { ...target, wanted }, label)]
  })
  return places.length === 0 ? undefined : joinPlaces(places)
}

export const INVERSES: Inverses = {
  byName: new Map<string, Inverse>([
    ['apply-setters', invertSetters],
    ['set-labels', invertEntries('labels')],
    ['set-annotations', invertEntries('annotations')],
    ['set-namespace', invertNamespace],
    ['set-image', invertImage],
    ['apply-replacements', invertReplacement],
    ['upsert-resource', invertUpsert],
    ['search-replace', invertSearchReplace],
    ['ensure-name-substring', invertNames],
    ['adopt-drift', invertAdoptDrift],
  ]),
  otherwise: invertByValue,
}

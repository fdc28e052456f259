import { createFieldStep, type FieldPath } from '@backporch/kyaml/field'
import { getKey, isJsonArray, isJsonEqual, isJsonObject, type Json } from '@backporch/kyaml/json'
import { convertYamlToJson, findNodeAtPath, findTextAt, type YamlMap } from '@backporch/kyaml/yaml'
import { joinLocations, type Locations } from '../../locate/candidate.ts'
import type { Inverse, InverseInput } from './find-locations.ts'

interface Options {
  readonly delimiter: string
  readonly index: number
}

/** The proof decides which replacement wrote the field. */
export const invertReplacement: Inverse = (input) => {
  const { run, target } = input
  const replacements =
    run.config === undefined ? undefined : getValue(convertYamlToJson(run.config), 'replacements')
  if (!isJsonArray(replacements) || target.wanted === undefined) return undefined
  const locations = replacements.flatMap((replacement): Locations[] => {
    const parts = listTargetParts(input, replacement)
    const source = getValue(replacement, 'source')
    const path = parsePath(findText(source, 'fieldPath') ?? 'metadata.name')
    if (path === undefined) return []
    return input.finder.objects.flatMap((root): Locations[] => {
      const node = isSource(root, source) ? findNodeAtPath(root, path)?.node : undefined
      if (node === undefined) return []
      return parts.flatMap((part): Locations[] => {
        const wanted = computeSourceValue(convertYamlToJson(node), parseOptions(source), part)
        if (wanted === undefined) return []
        return [
          labelLocations(
            input.finder.find({ ...target, root, path, wanted, before: run.step.number }),
            root,
            path,
          ),
        ]
      })
    })
  })
  if (locations.length === 0) return undefined
  // If a target writes one part of the text, the others come from the manifest.
  return joinLocations(
    writesParts(replacements) ? [...locations, input.finder.findInManifest(target)] : locations,
  )
}

function writesParts(replacements: readonly Json[]): boolean {
  return replacements.some((replacement) => {
    const targets = getValue(replacement, 'targets')
    return isJsonArray(targets) && targets.some((each) => parseOptions(each) !== undefined)
  })
}

function labelLocations(locations: Locations, root: YamlMap, path: FieldPath): Locations {
  const name = `${findTextAt(root, 'kind') ?? ''}/${findTextAt(root, 'metadata', 'name') ?? ''}`
  const where = path.map((step) => (step.kind === 'field' ? step.name : '*')).join('.')
  return {
    ...locations,
    candidates: locations.candidates.map((each) =>
      each.via === 'manifest'
        ? {
            ...each,
            via: `source:${name}:${where}`,
            what: each.what.replace('the manifest', `${where} of ${name}`),
          }
        : each,
    ),
  }
}

/** All of it, or the part that the target's delimiter selects. */
function listTargetParts({ target }: InverseInput, replacement: Json): readonly Json[] {
  const targets = getValue(replacement, 'targets')
  if (!isJsonArray(targets) || target.wanted === undefined) return []
  const parts = targets.map((each): Json | undefined => {
    const options = parseOptions(each)
    if (options === undefined) return target.wanted
    return typeof target.wanted === 'string'
      ? target.wanted.split(options.delimiter)[options.index]
      : undefined
  })
  return parts.filter(
    (part, index) =>
      part !== undefined && parts.findIndex((each) => isJsonEqual(each, part)) === index,
  ) as readonly Json[]
}

function computeSourceValue(now: Json, options: Options | undefined, part: Json): Json | undefined {
  if (options === undefined) return part
  if (typeof now !== 'string' || typeof part !== 'string') return undefined
  const parts = now.split(options.delimiter)
  return options.index < parts.length
    ? parts.with(options.index, part).join(options.delimiter)
    : undefined
}

function parseOptions(from: Json | undefined): Options | undefined {
  const options = getValue(from, 'options')
  const delimiter = findText(options, 'delimiter')
  const index = getValue(options, 'index')
  return delimiter === undefined
    ? undefined
    : { delimiter, index: typeof index === 'number' ? index : 0 }
}

function isSource(object: YamlMap, source: Json | undefined): boolean {
  const apiVersion = findTextAt(object, 'apiVersion') ?? ''
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
  return (
    fits(findText(source, 'group'), group) &&
    fits(findText(source, 'version'), apiVersion.split('/').at(-1) ?? '') &&
    fits(findText(source, 'kind'), findTextAt(object, 'kind') ?? '') &&
    fits(findText(source, 'name'), findTextAt(object, 'metadata', 'name') ?? '') &&
    fits(findText(source, 'namespace'), findTextAt(object, 'metadata', 'namespace') ?? '')
  )
}

function fits(wanted: string | undefined, is: string): boolean {
  return wanted === undefined || wanted === is
}

/** kustomize's paths: `spec.containers.[name=web].image`, `data.a\.b`, `list.0`. */
function parsePath(fieldPath: string): FieldPath | undefined {
  const parts: readonly string[] = fieldPath.match(/\[[^\]]*\]|(?:\\.|[^.\\[])+/g) ?? []
  const path = parts.map((part) => {
    const keyed = /^\[([^=\]]+)=(.*)\]$/.exec(part)
    if (keyed !== null) return { kind: 'item' as const, keys: { [keyed[1] ?? '']: keyed[2] ?? '' } }
    if (/^[0-9]+$/.test(part)) return { kind: 'index' as const, index: Number(part) }
    return createFieldStep(part.replace(/^\[|\]$/g, '').replace(/\\(.)/g, '$1'))
  })
  return parts.includes('*') ? undefined : path
}

function getValue(json: Json | undefined, key: string): Json | undefined {
  return isJsonObject(json) ? getKey(json, key) : undefined
}

function findText(json: Json | undefined, key: string): string | undefined {
  const value = getValue(json, key)
  return (typeof value === 'string' && value) || undefined
}

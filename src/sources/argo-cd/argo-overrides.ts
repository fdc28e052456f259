/**
 * An override is a merge patch over the source as JSON, which Go decodes into the existing value
 * (argo-cd 3.2.0 `reposerver/repository/repository.go` mergeSourceParameters).
 */
import {
  getPartAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'

type Kind = 'text' | 'truth' | 'texts' | 'pairs'

const KINDS: Readonly<Record<string, { readonly [field: string]: Kind }>> = {
  kustomize: {
    ...{
      namePrefix: 'text',
      nameSuffix: 'text',
      namespace: 'text',
      version: 'text',
      kubeVersion: 'text',
    },
    ...{
      images: 'texts',
      components: 'texts',
      apiVersions: 'texts',
      commonLabels: 'pairs',
      commonAnnotations: 'pairs',
    },
    ...{
      forceCommonLabels: 'truth',
      forceCommonAnnotations: 'truth',
      labelWithoutSelector: 'truth',
      labelIncludeTemplates: 'truth',
    },
    ...{ commonAnnotationsEnvsubst: 'truth', ignoreMissingComponents: 'truth' },
  },
  directory: { recurse: 'truth', include: 'text', exclude: 'text' },
}
const TOOLS = ['kustomize', 'directory', 'helm', 'plugin']

const IS: Readonly<Record<Kind, (value: Json) => boolean>> = {
  text: (value) => typeof value === 'string',
  truth: (value) => typeof value === 'boolean',
  texts: (value) => isJsonArray(value) && value.every((each) => typeof each === 'string'),
  pairs: (value) =>
    isJsonObject(value) &&
    Object.values(value).every((each) => each === null || typeof each === 'string'),
}

/** Or reads it differently than it looks; undefined if Argo CD reads it. */
export function overrideProblem(patch: JsonObject): string | undefined {
  for (const [name, options] of Object.entries(patch)) {
    const tool = TOOLS.find((each) => each.toLowerCase() === name.toLowerCase())
    if (tool === undefined || options === null) continue
    if (tool !== name) return `Argo CD also reads ${name} as ${tool}, which is not done here`
    if (!isJsonObject(options)) return `${name} is not a map`
    const kinds = KINDS[tool] ?? {}
    for (const [field, value] of Object.entries(options)) {
      const known = Object.keys(kinds).find((each) => each.toLowerCase() === field.toLowerCase())
      if (known !== undefined && known !== field)
        return `Argo CD also reads ${name}.${field} as ${known}, which is not done here`
      const kind = known === undefined ? undefined : kinds[known]
      if (kind !== undefined && value !== null && !IS[kind](value))
        return `${name}.${field} has a value of another type, which Argo CD refuses`
    }
  }
  return undefined
}

export function applyOverrides(source: JsonObject, patch: JsonObject): JsonObject {
  const decoded = decodeOver(source, mergePatched(source, patch))
  return isJsonObject(decoded) ? decoded : source
}

/** RFC 7396. */
function mergePatched(target: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch
  const merged = new Map<string, Json>(isJsonObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch))
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatched(merged.get(key) ?? null, value))
  return Object.fromEntries(merged)
}

/** A null removes nothing, and a list item keeps fields of the item that was at its index. */
function decodeOver(before: Json | undefined, text: Json): Json {
  if (isJsonArray(text)) {
    const items = isJsonArray(before) ? before : []
    return text.map((item, at) => (isJsonObject(item) ? decodeOver(items[at], item) : item))
  }
  if (!isJsonObject(text) || !isJsonObject(before)) return text
  const all = new Map<string, Json>(Object.entries(before))
  for (const [key, value] of Object.entries(text))
    all.set(key, key === 'valuesObject' ? value : decodeOver(getPartAt(before, key), value))
  return Object.fromEntries(all)
}

import type { FieldSpec } from '@backporch/kpt/field'
import { isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import {
  convertYamlToJson,
  findEntry,
  findTextAt,
  getYamlKey,
  isNull,
  resolveAlias,
  type YamlMap,
} from '@backporch/kyaml/yaml'
import { convertThroughJson } from '../../src/sources/kustomize/files/through-json.ts'

export interface Image {
  /** The original uses it unescaped in a regular expression: `.` matches any character. */
  readonly name: string
  /** Undefined for no change. At least one is set, and not both tag and digest. */
  readonly newName: string | undefined
  readonly newTag: string | undefined
  readonly digest: string | undefined
}

export interface ImageConfig {
  readonly image: Image
  readonly fields: readonly FieldSpec[]
}

export function readImageConfig(config: YamlMap | undefined): ImageConfig | string {
  const [apiVersion, kind] = [findTextAt(config, 'apiVersion'), findTextAt(config, 'kind')]
  let read: ImageConfig | string
  if (config !== undefined && apiVersion === 'v1' && kind === 'ConfigMap')
    read = readConfigMap(config)
  else if (config !== undefined && apiVersion === 'fn.kpt.dev/v1alpha1' && kind === 'SetImage')
    read = readSetImage(config)
  else return '`functionConfig` must be a `ConfigMap` or `SetImage`'
  return typeof read === 'string' ? read : (findImageProblem(read.image) ?? read)
}

function findImageProblem({ name, newName, newTag, digest }: Image): string | undefined {
  if (name === '') return 'missing image name'
  if (newName === undefined && newTag === undefined && digest === undefined)
    return 'missing image newName, newTag, or digest'
  return newTag !== undefined && digest !== undefined
    ? 'image newTag and digest both set'
    : undefined
}

const PARTS = ['name', 'newName', 'newTag', 'digest'] as const

/** go-yaml reads every scalar as text. */
function readConfigMap(config: YamlMap): ImageConfig | string {
  const data = findEntry(config, 'data')?.value
  if (data === undefined) return 'missing image name'
  if (data.kind !== 'map') return 'SubObject has unmatched field type: `data'
  const image: { -readonly [Part in keyof Image]: Image[Part] } = {
    name: '',
    newName: undefined,
    newTag: undefined,
    digest: undefined,
  }
  for (const { key, value } of data.entries) {
    const part = PARTS.find((each) => each === getYamlKey(key))
    if (part === undefined || isNull(value)) continue
    const text = resolveAlias(value)
    if (text.kind !== 'scalar') return 'SubObject has unmatched field type: `data'
    if (part === 'name') image.name = text.value
    else image[part] = text.value || undefined
  }
  return { image, fields: [] }
}

/** Read as JSON: a number is not text, and keys are case-insensitive. */
function readSetImage(config: YamlMap): ImageConfig | string {
  const copy = convertThroughJson(config)
  const json = typeof copy === 'string' ? undefined : convertYamlToJson(copy.object)
  const wrong = `Resource(apiVersion=fn.kpt.dev/v1alpha1, kind=SetImage, Name=${findTextAt(config, 'metadata', 'name') ?? ''}) has unmatched field type: \``
  try {
    const given = listEntries(json === undefined ? [] : [json])
    const image = listEntries(listValues(given, 'image'))
    const [name = '', newName, newTag, digest] = PARTS.map(
      (part) => readText(image, part) || undefined,
    )
    const fields = listValues(given, 'additionalImageFields').at(-1) ?? []
    if (json === undefined || !isJsonArray(fields)) return wrong
    return { image: { name, newName, newTag, digest }, fields: fields.map(readFieldSpec) }
  } catch (thrown) {
    if (thrown instanceof OtherType) return wrong
    throw thrown
  }
}

function readFieldSpec(value: Json): FieldSpec {
  const field = listEntries(value === null ? [] : [value])
  if (listValues(field, 'create').some((create) => typeof create !== 'boolean'))
    throw new OtherType()
  const [group = '', version = '', kind = '', path = ''] = ['group', 'version', 'kind', 'path'].map(
    (name) => readText(field, name),
  )
  return { group, version, kind, path }
}

class OtherType extends Error {}

type Entries = readonly (readonly [key: string, value: Json])[]

/** Go merges objects whose keys differ only in case. */
function listEntries(values: readonly Json[]): Entries {
  return values.flatMap((value) => {
    if (!isJsonObject(value)) throw new OtherType()
    return Object.entries(value)
  })
}

function listValues(entries: Entries, name: string): readonly Json[] {
  return entries
    .filter(([key, value]) => key.toLowerCase() === name.toLowerCase() && value !== null)
    .map(([, value]) => value)
}

function readText(entries: Entries, name: string): string {
  const values = listValues(entries, name).map((value) => {
    if (typeof value !== 'string') throw new OtherType()
    return value
  })
  return values.at(-1) ?? ''
}

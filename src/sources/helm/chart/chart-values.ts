/**
 * Merges chart values as helm `pkg/chart/common/util/coalesce.go` and fluxcd/pkg
 * `runtime/transform`.
 */
import { getKey, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { convertYamlToJson } from '@backporch/kyaml/yaml'
import type { ValuesLayer } from '../../build/built-source.ts'
import type { ChartFiles } from '../../build/chart-templates.ts'
import { joinFolderPath } from '../../kustomize/files/kustomization-walk.ts'
import { readSourceText as textOfFile } from '../../kustomize/files/kustomize-build.ts'

export function mergeValues(...all: readonly JsonObject[]): JsonObject {
  return all.reduce(merge, {})
}

function merge(under: JsonObject, over: JsonObject): JsonObject {
  const merged = new Map(Object.entries(under))
  for (const [key, value] of Object.entries(over)) {
    const before = merged.get(key)
    merged.set(key, isJsonObject(value) && isJsonObject(before) ? merge(before, value) : value)
  }
  return Object.fromEntries(merged)
}

/**
 * Empty for an empty file.
 * @throws Failure BP1110 or BP1111
 */
export function parseValues(text: string, where: string): JsonObject {
  const [root] = readYamlNodes(text.replaceAll('\r\n', '\n'), where)
  const value = root === undefined ? null : convertYamlToJson(root)
  return isJsonObject(value) ? value : {}
}

/**
 * With the type that `helm install --set` gives the value (helm `pkg/strvals/parser.go`).
 * @returns undefined for lists or several values
 */
export function setValueAt(values: JsonObject, path: string, text: string): JsonObject | undefined {
  if (!/^[\w-]+(?:\.[\w-]+)*$/.test(path)) return undefined
  const quoted = /^(['"])([\s\S]*)\1$/.exec(text)?.[2]
  const plain = quoted ?? text
  if (/[,\\{}[\]=]/.test(plain)) return undefined
  const value = quoted === undefined ? parseTypedValue(plain) : plain
  return path.split('.').reduceRight<(at: JsonObject) => JsonObject>(
    (inner, key, index, keys) => (at) => {
      const below = getKey(at, key)
      const isLast = index === keys.length - 1
      return { ...at, [key]: isLast ? value : inner(isJsonObject(below) ? below : {}) }
    },
    (at) => at,
  )(values)
}

function parseTypedValue(text: string): Json {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null') return null
  return text === '0' || /^-?[1-9]\d{0,14}$/.test(text) ? Number(text) : text
}

/**
 * With those of unpacked dependencies under their names.
 * @throws Failure BP1110 or BP1111
 */
export function listChartLayers({ folder, files }: ChartFiles): readonly ValuesLayer[] {
  const own = joinFolderPath(folder, 'values.yaml')
  const prefix = joinFolderPath(folder, 'charts/')
  const below = [...files.keys()].flatMap(
    (path) =>
      /^([^/]+)\/values\.yaml$/.exec(
        path.startsWith(prefix) ? path.slice(prefix.length) : '',
      )?.[1] ?? [],
  )
  const layerOf = (path: string, under: readonly string[]): ValuesLayer => {
    const values = parseValues(textOfFile(path, files), path)
    return {
      values: under.reduceRight<JsonObject>((inner, key) => ({ [key]: inner }), values),
      place: { kind: 'file', path, under },
      isDefault: true,
    }
  }
  return [
    ...below.map((name) => layerOf(joinFolderPath(folder, `charts/${name}/values.yaml`), [name])),
    ...(files.has(own) ? [layerOf(own, [])] : []),
  ]
}

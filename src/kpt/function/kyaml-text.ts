/**
 * kyaml `yaml/fns.go`, `FieldSetter`; `yaml/compatibility.go`; `yaml/rnode.go`, `SetAnnotations`.
 */
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import {
  createYamlMap,
  createYamlText,
  getYamlKey,
  mapAt,
  readsAsText,
  removeEntry,
  resolveAlias,
  resolveGoScalar,
  setEntry,
  type YamlMap,
  type YamlScalar,
} from '@backporch/kyaml/yaml'

const ONE_WORD = /^[A-Za-z0-9][\w./+-]*$/

/** Such as `yes`, `a: b`, `[x]`. */
export function isOtherToYaml11(value: string): boolean {
  if (value === '' || value.includes('\n')) return false
  const read = resolveGoScalar(value, true)
  if (read.is !== 'value' || typeof read.value !== 'string') return true
  if (ONE_WORD.test(value)) return false
  try {
    const [first] = parseGoYaml(value, 'value').documents
    return typeof first?.value !== 'string'
  } catch {
    return false
  }
}

/** `NewStringRNode` after a `FieldSetter`. */
export function createKyamlText(value: string): YamlScalar {
  const style = value.includes('\n') ? 'literal' : isOtherToYaml11(value) ? 'double' : 'plain'
  return { ...createYamlText(value), style }
}

/** Before kyaml v0.11, the YAML writer chose the quotes. */
function createEarlierKyamlText(value: string): YamlScalar {
  return { ...createYamlText(value), style: value.includes('\n') ? 'literal' : 'plain' }
}

/** Unquoted; a non-scalar value is empty. */
export function readItemAnnotations(item: YamlMap): Map<string, string> {
  const annotations = new Map<string, string>()
  for (const { key, value } of mapAt(item, 'metadata', 'annotations')?.entries ?? []) {
    const target = resolveAlias(value)
    annotations.set(getYamlKey(key), target.kind === 'scalar' ? target.value : '')
  }
  return annotations
}

/**
 * `SetAnnotations`: sorted, as the last field of the metadata. If a tree continues at the old path,
 * use `restyleAnnotations`, because kpt restores the order there.
 */
export function replaceAnnotations(item: YamlMap, annotations: ReadonlyMap<string, string>): void {
  const found = mapAt(item, 'metadata')
  const metadata = found ?? createYamlMap()
  if (found === undefined) setEntry(item, 'metadata', metadata)
  removeEntry(metadata, 'annotations')
  if (annotations.size === 0) return
  const names = [...annotations.keys()].sort()
  metadata.entries.push(
    ...createYamlMap([
      [
        'annotations',
        createYamlMap(names.map((name) => [name, createKyamlText(annotations.get(name) ?? '')])),
      ],
    ]).entries,
  )
}

/** `SetAnnotations` before kyaml v0.11 and kpt: old order and comments, new quotes. */
export function restyleAnnotations(item: YamlMap, annotations: ReadonlyMap<string, string>): void {
  const metadata = mapAt(item, 'metadata')
  const map = mapAt(item, 'metadata', 'annotations')
  if (metadata === undefined || map === undefined) return
  if (annotations.size === 0) {
    removeEntry(metadata, 'annotations')
    return
  }
  for (const name of map.entries.map(({ key }) => getYamlKey(key)))
    if (!annotations.has(name)) removeEntry(map, name)
  for (const [name, value] of annotations)
    if (!isWritten(map, name, createEarlierKyamlText(value)))
      setEntry(map, name, createEarlierKyamlText(value))
}

function isWritten(map: YamlMap, name: string, wanted: YamlScalar): boolean {
  const entry = map.entries.find(({ key }) => getYamlKey(key) === name)
  const node = entry?.value
  if (node?.kind !== 'scalar' || node.value !== wanted.value || node.style !== wanted.style)
    return false
  return (
    node.style !== 'plain' || node.tag === '!!str' || (node.tag === '' && readsAsText(wanted.value))
  )
}

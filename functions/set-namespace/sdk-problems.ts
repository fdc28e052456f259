/** kpt-functions-sdk `go/fn/internal/variant.go`, `toVariant` */
import { findEntry, type YamlMap, type YamlNode } from '@backporch/kyaml/yaml'

export const ALIAS_PROBLEM = 'unhandled yaml node kind'

export function meetsAlias(from: YamlMap, path: readonly string[]): boolean {
  let at: YamlNode = from
  for (const name of path) {
    if (at.kind !== 'map') return false
    const entry = findEntry(at, name)
    if (entry === undefined) return false
    at = entry.value
    if (at.kind === 'alias') return true
  }
  return false
}

/** Read to sort objects and to leave out local ones. */
const READ_OF_EVERY_OBJECT: readonly (readonly string[])[] = [
  ['apiVersion'],
  ['kind'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
  ['metadata', 'annotations', 'config.kubernetes.io/local-config'],
]

export function findAlias(items: readonly YamlMap[]): string | undefined {
  return items.some((item) => READ_OF_EVERY_OBJECT.some((path) => meetsAlias(item, path)))
    ? ALIAS_PROBLEM
    : undefined
}

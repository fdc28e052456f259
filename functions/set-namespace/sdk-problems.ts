/** Where kpt's Go SDK fails on an object, whatever a function does with it (kpt-functions-sdk `go/fn/internal/variant.go`, `toVariant`). */
import { entryOf, type YamlMap, type YamlNode } from '@backporch/kyaml/yaml'

/** What the SDK panics with at an alias. */
export const ALIAS_PROBLEM = 'unhandled yaml node kind'

/** Whether the SDK meets an alias on its way along the path. */
export function meetsAlias(from: YamlMap, path: readonly string[]): boolean {
  let at: YamlNode = from
  for (const name of path) {
    if (at.kind !== 'map') return false
    const entry = entryOf(at, name)
    if (entry === undefined) return false
    at = entry.value
    if (at.kind === 'alias') return true
  }
  return false
}

/** Fields that are read of every object: to sort the objects, and to leave out those that are for tools only. */
const READ_OF_EVERY_OBJECT: readonly (readonly string[])[] = [
  ['apiVersion'],
  ['kind'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
  ['metadata', 'annotations', 'config.kubernetes.io/local-config'],
]

/** Undefined where each of the objects can be read. */
export function findAlias(items: readonly YamlMap[]): string | undefined {
  return items.some((item) => READ_OF_EVERY_OBJECT.some((path) => meetsAlias(item, path)))
    ? ALIAS_PROBLEM
    : undefined
}

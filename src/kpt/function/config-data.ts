/** The `data` of a function's config: keys and values of a ConfigMap (kyaml `yaml/rnode.go`, `GetDataMap`). */
import { keyOf, mapAt, resolved, textAt, type YamlMap } from '@backporch/kyaml/yaml'

/**
 * The entries in their order, with values of every scalar type as texts; null and other values are empty texts. Empty without a config, or
 * where `data` is no map.
 */
export function configData(config: YamlMap | undefined): ReadonlyMap<string, string> {
  const data = mapAt(config, 'data')
  const found = new Map<string, string>()
  for (const { key, value } of data?.entries ?? [])
    found.set(keyOf(key), textAt(resolved(value)) ?? '')
  return found
}

/** What a function's config has in `data`: a ConfigMap's keys and values (kyaml `yaml/rnode.go`, `GetDataMap`). */
import { keyOf, mapAt, resolved, textAt, type YamlMap } from '../../yaml/yaml-node.ts'

/**
 * The entries in their order, whatever type their values were written with; null and everything that is no scalar is an
 * empty text. Empty without a config, or where `data` is no map.
 */
export function configData(config: YamlMap | undefined): ReadonlyMap<string, string> {
  const data = mapAt(config, 'data')
  const found = new Map<string, string>()
  for (const { key, value } of data?.entries ?? []) found.set(keyOf(key), textAt(resolved(value)) ?? '')
  return found
}

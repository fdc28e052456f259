/** kyaml `yaml/rnode.go`, `GetDataMap`. */
import { findTextAt, getYamlKey, mapAt, resolveAlias, type YamlMap } from '@backporch/kyaml/yaml'

/** In order. Null and non-scalar values become empty texts. */
export function getConfigData(config: YamlMap | undefined): ReadonlyMap<string, string> {
  const data = mapAt(config, 'data')
  const found = new Map<string, string>()
  for (const { key, value } of data?.entries ?? [])
    found.set(getYamlKey(key), findTextAt(resolveAlias(value)) ?? '')
  return found
}

/** kyaml `yaml/rnode.go`, `GetDataMap`. */
import { keyOf, mapAt, resolved, textAt, type YamlMap } from '@backporch/kyaml/yaml'

/** In order. Null and non-scalar values become empty texts. */
export function configData(config: YamlMap | undefined): ReadonlyMap<string, string> {
  const data = mapAt(config, 'data')
  const found = new Map<string, string>()
  for (const { key, value } of data?.entries ?? [])
    found.set(keyOf(key), textAt(resolved(value)) ?? '')
  return found
}

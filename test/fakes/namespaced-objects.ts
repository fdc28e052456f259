/** Objects and configs for the releases of set-namespace. */
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import type { YamlMap } from '@backporch/kyaml/yaml'
import {
  setEveryNamespace,
  setEveryNamespaceIfConfigured,
  setNamespace,
  setOldNamespace,
  setOldNamespaceOrFail,
} from '../../functions/set-namespace/fn.ts'

/** From the newest release. */
export const EVERY_VERSION = [
  setNamespace,
  setEveryNamespace,
  setEveryNamespaceIfConfigured,
  setOldNamespace,
  setOldNamespaceOrFail,
]

export function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

export function configMap(data: string, name = 'function-input'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata: {${data}}\n`
}

export function object(kind: string, metadata: string, rest = ''): string {
  const [apiVersion, name] = kind.split(' ')
  return `apiVersion: ${apiVersion}\nkind: ${name}\nmetadata:\n  name: a\n${metadata}${rest}`
}

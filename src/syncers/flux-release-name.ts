/** As helm-controller `docs/spec/v2/helmreleases.md`. */
import { createHash } from 'node:crypto'
import {
  findNonEmptyText,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'

export const HELM_TOOLKIT = 'helm.toolkit.fluxcd.io'

/** The newest snapshot, else the name of the spec. */
export function formatRelease(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  own: JsonObject,
): { namespace: string; name: string } {
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
  const history = getPartAt(own, 'status', 'history')
  const newest = isJsonArray(history) && isJsonObject(history[0]) ? text(history[0]['name']) : ''
  const target = findNonEmptyText(own, 'spec', 'targetNamespace')
  const composed = target === undefined ? name : `${target}-${name}`
  return {
    namespace:
      getTextAt(own, 'status', 'storageNamespace') ||
      getTextAt(own, 'spec', 'storageNamespace') ||
      namespace,
    name: newest || shortenName(getTextAt(own, 'spec', 'releaseName') || composed),
  }
}

const MOST_NAME = 53

/** For a name that Helm does not accept (helm-controller `internal/release/name.go`). */
function shortenName(name: string): string {
  if (name.length <= MOST_NAME) return name
  return `${name.slice(0, MOST_NAME - 13)}-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`
}

/** kpt sets the annotation when it fetches the package (kpt-functions-sdk `go/fn/origin.go`). */
import { getTextOrEmpty } from '@backporch/kpt/field'
import type { YamlMap } from '@backporch/kyaml/yaml'

interface UpstreamOrigin {
  readonly group: string
  readonly kind: string
  /** `NO_NAMESPACE` for an object that had none. */
  readonly namespace: string
  readonly name: string
}

export const NO_NAMESPACE = '~C'

export const UPSTREAM_IDENTIFIER = 'internal.kpt.dev/upstream-identifier'
/**
 * Without the group, which may be empty. No end anchor, like the original: from `a.b` it takes `a`.
 */
const IDENTIFIER = /\|([A-Z][a-zA-Z0-9]*)\|([a-z0-9-]{1,63}|~C)\|([a-z0-9-]{1,63})/
const GROUP_CHARACTER = /[a-z0-9.-]/

export function getUpstreamIdentifier(item: YamlMap): string {
  return getTextOrEmpty(item, 'metadata', 'annotations', UPSTREAM_IDENTIFIER)
}

export function parseUpstreamIdentifier(text: string): UpstreamOrigin | undefined {
  const match = IDENTIFIER.exec(text)
  if (match === null) return undefined
  const [, kind = '', namespace = '', name = ''] = match
  let start = match.index
  while (start > 0 && GROUP_CHARACTER.test(text.charAt(start - 1))) start -= 1
  return { group: text.slice(start, match.index), kind, namespace, name }
}

export function describeBadUpstreamIdentifier(text: string): string {
  return `annotation ${UPSTREAM_IDENTIFIER}: ${text.trim()} is in bad format. expect "<GROUP>|<KIND>|<NAMESPACE>|<NAME>"`
}

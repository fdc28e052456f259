/** The upstream identity of an object: kpt's annotation from the fetch of the package (kpt-functions-sdk `go/fn/origin.go`). */
import { textOrEmpty } from '@backporch/kpt/field'
import type { YamlMap } from '@backporch/kyaml/yaml'

interface UpstreamOrigin {
  readonly group: string
  readonly kind: string
  /** `NO_NAMESPACE` for an object that had none. */
  readonly namespace: string
  readonly name: string
}

/** What kpt writes for the namespace of an upstream object that has none. */
export const NO_NAMESPACE = '~C'

export const UPSTREAM_IDENTIFIER = 'internal.kpt.dev/upstream-identifier'
/** All but the group, which may be empty. Without an end, as in the original: of the name `a.b` it takes the `a`. */
const IDENTIFIER = /\|([A-Z][a-zA-Z0-9]*)\|([a-z0-9-]{1,63}|~C)\|([a-z0-9-]{1,63})/
const GROUP_CHARACTER = /[a-z0-9.-]/

/** The annotation; empty where there is none. */
export function upstreamIdentifierOf(item: YamlMap): string {
  return textOrEmpty(item, 'metadata', 'annotations', UPSTREAM_IDENTIFIER)
}

/** Undefined for a text that names no origin. */
export function parseUpstreamIdentifier(text: string): UpstreamOrigin | undefined {
  const match = IDENTIFIER.exec(text)
  if (match === null) return undefined
  const [, kind = '', namespace = '', name = ''] = match
  let start = match.index
  while (start > 0 && GROUP_CHARACTER.test(text.charAt(start - 1))) start -= 1
  return { group: text.slice(start, match.index), kind, namespace, name }
}

export function badUpstreamIdentifier(text: string): string {
  return `annotation ${UPSTREAM_IDENTIFIER}: ${text.trim()} is in bad format. expect "<GROUP>|<KIND>|<NAMESPACE>|<NAME>"`
}

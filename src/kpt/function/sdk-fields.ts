/**
 * kpt-functions-sdk `go/fn/object.go`, `go/fn/internal/maphelpers.go`: a number is not text, and a
 * text that is set loses its quotes.
 */
import { parseApiVersion } from '@backporch/kyaml/resource'
import {
  createYamlMap,
  createYamlPlain,
  createYamlText,
  findEntry,
  readsAsText,
  resolveAlias,
  setEntry,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '@backporch/kyaml/yaml'

/** The other value may be above the path. */
type SdkText =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'absent' }
  | { readonly is: 'other' }

const ABSENT: SdkText = { is: 'absent' }
const OTHER: SdkText = { is: 'other' }
/** Texts for the SDK's YAML 1.2 reader. */
const OLD_BOOLEAN = /^([yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$/

/** go-yaml does not quote `on`, so kubectl reads a boolean. */
function createSdkText(text: string): YamlScalar {
  return OLD_BOOLEAN.test(text) ? createYamlPlain(text) : createYamlText(text)
}

function isText(node: YamlScalar): boolean {
  if (node.tag !== '') return node.tag === '!!str'
  return node.style !== 'plain' || readsAsText(node.value) || OLD_BOOLEAN.test(node.value)
}

/** `NestedString` of the SDK. */
export function readText(from: YamlNode, path: readonly string[]): SdkText {
  let at = resolveAlias(from)
  for (const [index, name] of path.entries()) {
    if (index > 0 && at.kind !== 'map') return OTHER
    const entry = findEntry(at, name)
    if (entry === undefined) return ABSENT
    at = resolveAlias(entry.value)
  }
  return at.kind === 'scalar' && isText(at) ? { is: 'text', text: at.value } : OTHER
}

export function getTextOrEmpty(from: YamlNode, ...path: readonly string[]): string {
  const read = readText(from, path)
  return read.is === 'text' ? read.text : ''
}

/**
 * `SetNestedString`: keeps comments, drops quotes. An unchanged value keeps its node.
 * @returns false, without a change, if a parent is not a map
 */
export function writeText(to: YamlMap, path: readonly string[], text: string): boolean {
  const [name, ...below] = path
  if (name === undefined) return false
  const entry = findEntry(to, name)
  if (below.length === 0) {
    if (entry === undefined)
      to.entries.push({ key: createSdkText(name), value: createSdkText(text) })
    else if (isPlainText(entry.value, text)) keepText(to, path)
    else setEntry(to, name, createSdkText(text))
    return true
  }
  if (entry === undefined) {
    const created = createYamlMap()
    to.entries.push({ key: createSdkText(name), value: created })
    return writeText(created, below, text)
  }
  const next = resolveAlias(entry.value)
  return next.kind === 'map' && writeText(next, below, text)
}

/** A watcher of the render then records the write. */
export function keepText(to: YamlMap, path: readonly string[]): void {
  let at: YamlNode = to
  for (const name of path) {
    const entry = findEntry(at, name)
    if (entry === undefined) return
    at = resolveAlias(entry.value)
  }
  if (at.kind !== 'scalar') return
  const { value } = at
  at.value = value
}

function isPlainText(node: YamlNode, text: string): boolean {
  return (
    node.kind === 'scalar' &&
    node.value === text &&
    node.style === 'plain' &&
    node.anchor === '' &&
    isText(node)
  )
}

/** Two slashes in the apiVersion: all empty. */
export interface SdkKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

const NO_KIND: SdkKind = { group: '', version: '', kind: '' }

export function getSdkKind(item: YamlMap): SdkKind {
  const apiVersion = getTextOrEmpty(item, 'apiVersion')
  if (apiVersion.split('/').length > 2) return NO_KIND
  return { ...parseApiVersion(apiVersion), kind: getTextOrEmpty(item, 'kind') }
}

/**
 * `IsGVK`: an empty part matches anything. So a `v1` StatefulSet matches `apps`, and a
 * kustomization without a kind matches every kind.
 */
export function isOfKind({ group, version, kind }: SdkKind, wanted: Partial<SdkKind>): boolean {
  const either = (own: string, other: string | undefined): boolean =>
    own === '' || other === undefined || other === '' || own === other
  return either(kind, wanted.kind) && either(group, wanted.group) && either(version, wanted.version)
}

const LOCAL_CONFIG = 'config.kubernetes.io/local-config'

/** An unquoted `true` is not text and does not count. */
export function isLocalToSdk(item: YamlMap): boolean {
  const value = getTextOrEmpty(item, 'metadata', 'annotations', LOCAL_CONFIG)
  return value !== '' && value !== 'false'
}

export function formatSdkName(item: YamlMap): string {
  const [namespace, name] = [
    getTextOrEmpty(item, 'metadata', 'namespace'),
    getTextOrEmpty(item, 'metadata', 'name'),
  ]
  return `Resource(apiVersion=${getTextOrEmpty(item, 'apiVersion')}, kind=${getTextOrEmpty(item, 'kind')}, namespace=${namespace}, name=${name})`
}

export function sortInSdkOrder(items: readonly YamlMap[]): readonly YamlMap[] {
  const keyed = items.map((item) => ({
    item,
    key: ['apiVersion', 'kind']
      .map((field) => getTextOrEmpty(item, field))
      .concat(['namespace', 'name'].map((field) => getTextOrEmpty(item, 'metadata', field)))
      .join(' '),
  }))
  return keyed
    .sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0))
    .map(({ item }) => item)
}

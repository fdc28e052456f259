/** kyaml 0.15 `kio/kioutil/kioutil.go`, kpt `internal/pkg/pkg.go`. Only during a render. */
import {
  createYamlText,
  findEntry,
  findNodeAt,
  findTextAt,
  isNull,
  mapCreatedAt,
  removeEntry,
  setEntry,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'

export const PATH = 'internal.config.kubernetes.io/path'
export const INDEX = 'internal.config.kubernetes.io/index'
export const ID = 'internal.config.kubernetes.io/id'
export const LEGACY_PATH = 'config.kubernetes.io/path'
export const LEGACY_INDEX = 'config.kubernetes.io/index'
export const LEGACY_ID = 'config.k8s.io/id'
export const SEQUENCE_INDENT = 'internal.config.kubernetes.io/seqindent'
/** In kpt an absolute path; here `/` and the folder within the outermost package. */
export const PACKAGE_PATH = 'internal.config.kubernetes.io/package-path'
export const RESOURCE_ID = 'internal.config.k8s.io/kpt-resource-id'
export const MIGRATION_ID = 'internal.config.kubernetes.io/annotations-migration-resource-id'

export const RENDER_ANNOTATIONS: ReadonlySet<string> = new Set([
  PATH,
  INDEX,
  ID,
  LEGACY_PATH,
  LEGACY_INDEX,
  LEGACY_ID,
  SEQUENCE_INDENT,
  PACKAGE_PATH,
  RESOURCE_ID,
  MIGRATION_ID,
])

/** Undefined if not a scalar. */
export function findAnnotation(item: YamlMap, name: string): string | undefined {
  const annotations = findEntry(findEntry(item, 'metadata')?.value, 'annotations')?.value
  return findTextAt(findEntry(annotations, name)?.value)
}

/**
 * Removes empty annotations (kyaml `yaml/fns.go`, `AnnotationSetter`). Does nothing without a
 * metadata map.
 */
export function setAnnotation(item: YamlMap, name: string, value: string): void {
  clearEmptyAnnotations(item)
  const metadata = findNodeAt(item, 'metadata')
  const annotations = findNodeAt(metadata, 'annotations')
  if (isOther(metadata) || isOther(annotations)) return
  const text = createYamlText(value)
  // Quotes and tag stay, comments do not (`yaml/fns.go`, `FieldSetter`).
  const before = findEntry(annotations, name)
  const scalar = before?.value.kind === 'scalar' ? before.value : undefined
  text.style = scalar?.style ?? 'single'
  text.source = scalar?.source
  if (before !== undefined) before.value = text
  else
    setEntry(
      annotations?.kind === 'map' ? annotations : mapCreatedAt(item, 'metadata', 'annotations'),
      name,
      text,
    )
}

function isOther(node: YamlNode | undefined): boolean {
  return node !== undefined && node.kind !== 'map' && !isNull(node)
}

export function clearAnnotation(item: YamlMap, name: string): void {
  const annotations = findNodeAt(item, 'metadata', 'annotations')
  if (annotations?.kind === 'map') removeEntry(annotations, name)
}

/**
 * kyaml `yaml.ClearEmptyAnnotations`. An alias counts as empty, because `FieldClearer` looks at the
 * content of the alias node.
 */
export function clearEmptyAnnotations(item: YamlMap): void {
  const metadata = findNodeAt(item, 'metadata')
  if (metadata?.kind === 'map' && isEmpty(findEntry(metadata, 'annotations')?.value))
    removeEntry(metadata, 'annotations')
  if (isEmpty(metadata)) removeEntry(item, 'metadata')
}

function isEmpty(node: YamlNode | undefined): boolean {
  if (node === undefined) return false
  if (node.kind === 'alias') return true
  return node.kind === 'map'
    ? node.entries.length === 0
    : node.kind === 'list'
      ? node.items.length === 0
      : isNull(node)
}

/** The legacy form if the newer one is absent; else empty. */
export function getItemFile(item: YamlMap): { readonly path: string; readonly index: string } {
  return {
    path: findAnnotation(item, PATH) ?? findAnnotation(item, LEGACY_PATH) ?? '',
    index: findAnnotation(item, INDEX) ?? findAnnotation(item, LEGACY_INDEX) ?? '',
  }
}

const PAIRS = [
  [LEGACY_PATH, PATH],
  [LEGACY_INDEX, INDEX],
  [LEGACY_ID, ID],
] as const

export function copyLegacyAnnotations(item: YamlMap): void {
  for (const [legacy, own] of PAIRS) {
    const older = findAnnotation(item, legacy) || undefined
    const newer = findAnnotation(item, own) || undefined
    if (newer !== undefined && older === undefined) setAnnotation(item, legacy, newer)
    else if (newer === undefined && older !== undefined) setAnnotation(item, own, older)
  }
}

/** kpt's message (kyaml `kio/kio.go`). */
export function findAnnotationMismatch(item: YamlMap): string | undefined {
  for (const [index, [legacy, own]] of PAIRS.entries()) {
    const older = findAnnotation(item, legacy) || undefined
    const newer = findAnnotation(item, own) || undefined
    if (older !== undefined && newer !== undefined && older !== newer)
      return `resource input to function has mismatched legacy and internal ${['path', 'index', 'id'][index]} annotations`
  }
  return undefined
}

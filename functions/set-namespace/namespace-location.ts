import { getTextOrEmpty, readText } from '@backporch/kpt/field'
import { isNamespacedKind } from '@backporch/kyaml/resource'
import { mapAt, resolveAlias, type YamlMap } from '@backporch/kyaml/yaml'

/** In a CustomResourceDefinition. */
export const WEBHOOK_PATH = [
  'spec',
  'conversion',
  'webhook',
  'clientConfig',
  'service',
  'namespace',
]
/** In an APIService. */
export const SERVICE_PATH = ['spec', 'service', 'namespace']

export const DEPENDS_ON = 'config.kubernetes.io/depends-on'
/** `<group>/namespaces/<namespace>/<kind>/<name>` */
export const NAMESPACED_DEPENDENCY = /^[-.\w]*\/namespaces\/[-.\w]*\/[-.\w]*\/[-.\w]*$/
export const NAMESPACE_SEGMENT = 2

export function hasNamespace(item: YamlMap): boolean {
  return readText(item, ['metadata', 'namespace']).is !== 'absent'
}

/** By the SDK's table, or else by the field. */
export function isNamespaced(item: YamlMap): boolean {
  return (
    isNamespacedKind(getTextOrEmpty(item, 'apiVersion'), getTextOrEmpty(item, 'kind')) ??
    hasNamespace(item)
  )
}

export function getAnnotationText(item: YamlMap, name: string): string {
  const entry = mapAt(item, 'metadata', 'annotations')?.entries.find(
    ({ key }) => key.kind === 'scalar' && key.value === name,
  )
  const value = entry === undefined ? undefined : resolveAlias(entry.value)
  return value?.kind === 'scalar' ? value.value : ''
}

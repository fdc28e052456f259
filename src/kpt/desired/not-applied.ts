import { getKey, getPartAt, getTextAt, isJsonObject, type Json } from '@backporch/kyaml/json'
import { parseApiVersion } from '@backporch/kyaml/resource'
import { KUSTOMIZATION_NAMES } from '../package/kustomization-names.ts'

const LOCAL_CONFIG = 'config.kubernetes.io/local-config'

/** Any value but `false` (kpt `pkg/live/rgpath.go`). */
export function isLocalConfig(object: Json): boolean {
  const value = getPartAt(object, 'metadata', 'annotations', LOCAL_CONFIG)
  return value !== undefined && String(value) !== 'false'
}

const KUSTOMIZATION_FILES: ReadonlySet<string> = new Set(KUSTOMIZATION_NAMES)

/**
 * By group, or, without an apiVersion, by kind or file name (kpt `api/kptfile/v1/validation.go`). A
 * Flux Kustomization is an object in any file.
 */
export function isKustomization(object: Json, path: string): boolean {
  if (!isJsonObject(object)) return false
  const apiVersion = getKey(object, 'apiVersion') ?? ''
  if (typeof apiVersion !== 'string') return false
  if (apiVersion !== '') return parseApiVersion(apiVersion).group === 'kustomize.config.k8s.io'
  return (
    getKey(object, 'kind') === 'Kustomization' ||
    KUSTOMIZATION_FILES.has(path.slice(path.lastIndexOf('/') + 1))
  )
}

export function isOfKpt(object: Json, kind: 'Kptfile' | 'ResourceGroup'): boolean {
  return (
    getPartAt(object, 'kind') === kind &&
    parseApiVersion(getTextAt(object, 'apiVersion')).group === 'kpt.dev'
  )
}

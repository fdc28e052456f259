/** Objects of a package that kpt never applies to a cluster. */
import { getKey, isJsonObject, type Json, partOf, textOf } from '@backporch/kyaml/json'
import { parseApiVersion } from '@backporch/kyaml/resource'
import { KUSTOMIZATION_NAMES } from '../package/kustomization-names.ts'

const LOCAL_CONFIG = 'config.kubernetes.io/local-config'

/** Whether the annotation marks the object for tools only: any value but `false` does (kpt `pkg/live/rgpath.go`). */
export function isLocalConfig(object: Json): boolean {
  const value = partOf(object, 'metadata', 'annotations', LOCAL_CONFIG)
  return value !== undefined && String(value) !== 'false'
}

const KUSTOMIZATION_FILES: ReadonlySet<string> = new Set(KUSTOMIZATION_NAMES)

/**
 * Whether the document is input of kustomize and not an object: by its group; or, without an apiVersion, by its kind or by the name of the
 * file. kpt does not require it to be a Kubernetes object (kpt `api/kptfile/v1/validation.go`). A Flux Kustomization is an object in any file.
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

/** Whether the object is of a kind of kpt's own group, which is not applied. */
export function isOfKpt(object: Json, kind: 'Kptfile' | 'ResourceGroup'): boolean {
  return (
    partOf(object, 'kind') === kind &&
    parseApiVersion(textOf(object, 'apiVersion')).group === 'kpt.dev'
  )
}

/** In kpt's words (kpt `pkg/api/kptfile/v1/validation.go`, `AreKRM`). */
import { findTextAt, type YamlMap } from '@backporch/kyaml/yaml'
import { getItemFile } from '../function/item-annotations.ts'
import { KUSTOMIZATION_NAMES } from '../package/kustomization-names.ts'

const KUSTOMIZATION_FILES: ReadonlySet<string> = new Set(KUSTOMIZATION_NAMES)

export function findKrmProblem(items: readonly YamlMap[]): string | undefined {
  for (const item of items) {
    const problem = findItemProblem(item)
    if (problem !== undefined)
      return `input resource list must contain only KRM resources: ${getItemFile(item).path}: ${problem}`
  }
  return undefined
}

function findItemProblem(item: YamlMap): string | undefined {
  const apiVersion = findTextAt(item, 'apiVersion') || undefined
  const { path } = getItemFile(item)
  if (
    KUSTOMIZATION_FILES.has(path.slice(path.lastIndexOf('/') + 1)) ||
    apiVersion?.startsWith('kustomize.config.k8s.io')
  )
    return undefined
  if (apiVersion === undefined) return 'resource must have `apiVersion`'
  if (!findTextAt(item, 'kind')) return 'resource must have `kind`'
  return findTextAt(item, 'metadata', 'name') ? undefined : 'resource must have `metadata.name`'
}

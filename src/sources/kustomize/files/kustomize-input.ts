/** Whether a kustomization renames objects: then a syncer that builds it creates objects that no file declares. */
import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import type { PackageFiles } from '@backporch/kyaml/files'

const FILES: ReadonlySet<string> = new Set(KUSTOMIZATION_NAMES)

/** Fields that rename objects, create them or take them from elsewhere (kustomize `api/types/kustomization.go`). */
const FIELDS =
  /^(namePrefix|nameSuffix|configMapGenerator|secretGenerator|components|bases|generators|transformers|helmCharts|helmChartInflationGenerator)\s*:/m
const ELSEWHERE = /^\s*-\s*['"]?(\.\.\/|https?:|git@|ssh:|[a-z0-9.-]+\.[a-z]+\/)/m

/** `namePrefix`, for example; undefined where the package has no kustomization, or one that only lists files. */
export function renamedByKustomize(files: PackageFiles): string | undefined {
  const own = files.find(({ path }) => FILES.has(path))
  if (own === undefined) return undefined
  const text = new TextDecoder().decode(own.content)
  return FIELDS.exec(text)?.[1] ?? (ELSEWHERE.test(text) ? 'resources from elsewhere' : undefined)
}

import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import type { PackageFiles } from '@backporch/kyaml/files'

const FILES: ReadonlySet<string> = new Set(KUSTOMIZATION_NAMES)

/**
 * They rename or create objects, or take them from elsewhere (kustomize
 * `api/types/kustomization.go`).
 */
const FIELDS =
  /^(namePrefix|nameSuffix|configMapGenerator|secretGenerator|components|bases|generators|transformers|helmCharts|helmChartInflationGenerator)\s*:/m
const ELSEWHERE = /^\s*-\s*['"]?(\.\.\/|https?:|git@|ssh:|[a-z0-9.-]+\.[a-z]+\/)/m

/** Such as `namePrefix`; undefined if there is no kustomization, or one that only lists files. */
export function findRenamedByKustomize(files: PackageFiles): string | undefined {
  const own = files.find(({ path }) => FILES.has(path))
  if (own === undefined) return undefined
  const text = new TextDecoder().decode(own.content)
  return FIELDS.exec(text)?.[1] ?? (ELSEWHERE.test(text) ? 'resources from elsewhere' : undefined)
}

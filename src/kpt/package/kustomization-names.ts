/** kustomize `api/konfig/general.go`. */
export const KUSTOMIZATION_NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

export function isKustomizationFile(path: string): boolean {
  return KUSTOMIZATION_NAMES.includes(path.slice(path.lastIndexOf('/') + 1))
}

/** Files that kustomize takes for a kustomization (kustomize `api/konfig/general.go`). */
export const KUSTOMIZATION_NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

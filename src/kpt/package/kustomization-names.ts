/** Names of kustomization files (kustomize `api/konfig/general.go`). */
export const KUSTOMIZATION_NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/**
 * Chooses the tool of an Application as argo-cd 3.2.0 does
 * (`pkg/apis/application/v1alpha1/types.go` ExplicitType, `util/argo/argo.go` NormalizeSource).
 */
import {
  getPartAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'

const TOOLS = ['kustomize', 'helm', 'directory', 'plugin'] as const
export type ArgoTool = (typeof TOOLS)[number]

/** The others only affect how these are written. */
const KUSTOMIZE_OPTIONS = [
  ...[
    'namePrefix',
    'nameSuffix',
    'version',
    'namespace',
    'images',
    'replicas',
    'commonLabels',
    'commonAnnotations',
  ],
  ...['patches', 'components', 'kubeVersion', 'apiVersions', 'ignoreMissingComponents'],
]

/** Empty options mean nothing, except in one of several sources. */
export function normalizeArgoSource(
  source: JsonObject,
  at: readonly (string | number)[],
): JsonObject {
  if (at[0] === 'sources') return source
  const isEmpty = (name: string, options: JsonObject): boolean => {
    if (name === 'kustomize') return !KUSTOMIZE_OPTIONS.some((option) => isSet(options[option]))
    if (name === 'helm')
      return options['valuesObject'] === undefined && !Object.values(options).some(isSet)
    if (name !== 'directory') return false
    const jsonnet = getPartAt(options, 'jsonnet')
    const isEvaluated = isJsonObject(jsonnet) && Object.values(jsonnet).some(isSet)
    return (
      options['recurse'] !== true &&
      !isEvaluated &&
      !isSet(options['include']) &&
      !isSet(options['exclude'])
    )
  }
  return Object.fromEntries(
    Object.entries(source).filter(([name, value]) => !isJsonObject(value) || !isEmpty(name, value)),
  )
}

export function listArgoTools(source: JsonObject): readonly ArgoTool[] {
  return TOOLS.filter((name) => isJsonObject(source[name]))
}

function isSet(value: Json | undefined): boolean {
  if (isJsonArray(value)) return value.length > 0
  if (isJsonObject(value)) return Object.keys(value).length > 0
  return value !== undefined && value !== null && value !== '' && value !== false
}

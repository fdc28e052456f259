/** The fields of a kustomization, and the transformers of kustomize, of which it is known what files they name. */

/** Fields that name no file (kustomize `api/types/kustomization.go`). Go accepts names in any case; here only these are accepted. */
export const PLAIN = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'namePrefix',
  'nameSuffix',
  'namespace',
  'commonLabels',
  'labels',
  'commonAnnotations',
  'vars',
  'images',
  'replicas',
  'generatorOptions',
  'sortOptions',
  'buildMetadata',
])
export const PROGRAMS = new Set(['generators', 'validators', 'helmChartInflationGenerator'])
/** Transformers that are part of kustomize and read no file. */
export const TRANSFORMERS = new Set([
  'AnnotationsTransformer',
  'ImageTagTransformer',
  'LabelTransformer',
  'NamespaceTransformer',
  'PrefixSuffixTransformer',
  'PrefixTransformer',
  'ReplicaCountTransformer',
  'SuffixTransformer',
])

/** Fields that an entry may have, and the one of them that names a file. */
export interface EntryFields {
  readonly known: ReadonlySet<string>
  readonly file: 'path' | 'env'
}

export const PATCH: EntryFields = {
  known: new Set(['path', 'patch', 'target', 'options']),
  file: 'path',
}
export const REPLACEMENT: EntryFields = {
  known: new Set(['path', 'source', 'targets']),
  file: 'path',
}
/** Where Helm looks for its own settings is not for the repository to say. */
export const HELM_GLOBALS: EntryFields = { known: new Set(['chartHome']), file: 'path' }
export const OPENAPI: EntryFields = { known: new Set(['path', 'version']), file: 'path' }
export const GENERATOR: EntryFields = {
  known: new Set([
    'name',
    'namespace',
    'behavior',
    'type',
    'literals',
    'files',
    'envs',
    'env',
    'options',
  ]),
  file: 'env',
}

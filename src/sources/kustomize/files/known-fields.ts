/**
 * Fields that name no file (kustomize `api/types/kustomization.go`). Go accepts names in any case;
 * only these are accepted here.
 */
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
/** They read no file. */
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
/** A repository must not set where Helm looks for its own settings. */
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

/**
 * The folders that Flux Kustomizations apply from a repository (kustomize-controller `docs/spec/v1/kustomizations.md`, source-controller
 * `docs/spec/v1/gitrepositories.md`).
 */
import { metadataText } from '../krm/resource.ts'
import { parseApiVersion } from '../krm/resource-id.ts'
import { canonicalJson, isJsonObject, type Json, type JsonObject, objectsIn, partOf, textOf } from '../text/json.ts'
import { folderOf, isFilled } from './own-resource.ts'
import { titleOfOwn } from './sync-path.ts'
import type { DeclaredSyncer, RefusedSource, SourceDiscovery, SourcedRepository, UnitSource, VariablesRef } from './unit-source.ts'

const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io'
const SOURCE = 'source.toolkit.fluxcd.io'

export const FLUX_SOURCES: SourceDiscovery = {
  kinds: [
    { group: KUSTOMIZE, version: 'v1', kind: 'Kustomization' },
    { group: SOURCE, version: 'v1', kind: 'GitRepository' },
  ],
  read: (of, repository) =>
    of('Kustomization').flatMap((own) =>
      parseApiVersion(textOf(own, 'apiVersion')).group === KUSTOMIZE ? kustomizationSource(own, of('GitRepository'), repository) : [],
    ),
}

function kustomizationSource(
  own: JsonObject,
  repositories: readonly JsonObject[],
  repository: SourcedRepository,
): readonly (UnitSource | RefusedSource)[] {
  const title = `Flux Kustomization ${titleOfOwn(own)}`
  const [namespace, name] = [metadataText(own, 'namespace'), metadataText(own, 'name')]
  const kind = textOf(own, 'spec', 'sourceRef', 'kind') || 'GitRepository'
  const from = { namespace: textOf(own, 'spec', 'sourceRef', 'namespace') || namespace, name: textOf(own, 'spec', 'sourceRef', 'name') }
  // What another kind of source holds is not known to be of this repository.
  if (kind !== 'GitRepository') return []
  const source = repositories.find((one) => metadataText(one, 'name') === from.name && metadataText(one, 'namespace') === from.namespace)
  if (source === undefined || !repository.isHere(textOf(source, 'spec', 'url'))) return []
  const branch = textOf(source, 'spec', 'ref', 'branch') || 'master'
  const fixed = ['commit', 'name', 'semver', 'tag'].find((field) => isFilled(partOf(source, 'spec', 'ref', field)))
  if (fixed === undefined && branch !== repository.baseBranch) return []
  const folder = folderOf(partOf(own, 'spec', 'path') ?? './')
  if (folder === undefined) return [{ title, why: 'its path leaves the repository' }]
  if (isFilled(partOf(own, 'spec', 'kubeConfig'))) return [{ title, why: 'it applies to another cluster (spec.kubeConfig)' }]
  const declared = declarationOf(own, repository.declared)
  const at = `${from.namespace}/${from.name}`
  const pinned =
    fixed === undefined
      ? undefined
      : `${title} applies the ${fixed} ${textOf(source, 'spec', 'ref', fixed)} of GitRepository ${at}: a merge is applied once spec.ref of it moves`
  return [
    {
      title,
      id: { group: KUSTOMIZE, kind: 'Kustomization', namespace, name },
      folder,
      variablesFrom: variablesFrom(own, namespace),
      render: (variables) => ({ tool: 'flux-kustomization', kustomization: { object: own, declared, variables } }),
      pinned,
    },
  ]
}

function variablesFrom(own: JsonObject, namespace: string): readonly VariablesRef[] {
  return objectsIn(partOf(own, 'spec', 'postBuild', 'substituteFrom')).flatMap((one): VariablesRef[] => {
    const kind = textOf(one, 'kind')
    if (kind !== 'ConfigMap' && kind !== 'Secret') return []
    return [{ kind, namespace, name: textOf(one, 'name'), optional: partOf(one, 'optional') === true }]
  })
}

/** The file that declares the resource, if its specification is the one that Flux has: then an edit there changes what is built. */
function declarationOf(own: JsonObject, declared: readonly DeclaredSyncer[]): { path: string; document: number } | undefined {
  const same = declared.filter(
    ({ object }) =>
      textOf(object, 'kind') === 'Kustomization' &&
      parseApiVersion(textOf(object, 'apiVersion')).group === KUSTOMIZE &&
      metadataText(object, 'name') === metadataText(own, 'name') &&
      ['', metadataText(own, 'namespace')].includes(metadataText(object, 'namespace')) &&
      builtBy(object) === builtBy(own),
  )
  const [only] = same
  return only === undefined || same.length > 1 ? undefined : { path: only.path, document: only.document }
}

/** Fields that decide what is built. */
const BUILD_FIELDS = [
  'path',
  'targetNamespace',
  'namePrefix',
  'nameSuffix',
  'commonMetadata',
  'components',
  'ignoreMissingComponents',
  'patches',
  'patchesStrategicMerge',
  'patchesJson6902',
  'images',
]

function builtBy(own: JsonObject): string {
  const parts: Json[] = BUILD_FIELDS.map((name) => partOf(own, 'spec', name) ?? null)
  const variables = partOf(own, 'spec', 'postBuild', 'substitute')
  return canonicalJson([...parts, isJsonObject(variables) ? variables : {}])
}

/**
 * The source Flux, as kustomize-controller `docs/spec/v1/kustomizations.md`, source-controller
 * `docs/spec/v1/gitrepositories.md`.
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import {
  filterObjects,
  findNonEmptyText,
  formatCanonicalJson,
  getPartAt,
  getTextAt,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import { HELM_TOOLKIT } from '../../syncers/flux-release-name.ts'
import { isFilled, parseSyncFolder } from '../../syncers/own-resource.ts'
import { formatOwnTitle } from '../../syncers/sync-path.ts'
import {
  findDeclaration,
  findDeclaredNamed,
  type RefusedSource,
  type ResourcesOf,
  type SourcedRepository,
  type UnitSource,
} from '../build/unit-source.ts'
import { createSyncedSource } from '../synced/synced-source.ts'
import { explainNotInArtifact, findFollowedRepository, SOURCE_TOOLKIT } from './flux-git.ts'
import { FLUX_BUILDER } from './flux-kustomization.ts'
import { createBuiltReleaseSource, releaseSources, SECRET_IN_IT } from './flux-releases.ts'
import { createFluxVariables, listVariablesRefs } from './flux-variables.ts'

const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io'
const GENERATOR = 'source.extensions.fluxcd.io'

export const FLUX = createSyncedSource({
  name: 'Flux',
  kinds: [
    { group: KUSTOMIZE, version: 'v1', kind: 'Kustomization' },
    { group: SOURCE_TOOLKIT, version: 'v1', kind: 'GitRepository' },
    { group: HELM_TOOLKIT, version: 'v2', kind: 'HelmRelease' },
    { group: GENERATOR, version: 'v1beta1', kind: 'ArtifactGenerator' },
  ],
  read: (of, repository) => {
    const found = of(KUSTOMIZE, 'Kustomization').flatMap((own) =>
      discoverKustomization(own, of, repository),
    )
    // A file alone is not yet what the Kustomization applies.
    if (repository.isFiles) return found
    const units = found.flatMap((source) => ('why' in source ? [] : [source]))
    return [...found, ...releaseSources(of(HELM_TOOLKIT, 'HelmRelease'), units, repository)]
  },
  built: [
    { group: KUSTOMIZE, kind: 'Kustomization', isOfFiles: true, read: discoverBuiltKustomization },
    {
      group: HELM_TOOLKIT,
      kind: 'HelmRelease',
      isOfFiles: false,
      read: (...built) => [createBuiltReleaseSource(...built)],
    },
  ],
})

function discoverBuiltKustomization(
  { object: own, hidden = [] }: DesiredResource,
  parent: UnitSource,
  of: ResourcesOf,
  repository: SourcedRepository,
): readonly (UnitSource | RefusedSource)[] {
  if (hidden.length > 0)
    return [{ title: `Flux Kustomization ${formatOwnTitle(own)}`, why: SECRET_IN_IT }]
  // `flux bootstrap` writes one that builds itself: its file counts.
  return discoverKustomization(own, of, repository).filter(
    (source) => 'why' in source || source.folder !== parent.folder,
  )
}

function discoverKustomization(
  own: JsonObject,
  of: ResourcesOf,
  repository: SourcedRepository,
): readonly (UnitSource | RefusedSource)[] {
  const title = `Flux Kustomization ${formatOwnTitle(own)}`
  const [namespace, name] = [getMetadataText(own, 'namespace'), getMetadataText(own, 'name')]
  // A patch of a Kustomization in a file does not count.
  if (findNonEmptyText(own, 'spec', 'sourceRef', 'name') === undefined) return []
  const given = getPlace(own, of, namespace)
  if (given === undefined) return refuseArtifactSources(own, title, repository)
  if ('why' in given) return [{ title, why: given.why }]
  const { from, root } = given
  const source = findFollowedRepository(from, of, repository)
  if (source === undefined || (source.fixed === undefined && !source.isBase)) return []
  const path = parseSyncFolder(getPartAt(own, 'spec', 'path') ?? './')
  if (path === undefined) return [{ title, why: 'its path leaves the repository' }]
  const folder = [root, path].filter((part) => part !== '').join('/')
  if (isFilled(getPartAt(own, 'spec', 'kubeConfig')))
    return [{ title, why: 'it applies to another cluster (spec.kubeConfig)' }]
  const applied = of(KUSTOMIZE, 'Kustomization').map(
    (each) => parseSyncFolder(getPartAt(each, 'spec', 'path') ?? './') ?? '',
  )
  const declared = findDeclaration(own, repository.declared, computeBuildKey, applied)
  const refs = listVariablesRefs(own, namespace)
  const { configMaps } = repository
  const { fixed, artifact } = source
  const lacking = explainNotInArtifact(artifact, folder)
  if (lacking !== undefined) return [{ title, why: lacking }]
  const pinned =
    fixed === undefined
      ? undefined
      : `it applies the ${fixed} of ${artifact.title}: a merge is applied once spec.ref of it moves`
  return [
    {
      tool: 'flux',
      title,
      id: { group: KUSTOMIZE, kind: 'Kustomization', namespace, name },
      folder,
      variablesFrom: refs,
      build: ({ variables }) => ({
        title,
        folder,
        object: own,
        declared,
        ...createFluxVariables(variables, { refs, configMaps, applied }),
        builder: FLUX_BUILDER,
        artifact,
      }),
      pinned,
    },
  ]
}

/** Reported only if this repository declares the resource. */
function refuseArtifactSources(
  own: JsonObject,
  title: string,
  { declared }: SourcedRepository,
): readonly RefusedSource[] {
  const kind = getTextAt(own, 'spec', 'sourceRef', 'kind')
  const isDeclared =
    findDeclaredNamed(
      own,
      declared,
      (object) => findNonEmptyText(object, 'spec', 'sourceRef', 'name') !== undefined,
    ) !== undefined
  if (!isDeclared || !['OCIRepository', 'Bucket'].includes(kind)) return []
  const why = `it applies the ${kind} ${getTextAt(own, 'spec', 'sourceRef', 'name')}, which is not compared: a merge is applied once its content is packed again`
  return [{ title, why }]
}

interface SourcePlace {
  readonly from: { readonly namespace: string; readonly name: string }
  readonly root: string
}

/** Undefined if the source may not be git. */
function getPlace(
  own: JsonObject,
  of: ResourcesOf,
  namespace: string,
): SourcePlace | { readonly why: string } | undefined {
  const kind = getTextAt(own, 'spec', 'sourceRef', 'kind') || 'GitRepository'
  const from = {
    namespace: getTextAt(own, 'spec', 'sourceRef', 'namespace') || namespace,
    name: getTextAt(own, 'spec', 'sourceRef', 'name'),
  }
  if (kind === 'GitRepository') return { from, root: '' }
  if (kind !== 'ExternalArtifact') return undefined
  for (const generator of of(GENERATOR, 'ArtifactGenerator')) {
    if (getMetadataText(generator, 'namespace') !== from.namespace) continue
    const artifact = filterObjects(getPartAt(generator, 'spec', 'artifacts')).find(
      (one) => getTextAt(one, 'name') === from.name,
    )
    if (artifact !== undefined) return findArtifactPlace(generator, artifact, from.namespace)
  }
  return undefined
}

/**
 * Its copies leave everything in place, except for one parent folder (ArtifactGenerator of
 * source-watcher).
 */
function findArtifactPlace(
  generator: JsonObject,
  artifact: JsonObject,
  namespace: string,
): SourcePlace | { readonly why: string } {
  const copies = filterObjects(getPartAt(artifact, 'copy')).map((copy) => {
    const [, alias = '', folder] = /^@([^/]+)\/(.*?)\/?\*\*$/.exec(getTextAt(copy, 'from')) ?? []
    const to = /^@artifact\/(.*?)\/?$/.exec(getTextAt(copy, 'to'))?.[1]
    const isPlain =
      folder !== undefined &&
      to !== undefined &&
      !/[*?[]/.test(folder) &&
      !isFilled(getPartAt(copy, 'exclude'))
    return isPlain ? { alias, root: findRoot(folder, to) } : undefined
  })
  const [first] = copies
  if (
    first?.root === undefined ||
    copies.some((copy) => copy?.alias !== first.alias || copy.root !== first.root)
  )
    return {
      why: `its artifact ${getTextAt(artifact, 'name')} is composed of more than one folder with everything below it`,
    }
  const source = filterObjects(getPartAt(generator, 'spec', 'sources')).find(
    (one) => getTextAt(one, 'alias') === first.alias,
  )
  if (source === undefined || getTextAt(source, 'kind') !== 'GitRepository')
    return { why: `its artifact ${getTextAt(artifact, 'name')} does not come from a GitRepository` }
  return {
    from: {
      namespace: getTextAt(source, 'namespace') || namespace,
      name: getTextAt(source, 'name'),
    },
    root: first.root,
  }
}

function findRoot(folder: string, to: string): string | undefined {
  if (to === '') return folder
  return folder === to
    ? ''
    : folder.endsWith(`/${to}`)
      ? folder.slice(0, -to.length - 1)
      : undefined
}

const BUILD_FIELDS = [
  'path',
  'targetNamespace',
  'namePrefix',
  'nameSuffix',
  'commonMetadata',
  'components',
  'ignoreMissingComponents',
  'patches',
  'images',
]

function computeBuildKey(own: JsonObject): string {
  const parts: Json[] = BUILD_FIELDS.map((name) => getPartAt(own, 'spec', name) ?? null)
  const variables = getPartAt(own, 'spec', 'postBuild', 'substitute')
  return formatCanonicalJson([...parts, isJsonObject(variables) ? variables : {}])
}

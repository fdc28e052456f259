/**
 * The source Argo CD, as in argo-cd 3.2.0 `pkg/apis/application/v1alpha1/types.go`,
 * `util/argo/argo.go` NormalizeSource, `util/app/discovery/discovery.go`.
 */
import { shortenBranch } from '@backporch/git-store/ref-name'
import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import {
  filterObjects,
  findNonEmptyText,
  formatCanonicalJson,
  getPartAt,
  getTextAt,
  isJsonArray,
  type JsonObject,
} from '@backporch/kyaml/json'
import { getMetadataText, parseApiVersion } from '@backporch/kyaml/resource'
import { ARGO_CD_NAMESPACES } from '../../syncers/argo-cd.ts'
import { isFilled } from '../../syncers/own-resource.ts'
import { formatOwnTitle } from '../../syncers/sync-path.ts'
import type { SyncerBuilder } from '../build/built-source.ts'
import {
  findDeclaration,
  type RefusedSource,
  type SourcedRepository,
  type UnitSource,
} from '../build/unit-source.ts'
import { joinFolderPath, resolvePath } from '../kustomize/files/kustomization-walk.ts'
import { createSyncedSource } from '../synced/synced-source.ts'
import { listGeneratedApplications } from './application-set.ts'
import { createGenerators } from './application-set-generator.ts'
import { createArgoDirectory } from './argo-directory.ts'
import { createArgoHelm } from './argo-helm.ts'
import { createArgoKustomize } from './argo-kustomize.ts'
import { type ArgoSource, getArgoSource } from './argo-source.ts'
import { listArgoTools, normalizeArgoSource } from './argo-tools.ts'

const GROUP = 'argoproj.io'

export const ARGO_CD = createSyncedSource({
  name: 'Argo CD',
  kinds: [
    { group: GROUP, version: 'v1alpha1', kind: 'Application' },
    // In a cluster, the Applications that it makes already exist.
    { group: GROUP, version: 'v1alpha1', kind: 'ApplicationSet', use: 'files' },
  ],
  read: (of, repository) => {
    const refused = (repository.isFiles ? of(GROUP, 'ApplicationSet') : []).flatMap((set) => {
      const made = listGeneratedApplications(set, repository)
      return 'why' in made && mayBeHere(set, repository) ? [createRefusedSet(set, made.why)] : []
    })
    return [
      ...of(GROUP, 'Application').flatMap((each) => listSources(each, repository)),
      ...refused,
    ]
  },
  made: (declared, repository) =>
    declared
      .filter(({ object }) => isSet(object))
      .flatMap((each) => {
        const made = listGeneratedApplications(each.object, repository)
        if ('why' in made) return []
        const generators = createGenerators(made, repository)
        return made.map(({ application }, at) => ({
          ...each,
          object: application,
          generator: generators[at],
        }))
      }),
  built: [
    {
      group: GROUP,
      kind: 'Application',
      isOfFiles: true,
      read: ({ object }, _parent, _of, repository) => listSources(object, repository),
    },
  ],
})

function isSet(object: JsonObject): boolean {
  return (
    getTextAt(object, 'kind') === 'ApplicationSet' &&
    parseApiVersion(getTextAt(object, 'apiVersion')).group === GROUP
  )
}

function mayBeHere(set: JsonObject, { isHere }: SourcedRepository): boolean {
  const spec = getPartAt(set, 'spec', 'template', 'spec')
  const sources = filterObjects(getPartAt(spec, 'sources'))
  return [
    getTextAt(spec, 'source', 'repoURL'),
    ...sources.map((source) => getTextAt(source, 'repoURL')),
  ].some((address) => address.includes('{{') || isHere(address))
}

function createRefusedSet(set: JsonObject, why: string): RefusedSource {
  return {
    title: `Argo CD ApplicationSet ${formatOwnTitle(set)}`,
    why: `${why}, and there is no cluster to ask for its Applications`,
  }
}

type Step = string | number

function listSources(
  own: JsonObject,
  repository: SourcedRepository,
): readonly (UnitSource | RefusedSource)[] {
  if (repository.isHere(getTextAt(own, 'spec', 'sourceHydrator', 'drySource', 'repoURL')))
    return [
      {
        title: formatTitle(own),
        why: 'it applies a branch that Argo CD itself writes (spec.sourceHydrator)',
      },
    ]
  const several = getPartAt(own, 'spec', 'sources')
  const places: readonly (readonly Step[])[] =
    isJsonArray(several) && several.length > 0
      ? several.map((_, index) => ['sources', index])
      : [['source']]
  return places.flatMap((at) => listSourcesAt(own, at, repository))
}

function listSourcesAt(
  own: JsonObject,
  at: readonly Step[],
  repository: SourcedRepository,
): readonly (UnitSource | RefusedSource)[] {
  const source = getArgoSource(own, at)
  const title = formatTitle(own)
  const [namespace, name] = [getMetadataText(own, 'namespace'), getMetadataText(own, 'name')]
  // A source without a path provides files for the others; a chart comes from a registry.
  if (
    !repository.isHere(getTextAt(source, 'repoURL')) ||
    findNonEmptyText(source, 'chart') !== undefined
  )
    return []
  if (isJsonArray(getPartAt(own, 'spec', 'sources')) && !isFilled(getPartAt(source, 'path')))
    return []
  const revision = shortenBranch(getTextAt(source, 'targetRevision'))
  const isBase = ['', 'HEAD', repository.baseBranch].includes(revision)
  if (!isBase && repository.isBranch(revision)) return []
  const refused = (why: string): readonly RefusedSource[] => [{ title, why }]
  const path = getTextAt(source, 'path')
  if (path.startsWith('/')) return refused('its path begins with a slash, which Argo CD refuses')
  const folder = resolvePath('', path)
  if (folder === undefined) return refused('its path leaves the repository')
  const [server, cluster] = [
    getTextAt(own, 'spec', 'destination', 'server'),
    getTextAt(own, 'spec', 'destination', 'name'),
  ]
  if (
    !['', 'https://kubernetes.default.svc'].includes(server) ||
    !['', 'in-cluster'].includes(cluster)
  )
    return refused(`it applies to another cluster (spec.destination: ${cluster || server})`)
  const has = (file: string): boolean => repository.has(joinFolderPath(folder, file))
  const type = getType(source, at, has)
  if (typeof type !== 'string') return refused(type.why)
  const of = {
    at,
    instance: ARGO_CD_NAMESPACES.includes(namespace) ? name : `${namespace}_${name}`,
  }
  const declared = findDeclaration(own, repository.declared, (object) =>
    computeBuildKey(object, at),
  )
  const builder = createBuilder(type, of, mapRefs(own, repository))
  return [
    {
      tool: 'argo-cd',
      title,
      id: { group: GROUP, kind: 'Application', namespace, name },
      folder,
      variablesFrom: [],
      build: () => ({ title, folder, object: own, declared, variables: new Map(), builder }),
      pinned: isBase
        ? undefined
        : `it applies the revision ${revision}: a merge is applied once targetRevision of its source moves, or where it is a range of versions, once another version is tagged`,
    },
  ]
}

function createBuilder(
  type: 'kustomize' | 'directory' | 'helm',
  of: ArgoSource,
  refs: ReadonlyMap<string, boolean>,
): SyncerBuilder {
  if (type === 'helm') return createArgoHelm({ ...of, refs })
  return type === 'kustomize' ? createArgoKustomize(of) : createArgoDirectory(of)
}

function mapRefs(
  own: JsonObject,
  { isHere, baseBranch }: SourcedRepository,
): ReadonlyMap<string, boolean> {
  const named = filterObjects(getPartAt(own, 'spec', 'sources')).filter(
    (source) => findNonEmptyText(source, 'ref') !== undefined,
  )
  return new Map(
    named.map((source) => {
      const isBase = ['', 'HEAD', baseBranch].includes(
        shortenBranch(getTextAt(source, 'targetRevision')),
      )
      return [getTextAt(source, 'ref'), isBase && isHere(getTextAt(source, 'repoURL'))]
    }),
  )
}

function formatTitle(own: JsonObject): string {
  return `Argo CD Application ${formatOwnTitle(own)}`
}

function getType(
  source: JsonObject,
  at: readonly Step[],
  has: (file: string) => boolean,
): 'kustomize' | 'directory' | 'helm' | { readonly why: string } {
  const tools = listArgoTools(normalizeArgoSource(source, at))
  if (tools.includes('plugin'))
    return { why: 'a plugin makes its objects, and plugins are not run here' }
  if (tools.length > 1) return { why: 'it has options of several tools, which Argo CD refuses' }
  const [tool] = tools
  const hasKustomization = KUSTOMIZATION_NAMES.some(has)
  if (tool === 'helm' || (tool === undefined && has('Chart.yaml') && !hasKustomization))
    return 'helm'
  return tool === 'kustomize' || (tool === undefined && hasKustomization)
    ? 'kustomize'
    : 'directory'
}

function computeBuildKey(own: JsonObject, at: readonly Step[]): string {
  const source = getArgoSource(own, at)
  const parts = ['path', 'kustomize', 'directory', 'helm'].map(
    (name) => getPartAt(source, name) ?? null,
  )
  return formatCanonicalJson([...parts, getPartAt(own, 'spec', 'destination', 'namespace') ?? null])
}

/**
 * As in argo-cd 3.2.0 `pkg/apis/application/v1alpha1/types.go`, `util/argo/argo.go`
 * NormalizeSource, `util/app/discovery/discovery.go`.
 */
import { shortBranch } from '@backporch/git-store/ref-name'
import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import {
  canonicalJson,
  isJsonArray,
  type JsonObject,
  objectsIn,
  partOf,
  textOf,
} from '@backporch/kyaml/json'
import { metadataText, parseApiVersion } from '@backporch/kyaml/resource'
import { ARGO_CD_NAMESPACES } from '../../syncers/argo-cd.ts'
import { isFilled } from '../../syncers/own-resource.ts'
import { titleOfOwn } from '../../syncers/sync-path.ts'
import type { SyncerBuilder } from '../build/built-source.ts'
import {
  declarationOf,
  type RefusedSource,
  type SourcedRepository,
  type UnitSource,
} from '../build/unit-source.ts'
import { joined, resolvePath } from '../kustomize/files/kustomization-walk.ts'
import { syncedSource } from '../synced/synced-source.ts'
import { applicationsOf } from './application-set.ts'
import { argoDirectory } from './argo-directory.ts'
import { argoHelm } from './argo-helm.ts'
import { argoKustomize } from './argo-kustomize.ts'
import { type ArgoSource, sourceIn } from './argo-source.ts'
import { normalizedSource, toolsOf } from './argo-tools.ts'
import { setMakers } from './set-maker.ts'

const GROUP = 'argoproj.io'

export const ARGO_CD = syncedSource({
  name: 'Argo CD',
  kinds: [
    { group: GROUP, version: 'v1alpha1', kind: 'Application' },
    // In a cluster, the Applications that it makes already exist.
    { group: GROUP, version: 'v1alpha1', kind: 'ApplicationSet', use: 'files' },
  ],
  read: (of, repository) => {
    const refused = (repository.isFiles ? of(GROUP, 'ApplicationSet') : []).flatMap((set) => {
      const made = applicationsOf(set, repository)
      return 'why' in made && mayBeHere(set, repository) ? [refusedSet(set, made.why)] : []
    })
    return [...of(GROUP, 'Application').flatMap((each) => sourcesOf(each, repository)), ...refused]
  },
  made: (declared, repository) =>
    declared
      .filter(({ object }) => isSet(object))
      .flatMap((each) => {
        const made = applicationsOf(each.object, repository)
        if ('why' in made) return []
        const makers = setMakers(made, repository)
        return made.map(({ application }, at) => ({
          ...each,
          object: application,
          maker: makers[at],
        }))
      }),
  built: [
    {
      group: GROUP,
      kind: 'Application',
      isOfFiles: true,
      read: ({ object }, _parent, _of, repository) => sourcesOf(object, repository),
    },
  ],
})

function isSet(object: JsonObject): boolean {
  return (
    textOf(object, 'kind') === 'ApplicationSet' &&
    parseApiVersion(textOf(object, 'apiVersion')).group === GROUP
  )
}

function mayBeHere(set: JsonObject, { isHere }: SourcedRepository): boolean {
  const spec = partOf(set, 'spec', 'template', 'spec')
  const sources = objectsIn(partOf(spec, 'sources'))
  return [
    textOf(spec, 'source', 'repoURL'),
    ...sources.map((source) => textOf(source, 'repoURL')),
  ].some((address) => address.includes('{{') || isHere(address))
}

function refusedSet(set: JsonObject, why: string): RefusedSource {
  return {
    title: `Argo CD ApplicationSet ${titleOfOwn(set)}`,
    why: `${why}, and there is no cluster to ask for its Applications`,
  }
}

type Step = string | number

function sourcesOf(
  own: JsonObject,
  repository: SourcedRepository,
): readonly (UnitSource | RefusedSource)[] {
  if (repository.isHere(textOf(own, 'spec', 'sourceHydrator', 'drySource', 'repoURL')))
    return [
      {
        title: titleOf(own),
        why: 'it applies a branch that Argo CD itself writes (spec.sourceHydrator)',
      },
    ]
  const several = partOf(own, 'spec', 'sources')
  const places: readonly (readonly Step[])[] =
    isJsonArray(several) && several.length > 0
      ? several.map((_, index) => ['sources', index])
      : [['source']]
  return places.flatMap((at) => sourceAt(own, at, repository))
}

function sourceAt(
  own: JsonObject,
  at: readonly Step[],
  repository: SourcedRepository,
): readonly (UnitSource | RefusedSource)[] {
  const source = sourceIn(own, at)
  const title = titleOf(own)
  const [namespace, name] = [metadataText(own, 'namespace'), metadataText(own, 'name')]
  // A source without a path provides files for the others; a chart comes from a registry.
  if (!repository.isHere(textOf(source, 'repoURL')) || textOf(source, 'chart') !== '') return []
  if (isJsonArray(partOf(own, 'spec', 'sources')) && !isFilled(partOf(source, 'path'))) return []
  const revision = shortBranch(textOf(source, 'targetRevision'))
  const isBase = revision === '' || revision === 'HEAD' || revision === repository.baseBranch
  if (!isBase && repository.isBranch(revision)) return []
  const refused = (why: string): readonly RefusedSource[] => [{ title, why }]
  const path = textOf(source, 'path')
  if (path.startsWith('/')) return refused('its path begins with a slash, which Argo CD refuses')
  const folder = resolvePath('', path)
  if (folder === undefined) return refused('its path leaves the repository')
  const [server, cluster] = [
    textOf(own, 'spec', 'destination', 'server'),
    textOf(own, 'spec', 'destination', 'name'),
  ]
  if (
    !['', 'https://kubernetes.default.svc'].includes(server) ||
    !['', 'in-cluster'].includes(cluster)
  )
    return refused(`it applies to another cluster (spec.destination: ${cluster || server})`)
  const has = (file: string): boolean => repository.has(joined(folder, file))
  const type = typeOf(source, at, has)
  if (typeof type !== 'string') return refused(type.why)
  const of = {
    at,
    instance: ARGO_CD_NAMESPACES.includes(namespace) ? name : `${namespace}_${name}`,
  }
  const declared = declarationOf(own, repository.declared, (object) => builtBy(object, at))
  const builder = builderOf(type, of, refsOf(own, repository))
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

function builderOf(
  type: 'kustomize' | 'directory' | 'helm',
  of: ArgoSource,
  refs: ReadonlyMap<string, boolean>,
): SyncerBuilder {
  if (type === 'helm') return argoHelm({ ...of, refs })
  return type === 'kustomize' ? argoKustomize(of) : argoDirectory(of)
}

function refsOf(
  own: JsonObject,
  { isHere, baseBranch }: SourcedRepository,
): ReadonlyMap<string, boolean> {
  const named = objectsIn(partOf(own, 'spec', 'sources')).filter(
    (source) => textOf(source, 'ref') !== '',
  )
  return new Map(
    named.map((source) => {
      const isBase = ['', 'HEAD', baseBranch].includes(
        shortBranch(textOf(source, 'targetRevision')),
      )
      return [textOf(source, 'ref'), isBase && isHere(textOf(source, 'repoURL'))]
    }),
  )
}

function titleOf(own: JsonObject): string {
  return `Argo CD Application ${titleOfOwn(own)}`
}

function typeOf(
  source: JsonObject,
  at: readonly Step[],
  has: (file: string) => boolean,
): 'kustomize' | 'directory' | 'helm' | { readonly why: string } {
  const tools = toolsOf(normalizedSource(source, at))
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

function builtBy(own: JsonObject, at: readonly Step[]): string {
  const source = sourceIn(own, at)
  const parts = ['path', 'kustomize', 'directory', 'helm'].map(
    (name) => partOf(source, name) ?? null,
  )
  return canonicalJson([...parts, partOf(own, 'spec', 'destination', 'namespace') ?? null])
}

/**
 * The folders that Flux Kustomizations apply from a repository (kustomize-controller `docs/spec/v1/kustomizations.md`, source-controller
 * `docs/spec/v1/gitrepositories.md`).
 */
import { metadataText } from '../krm/resource.ts'
import { parseApiVersion } from '../krm/resource-id.ts'
import { isWithin } from '../render/flux/artifact-files.ts'
import { FLUX_BUILDER } from '../render/flux/flux-kustomization.ts'
import type { ArtifactContent } from '../render/syncer-build.ts'
import { canonicalJson, isJsonObject, type Json, type JsonObject, objectsIn, partOf, textOf, textsIn } from '../text/json.ts'
import { HELM_TOOLKIT, releaseSources, releasesOfFiles } from './flux-releases.ts'
import { folderOf, isFilled } from './own-resource.ts'
import { titleOfOwn } from './sync-path.ts'
import {
  declarationOf,
  declaredNamed,
  type RefusedSource,
  type SourceDiscovery,
  type SourcedRepository,
  type UnitSource,
  type VariablesRef,
} from './unit-source.ts'

const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io'
const SOURCE = 'source.toolkit.fluxcd.io'

type ResourcesOf = (kind: string) => readonly JsonObject[]

export const FLUX_SOURCES: SourceDiscovery = {
  kinds: [
    { group: KUSTOMIZE, version: 'v1', kind: 'Kustomization' },
    { group: SOURCE, version: 'v1', kind: 'GitRepository' },
    { group: HELM_TOOLKIT, version: 'v2', kind: 'HelmRelease' },
    { group: 'source.extensions.fluxcd.io', version: 'v1beta1', kind: 'ArtifactGenerator' },
  ],
  read: (of, repository) => {
    const found = of('Kustomization').flatMap((own) =>
      parseApiVersion(textOf(own, 'apiVersion')).group === KUSTOMIZE ? kustomizationSource(own, of, repository) : [],
    )
    const units = found.flatMap((source) => ('why' in source ? [] : [source]))
    const releases = of('HelmRelease')
    return [...found, ...(repository.isFiles ? releasesOfFiles(releases, units) : releaseSources(releases, units, repository))]
  },
}

function kustomizationSource(own: JsonObject, of: ResourcesOf, repository: SourcedRepository): readonly (UnitSource | RefusedSource)[] {
  const title = `Flux Kustomization ${titleOfOwn(own)}`
  const [namespace, name] = [metadataText(own, 'namespace'), metadataText(own, 'name')]
  // A patch of a Kustomization in a file is none.
  if (textOf(own, 'spec', 'sourceRef', 'name') === '') return []
  const given = placeOf(own, of, namespace)
  if (given === undefined) return ofArtifact(own, title, repository)
  if ('why' in given) return [{ title, why: given.why }]
  const { from, root } = given
  const source = of('GitRepository').find(
    (one) => metadataText(one, 'name') === from.name && metadataText(one, 'namespace') === from.namespace,
  )
  if (source === undefined ? !repository.isFiles : !repository.isHere(textOf(source, 'spec', 'url'))) return []
  const ref = partOf(source, 'spec', 'ref')
  const branch = textOf(ref, 'branch') || (source === undefined ? repository.baseBranch : 'master')
  const fixed = ['commit', 'name', 'semver', 'tag'].find((field) => isFilled(partOf(ref, field)))
  if (fixed === undefined && branch !== repository.baseBranch) return []
  const path = folderOf(partOf(own, 'spec', 'path') ?? './')
  if (path === undefined) return [{ title, why: 'its path leaves the repository' }]
  const folder = [root, path].filter((part) => part !== '').join('/')
  if (isFilled(partOf(own, 'spec', 'kubeConfig'))) return [{ title, why: 'it applies to another cluster (spec.kubeConfig)' }]
  const declared = declarationOf(own, repository.declared, builtBy)
  const at = `${from.namespace}/${from.name}`
  const content = contentOf(source)
  const artifact = { title: `GitRepository ${at}`, ...content, all: contentsOf(of, repository) }
  const lacking = notHad(content, folder)
  if (lacking !== undefined) return [{ title, why: `${lacking} of ${artifact.title}` }]
  const pinned =
    fixed === undefined
      ? undefined
      : `${title} applies the ${fixed} ${textOf(ref, fixed)} of GitRepository ${at}: a merge is applied once spec.ref of it moves`
  return [
    {
      title,
      id: { group: KUSTOMIZE, kind: 'Kustomization', namespace, name },
      folder,
      variablesFrom: variablesFrom(own, namespace),
      render: ({ variables }) => ({
        tool: 'syncer',
        build: { title, folder, object: own, declared, variables, builder: FLUX_BUILDER, artifact },
      }),
      pinned,
    },
  ]
}

/** What the fields of a GitRepository say about its artifact. */
export function contentOf(source: JsonObject | undefined): ArtifactContent {
  const included = objectsIn(partOf(source, 'spec', 'include')).map((each) => {
    const name = textOf(each, 'repository', 'name')
    return { path: inRoot(textOf(each, 'toPath') || name), title: `GitRepository ${name}` }
  })
  const sparse = textsIn(partOf(source, 'spec', 'sparseCheckout')).map((path) => path.replace(/^\.\//, ''))
  return { ignore: textOf(source, 'spec', 'ignore') || undefined, sparse, included }
}

/** The controller joins the path to the root of the artifact, and no `..` leaves it. */
function inRoot(path: string): string {
  const segments: string[] = []
  for (const each of path.split('/'))
    if (each === '..') segments.pop()
    else if (each !== '' && each !== '.') segments.push(each)
  return segments.join('/')
}

/** Why the artifact has not the folder as it is in the repository, as the beginning of a clause. */
function notHad({ sparse, included }: ArtifactContent, folder: string): string | undefined {
  const other = included.find(({ path }) => isWithin(folder, path) || isWithin(path, folder))
  if (other !== undefined)
    return `its folder has files of another repository: ${other.title} is copied to ${other.path || 'the root'} by spec.include`
  const inside = `${folder}/`
  const isThere = folder === '' || sparse.length === 0 || sparse.some((each) => inside.startsWith(each) || each.startsWith(inside))
  return isThere ? undefined : 'its folder is not in spec.sparseCheckout'
}

/** Of every GitRepository of the repository: one of them has the file that declares a Kustomization. */
function contentsOf(of: ResourcesOf, repository: SourcedRepository): readonly ArtifactContent[] {
  const own = of('GitRepository').filter((source) => repository.isHere(textOf(source, 'spec', 'url')))
  return own.length === 0 ? [contentOf(undefined)] : own.map(contentOf)
}

/** What is packed elsewhere may be anything; it is told where this repository declares the resource. */
function ofArtifact(own: JsonObject, title: string, { declared }: SourcedRepository): readonly RefusedSource[] {
  const kind = textOf(own, 'spec', 'sourceRef', 'kind')
  const isDeclared = declaredNamed(own, declared, (object) => textOf(object, 'spec', 'sourceRef', 'name') !== '') !== undefined
  if (!isDeclared || !['OCIRepository', 'Bucket'].includes(kind)) return []
  const why = `it applies the ${kind} ${textOf(own, 'spec', 'sourceRef', 'name')}, which is not compared: a merge is applied once its content is packed anew`
  return [{ title, why }]
}

interface SourcePlace {
  readonly from: { readonly namespace: string; readonly name: string }
  /** Folder of the repository that the root of the artifact is. */
  readonly root: string
}

/** Undefined for a kind of source that is not known to be of git. */
function placeOf(own: JsonObject, of: ResourcesOf, namespace: string): SourcePlace | { readonly why: string } | undefined {
  const kind = textOf(own, 'spec', 'sourceRef', 'kind') || 'GitRepository'
  const from = { namespace: textOf(own, 'spec', 'sourceRef', 'namespace') || namespace, name: textOf(own, 'spec', 'sourceRef', 'name') }
  if (kind === 'GitRepository') return { from, root: '' }
  if (kind !== 'ExternalArtifact') return undefined
  for (const generator of of('ArtifactGenerator')) {
    if (metadataText(generator, 'namespace') !== from.namespace) continue
    const artifact = objectsIn(partOf(generator, 'spec', 'artifacts')).find((one) => textOf(one, 'name') === from.name)
    if (artifact !== undefined) return artifactPlace(generator, artifact, from.namespace)
  }
  return undefined
}

/** An artifact whose copies leave everything where it is, but for one folder above (the ArtifactGenerator of source-watcher). */
function artifactPlace(generator: JsonObject, artifact: JsonObject, namespace: string): SourcePlace | { readonly why: string } {
  const copies = objectsIn(partOf(artifact, 'copy')).map((copy) => {
    const [, alias = '', folder] = /^@([^/]+)\/(.*?)\/?\*\*$/.exec(textOf(copy, 'from')) ?? []
    const to = /^@artifact\/(.*?)\/?$/.exec(textOf(copy, 'to'))?.[1]
    const isPlain = folder !== undefined && to !== undefined && !/[*?[]/.test(folder) && !isFilled(partOf(copy, 'exclude'))
    return isPlain ? { alias, root: rootOf(folder, to) } : undefined
  })
  const [first] = copies
  if (first?.root === undefined || copies.some((copy) => copy?.alias !== first.alias || copy.root !== first.root))
    return { why: `its artifact ${textOf(artifact, 'name')} is composed of more than one folder with everything below it` }
  const source = objectsIn(partOf(generator, 'spec', 'sources')).find((one) => textOf(one, 'alias') === first.alias)
  if (source === undefined || textOf(source, 'kind') !== 'GitRepository')
    return { why: `its artifact ${textOf(artifact, 'name')} is not of a GitRepository` }
  return { from: { namespace: textOf(source, 'namespace') || namespace, name: textOf(source, 'name') }, root: first.root }
}

/** The folder of git that is the root of the artifact, where `folder` lies at `to` in it. */
function rootOf(folder: string, to: string): string | undefined {
  if (to === '') return folder
  return folder === to ? '' : folder.endsWith(`/${to}`) ? folder.slice(0, -to.length - 1) : undefined
}

function variablesFrom(own: JsonObject, namespace: string): readonly VariablesRef[] {
  return objectsIn(partOf(own, 'spec', 'postBuild', 'substituteFrom')).flatMap((one): VariablesRef[] => {
    const kind = textOf(one, 'kind')
    if (kind !== 'ConfigMap' && kind !== 'Secret') return []
    return [{ kind, namespace, name: textOf(one, 'name'), optional: partOf(one, 'optional') === true }]
  })
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
  'images',
]

function builtBy(own: JsonObject): string {
  const parts: Json[] = BUILD_FIELDS.map((name) => partOf(own, 'spec', name) ?? null)
  const variables = partOf(own, 'spec', 'postBuild', 'substitute')
  return canonicalJson([...parts, isJsonObject(variables) ? variables : {}])
}

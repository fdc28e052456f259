/** Finds units of HelmReleases, as helm-controller `docs/spec/v2/helmreleases.md`. */
import type { DeployedRelease } from '@backporch/cluster/cluster'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import {
  filterObjects,
  findNonEmptyText,
  getPartAt,
  getTextAt,
  type JsonObject,
} from '@backporch/kyaml/json'
import { getLabels, getMetadataText } from '@backporch/kyaml/resource'
import { formatRelease, HELM_TOOLKIT } from '../../syncers/flux-release-name.ts'
import { isFilled, parseSyncFolder } from '../../syncers/own-resource.ts'
import { formatOwnTitle } from '../../syncers/sync-path.ts'
import type { SourceArtifact, SyncerBuild } from '../build/built-source.ts'
import {
  findDeclaredNamed,
  type RefusedSource,
  type ResourcesOf,
  type SourcedRepository,
  type UnitSource,
  type ValuesRef,
} from '../build/unit-source.ts'
import { joinFolderPath } from '../kustomize/files/kustomization-walk.ts'
import { createFluxChartBuilder, explainOnlyFlux } from './flux-chart.ts'
import { explainNotInArtifact, findFollowedRepository } from './flux-git.ts'
import { createFluxReleaseBuilder } from './flux-release.ts'

const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io'

export function releaseSources(
  releases: readonly JsonObject[],
  parents: readonly UnitSource[],
  repository: SourcedRepository,
): readonly (UnitSource | RefusedSource)[] {
  return releases.flatMap((own) => {
    const labels = getLabels(own)
    const parent = parents.find(
      ({ id }) =>
        id.name === labels.get(`${KUSTOMIZE}/name`) &&
        id.namespace === labels.get(`${KUSTOMIZE}/namespace`),
    )
    return parent === undefined ? [] : [releaseSource(own, parent, repository)]
  })
}

export function createBuiltReleaseSource(
  { object: own, hidden = [] }: DesiredResource,
  parent: UnitSource,
  of: ResourcesOf,
  repository: SourcedRepository,
): UnitSource | RefusedSource {
  const title = `Flux HelmRelease ${formatOwnTitle(own)}`
  if (findNonEmptyText(own, 'metadata', 'namespace') === undefined)
    return {
      title: `Flux HelmRelease ${getMetadataText(own, 'name')}`,
      why: 'it has no namespace, and Flux applies no such resource',
    }
  if (hidden.length > 0) return { title, why: SECRET_IN_IT }
  return releaseSource(own, parent, repository, findChart(own, of, repository))
}

export const SECRET_IN_IT = 'a variable of its Kustomization puts a value of a Secret into it'

function releaseSource(
  own: JsonObject,
  parent: UnitSource,
  repository: SourcedRepository,
  chart?: FolderChart | { readonly why: string },
): UnitSource | RefusedSource {
  const title = `Flux HelmRelease ${formatOwnTitle(own)}`
  const [namespace, name] = [getMetadataText(own, 'namespace'), getMetadataText(own, 'name')]
  if (isFilled(getPartAt(own, 'spec', 'kubeConfig')))
    return { title, why: 'it applies to another cluster (spec.kubeConfig)' }
  const valuesFrom = listValuesRefs(own, namespace)
  const stored = formatRelease({ namespace, name }, own)
  const declared = findDeclaredNamed(
    own,
    repository.declared,
    (object) =>
      isFilled(getPartAt(object, 'spec', 'chart')) ||
      isFilled(getPartAt(object, 'spec', 'chartRef')),
  )
  const build: Omit<SyncerBuild, 'builder'> = {
    title,
    folder: parent.folder,
    object: own,
    variables: new Map(),
    inputs: valuesFrom.map((ref) => ({
      group: '',
      kind: ref.kind,
      namespace: ref.namespace,
      name: ref.name,
    })),
    ...(declared === undefined
      ? {}
      : {
          place: {
            path: declared.path,
            document: declared.document,
            item: undefined,
            line: declared.line,
          },
        }),
  }
  return {
    tool: 'flux',
    title,
    id: { group: HELM_TOOLKIT, kind: 'HelmRelease', namespace, name },
    folder: parent.folder,
    isPart: true,
    partOf: parent,
    variablesFrom: [],
    valuesFrom,
    release: stored,
    ...(chart === undefined ? {} : { unstored: 'why' in chart ? chart : ('chart' as const) }),
    build: ({ values, release, parent: above }) => {
      const given = {
        ...build,
        parent: above,
        release: { revision: release?.revision ?? 0, entries: values },
      }
      if (release === undefined && chart !== undefined && 'folder' in chart) {
        const deployed = {
          ...NOT_DEPLOYED,
          namespace: getTextAt(own, 'spec', 'targetNamespace') || namespace,
          name: stored.name,
        }
        const builder = createFluxChartBuilder({ deployed, valuesFrom, entries: values })
        return { ...given, ...chart, place: undefined, ownChart: true, builder }
      }
      const builder = createFluxReleaseBuilder({
        deployed: release ?? NOT_DEPLOYED,
        valuesFrom,
        entries: values,
      })
      return { ...given, builder }
    },
    pinned: undefined,
  }
}

interface FolderChart {
  readonly folder: string
  readonly artifact: SourceArtifact
}

/** Or why there is none or it is not all that Flux uses, with what still identifies the objects. */
function findChart(
  own: JsonObject,
  of: ResourcesOf,
  repository: SourcedRepository,
): FolderChart | { readonly why: string } {
  const refused = (why: string): { readonly why: string } => ({
    why: `no stored Helm release is recorded for it, and ${why}: record the Secret of the release (type helm.sh/release.v1), or ask the cluster`,
  })
  const spec = getPartAt(own, 'spec', 'chart', 'spec')
  const kind = findNonEmptyText(spec, 'sourceRef', 'kind')
  const name = getTextAt(spec, 'sourceRef', 'name')
  if (kind !== 'GitRepository') {
    const [from, named] =
      kind === undefined
        ? [getTextAt(own, 'spec', 'chartRef', 'kind'), getTextAt(own, 'spec', 'chartRef', 'name')]
        : [kind, name]
    return refused(`its chart comes from the ${from} ${named}, which is not fetched`)
  }
  const at = {
    namespace: getTextAt(spec, 'sourceRef', 'namespace') || getMetadataText(own, 'namespace'),
    name,
  }
  const source = findFollowedRepository(at, of, repository)
  if (source === undefined)
    return refused(
      `its chart comes from the GitRepository ${at.namespace}/${name}, which is another repository`,
    )
  if (!source.isBase)
    return refused(
      `its chart comes from the GitRepository ${at.namespace}/${name}, which does not follow ${repository.baseBranch}`,
    )
  const folder = parseSyncFolder(getTextAt(spec, 'chart'))
  if (folder === undefined || !repository.has(joinFolderPath(folder, 'Chart.yaml')))
    return refused(`this repository has no chart at ${getTextAt(spec, 'chart')}`)
  const lacking = explainNotInArtifact(source.artifact, folder)
  const why =
    lacking === undefined ? explainOnlyFlux(own) : `the content of the chart differs: ${lacking}`
  return why === undefined ? { folder, artifact: source.artifact } : refused(why)
}

const NOT_DEPLOYED: DeployedRelease = {
  namespace: '',
  name: '',
  revision: 0,
  status: '',
  chartTitle: '',
  chart: undefined,
  values: {},
  manifest: '',
}

function listValuesRefs(own: JsonObject, namespace: string): readonly ValuesRef[] {
  return filterObjects(getPartAt(own, 'spec', 'valuesFrom')).flatMap((ref): ValuesRef[] => {
    const kind = getTextAt(ref, 'kind')
    if (kind !== 'ConfigMap' && kind !== 'Secret') return []
    const key = getTextAt(ref, 'formatValuesKey') || 'values.yaml'
    const at = {
      targetPath: findNonEmptyText(ref, 'targetPath'),
      optional: getPartAt(ref, 'optional') === true,
    }
    return [{ kind, namespace, name: getTextAt(ref, 'name'), key, ...at }]
  })
}

/** The releases of Flux HelmReleases that Kustomizations apply from a repository (helm-controller `docs/spec/v2/helmreleases.md`). */
import { labelsOf, metadataText } from '../krm/resource.ts'
import { parseApiVersion } from '../krm/resource-id.ts'
import type { DeployedRelease } from '../ports/cluster.ts'
import { fluxRelease, type ValuesRef } from '../render/flux/flux-release.ts'
import type { SyncerBuild } from '../render/syncer-build.ts'
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectsIn, partOf, textOf } from '../text/json.ts'
import { isFilled } from './own-resource.ts'
import { titleOfOwn } from './sync-path.ts'
import { declaredNamed, type RefusedSource, type SourcedRepository, type UnitSource } from './unit-source.ts'

export const HELM_TOOLKIT = 'helm.toolkit.fluxcd.io'
const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io'

/** @param parents units of the Kustomizations that the repository has */
export function releaseSources(
  releases: readonly JsonObject[],
  parents: readonly UnitSource[],
  repository: SourcedRepository,
): readonly (UnitSource | RefusedSource)[] {
  return releases.flatMap((own) => {
    if (parseApiVersion(textOf(own, 'apiVersion')).group !== HELM_TOOLKIT) return []
    const labels = labelsOf(own)
    const parent = parents.find(
      ({ id }) => id.name === labels.get(`${KUSTOMIZE}/name`) && id.namespace === labels.get(`${KUSTOMIZE}/namespace`),
    )
    return parent === undefined ? [] : [releaseSource(own, parent, repository)]
  })
}

/** Without a cluster nothing says what Helm made of them. Patches of a HelmRelease are none. @param units of the Kustomizations that files declare */
export function releasesOfFiles(releases: readonly JsonObject[], units: readonly UnitSource[]): readonly RefusedSource[] {
  if (units.length === 0) return []
  return releases.flatMap((own) => {
    const isWhole = isFilled(partOf(own, 'spec', 'chart')) || isFilled(partOf(own, 'spec', 'chartRef'))
    if (!isWhole || parseApiVersion(textOf(own, 'apiVersion')).group !== HELM_TOOLKIT) return []
    const why =
      'what Helm made of it is in the cluster: record the resources of Flux and the Secret of the release too, or compare with the cluster'
    return [{ title: `Flux HelmRelease ${titleOfOwn(own)}`, why }]
  })
}

function releaseSource(own: JsonObject, parent: UnitSource, repository: SourcedRepository): UnitSource | RefusedSource {
  const title = `Flux HelmRelease ${titleOfOwn(own)}`
  const [namespace, name] = [metadataText(own, 'namespace'), metadataText(own, 'name')]
  if (isFilled(partOf(own, 'spec', 'kubeConfig'))) return { title, why: 'it applies to another cluster (spec.kubeConfig)' }
  const valuesFrom = valuesFromOf(own, namespace)
  const declared = declaredNamed(
    own,
    repository.declared,
    (object) => isFilled(partOf(object, 'spec', 'chart')) || isFilled(partOf(object, 'spec', 'chartRef')),
  )
  const build: Omit<SyncerBuild, 'builder'> = {
    title,
    folder: parent.folder,
    object: own,
    variables: new Map(),
    inputs: valuesFrom.map((ref) => ({ group: '', kind: ref.kind, namespace: ref.namespace, name: ref.name })),
    ...(declared === undefined
      ? {}
      : { place: { path: declared.path, document: declared.document, item: undefined, line: declared.line } }),
  }
  return {
    title,
    id: { group: HELM_TOOLKIT, kind: 'HelmRelease', namespace, name },
    folder: parent.folder,
    isPart: true,
    partOf: parent,
    variablesFrom: [],
    valuesFrom,
    release: releaseOf({ namespace, name }, own),
    render: ({ values, release, parent: above }) => {
      const builder = fluxRelease({ deployed: release ?? NOT_DEPLOYED, valuesFrom, entries: values })
      return { tool: 'syncer', build: { ...build, parent: above, release: { revision: release?.revision ?? 0, entries: values }, builder } }
    },
    pinned: undefined,
  }
}

/** Stands for a release that could not be read: its build has a problem. */
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

function valuesFromOf(own: JsonObject, namespace: string): readonly ValuesRef[] {
  return objectsIn(partOf(own, 'spec', 'valuesFrom')).flatMap((ref): ValuesRef[] => {
    const kind = textOf(ref, 'kind')
    if (kind !== 'ConfigMap' && kind !== 'Secret') return []
    const key = textOf(ref, 'valuesKey') || 'values.yaml'
    const at = { targetPath: textOf(ref, 'targetPath'), optional: partOf(ref, 'optional') === true }
    return [{ kind, namespace, name: textOf(ref, 'name'), key, ...at }]
  })
}

/** The Helm release of a HelmRelease: its newest snapshot, else the name of the spec. */
export function releaseOf(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  own: JsonObject,
): { namespace: string; name: string } {
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
  const history = partOf(own, 'status', 'history')
  const newest = isJsonArray(history) && isJsonObject(history[0]) ? text(history[0]['name']) : ''
  const target = textOf(own, 'spec', 'targetNamespace')
  const composed = target === '' ? name : `${target}-${name}`
  return {
    namespace: textOf(own, 'status', 'storageNamespace') || textOf(own, 'spec', 'storageNamespace') || namespace,
    name: newest || textOf(own, 'spec', 'releaseName') || composed,
  }
}

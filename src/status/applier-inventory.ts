/**
 * The inventories that syncers keep in their own resources, and which folder of git they are of. Sources: kustomize-controller
 * `api/v1/inventory_types.go` (an entry's id is cli-utils `pkg/object/objmetadata.go`), helm-controller issue 1352 (the same list in a
 * HelmRelease, from 1.5 on), argo-cd `pkg/apis/application/v1alpha1/types.go` ResourceStatus, kpt-config-sync `pkg/api/configsync`.
 */

import type { LiveState } from '../krm/live-view.ts'
import { readResource } from '../krm/resource.ts'
import { type ResourceId, resourceKey } from '../krm/resource-id.ts'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../text/json.ts'
import { type Claim, claimsOf, partOf } from './applier-claims.ts'

export interface SyncerInventory {
  readonly resources: readonly ResourceId[]
  /** Of these the syncer itself says that its source does not have them; undefined where it does not say such a thing of any. */
  readonly extraneous: readonly ResourceId[] | undefined
  readonly source: SyncerSource
}

/** What a syncer applies, as far as its own resource tells. */
export interface SyncerSource {
  /** Folder in git, empty for the root; undefined where it does not say, or where there are several. */
  readonly folder: string | undefined
  /** What is done to the files of the folder, so that the objects may have other names than git has: `namePrefix`. Undefined: nothing. */
  readonly transformed: string | undefined
  /** Whether it puts objects without a namespace into one of its choice. */
  readonly choosesNamespace: boolean
}

/** @param own the syncer's own resource; undefined where it has none or it could not be read, which says nothing of the source */
export function sourceOf({ tool }: Pick<Claim, 'tool'>, own: JsonObject | undefined): SyncerSource {
  if (own === undefined) return { folder: undefined, transformed: undefined, choosesNamespace: tool !== 'kpt-live' }
  if (tool === 'flux-kustomization') {
    const transformed = ['namePrefix', 'nameSuffix', 'components'].find((name) => isFilled(partOf(own, 'spec', name)))
    // The path within an artifact of another kind is not one of git.
    const isGit = (partOf(own, 'spec', 'sourceRef', 'kind') ?? 'GitRepository') === 'GitRepository'
    return {
      folder: isGit ? folderOf(partOf(own, 'spec', 'path') ?? './') : undefined,
      transformed,
      choosesNamespace: isFilled(partOf(own, 'spec', 'targetNamespace')),
    }
  }
  if (tool === 'argo-application') {
    const sources = partOf(own, 'spec', 'sources')
    const several = isJsonArray(sources) && sources.length > 1
    const source = isJsonArray(sources) && sources.length > 0 ? sources[0] : partOf(own, 'spec', 'source')
    const type = partOf(own, 'status', 'sourceType')
    return {
      folder: several || !isJsonObject(source) ? undefined : folderOf(partOf(source, 'path')),
      transformed: type === undefined || type === 'Directory' ? undefined : String(type),
      choosesNamespace: true,
    }
  }
  if (tool === 'config-sync') {
    const git = partOf(own, 'spec', 'git')
    return { folder: isJsonObject(git) ? folderOf(partOf(git, 'dir') ?? '') : undefined, transformed: undefined, choosesNamespace: true }
  }
  return { folder: undefined, transformed: undefined, choosesNamespace: tool !== 'kpt-live' }
}

/** The inventory in the syncer's own resource; undefined where it has none, or not yet. */
export function inventoryIn(claim: Pick<Claim, 'tool'>, own: JsonObject): SyncerInventory | undefined {
  const source = sourceOf(claim, own)
  if (claim.tool === 'argo-application') {
    const listed = partOf(own, 'status', 'resources')
    if (!isJsonArray(listed)) return undefined
    const entries = listed.filter(isJsonObject).filter((entry) => entry['hook'] !== true)
    const ids = (some: readonly JsonObject[]): ResourceId[] => some.flatMap((entry) => argoEntry(entry) ?? [])
    return { resources: ids(entries), extraneous: ids(entries.filter((entry) => entry['requiresPruning'] === true)), source }
  }
  if (claim.tool !== 'flux-kustomization' && claim.tool !== 'flux-helmrelease') return undefined
  const entries = partOf(own, 'status', 'inventory', 'entries')
  if (!isJsonArray(entries)) return undefined
  const resources = entries.filter(isJsonObject).flatMap(({ id }) => (typeof id === 'string' ? (parseObjMetadata(id) ?? []) : []))
  return { resources, extraneous: undefined, source }
}

/** The Helm release that a HelmRelease last made: its newest snapshot, else what the spec would name it. Storage is in its own namespace. */
export function releaseOf({ namespace, name }: Pick<Claim, 'namespace' | 'name'>, own: JsonObject): { namespace: string; name: string } {
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
  const history = partOf(own, 'status', 'history')
  const newest = isJsonArray(history) && isJsonObject(history[0]) ? text(history[0]['name']) : ''
  const target = text(partOf(own, 'spec', 'targetNamespace'))
  const composed = target === '' ? name : `${target}-${name}`
  return {
    namespace: text(partOf(own, 'status', 'storageNamespace')) || text(partOf(own, 'spec', 'storageNamespace')) || namespace,
    name: newest || text(partOf(own, 'spec', 'releaseName')) || composed,
  }
}

/** `<namespace>_<name>_<group>_<Kind>`, where `__` in the name stands for `:`. */
export function parseObjMetadata(text: string): ResourceId | undefined {
  const match = /^([^_]*)_(.+)_([^_]*)_([^_]+)$/.exec(text)
  if (match === null) return undefined
  const [, namespace = '', encoded = '', group = '', kind = ''] = match
  const name = encoded.replaceAll('__', ':')
  return name.includes('_') ? undefined : { group, kind, namespace, name }
}

function argoEntry(entry: JsonObject): ResourceId | undefined {
  const text = (key: string): string => (typeof entry[key] === 'string' ? entry[key] : '')
  const [kind, name] = [text('kind'), text('name')]
  return kind === '' || name === '' ? undefined : { group: text('group'), kind, namespace: text('namespace'), name }
}

/** Whether an object bears the mark of the claim, and names itself where the mark does. */
export function isMarkedBy({ tool, kind, namespace, name }: Claim, object: JsonObject): boolean {
  const read = readResource(object)
  if ('problem' in read) return false
  const state: LiveState = { state: 'present', object, metadataOnly: true }
  return claimsOf(new Map([[resourceKey(read.id), state]])).some(
    (claim) => claim.tool === tool && claim.kind === kind && claim.namespace === namespace && claim.name === name,
  )
}

/** The labels with which a tool's objects can be listed; empty where its mark is an annotation, or is not always a label. */
export function selectorOf({ tool, namespace, name }: Pick<Claim, 'tool' | 'namespace' | 'name'>): string {
  switch (tool) {
    case 'flux-kustomization':
      return `kustomize.toolkit.fluxcd.io/name=${name},kustomize.toolkit.fluxcd.io/namespace=${namespace}`
    case 'flux-helmrelease':
      return `helm.toolkit.fluxcd.io/name=${name},helm.toolkit.fluxcd.io/namespace=${namespace}`
    case 'helm':
      return 'app.kubernetes.io/managed-by=Helm'
    default:
      return ''
  }
}

/** `./apps/web/` as git has it: `apps/web`; empty for the root, undefined for what leaves the repository or is none. */
function folderOf(path: Json | undefined): string | undefined {
  if (typeof path !== 'string') return undefined
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  return parts.includes('..') ? undefined : parts.join('/')
}

function isFilled(value: Json | undefined): boolean {
  if (isJsonArray(value)) return value.length > 0
  return value !== undefined && value !== null && value !== ''
}

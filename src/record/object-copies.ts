/**
 * Git has a copy before the cluster loses an object: for objects that git does not declare, and
 * those that their syncer can only delete and recreate.
 */
import {
  formatCanonicalJson,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { formatShownPath, type RedactionKey, showWithHidden } from '@backporch/kyaml/redaction'
import { getResourceKey, omitBookkeeping, type ResourceId } from '@backporch/kyaml/resource'
import type { ObjectVerdict } from '../drift/compare/drift.ts'
import { LAST_APPLIED } from '../syncers/kubectl.ts'
import { getChangeRef } from './build-report.ts'
import type { ObjectCopy } from './documents/drift-record.ts'
import { freezeDeep } from './known-texts.ts'
import { formatDocument } from './write-document.ts'

/**
 * Characters per record. The largest object that etcd stores by default (1.5 MiB,
 * `--max-request-bytes`) fits, and a record stays small enough to be cached parsed between turns
 * (known-texts.ts).
 */
const COPIES_LIMIT = 1_800_000

interface CopyOptions {
  readonly isWanted?: (id: ResourceId) => boolean
  readonly limit?: number
}

/** In verdict order. An object that does not fit is marked, and smaller ones are still stored. */
export function createObjectCopies(
  verdicts: readonly ObjectVerdict[],
  key: RedactionKey,
  { isWanted = () => true, limit = COPIES_LIMIT }: CopyOptions = {},
): ObjectCopy[] {
  let room = limit
  return verdicts.flatMap((verdict) => {
    const live = findReplacedObject(verdict)
    if (live === undefined || !isWanted(verdict.id)) return []
    const copy = makeCopy(verdict, live, key)
    const { length } = copy.manifest ?? ''
    if (length <= room) {
      room -= length
      return [copy]
    }
    const { ref, takesAlong } = copy
    const notRetained = `its manifest has ${length} characters, and of the ${limit} that a record keeps ${room} are left`
    return [{ ref, notKept: notRetained, ...(takesAlong === undefined ? {} : { takesAlong }) }]
  })
}

function findReplacedObject({ items, live, reapplyFails }: ObjectVerdict): JsonObject | undefined {
  const [first] = items
  if (first === undefined) return undefined
  if (first.change === 'unexpected') return isJsonObject(first.live) ? first.live : undefined
  return reapplyFails === undefined ? undefined : live
}

function makeCopy(verdict: ObjectVerdict, live: JsonObject, key: RedactionKey): ObjectCopy {
  const requested = `${verdict.apiVersion} ${getResourceKey(verdict.id)} ${verdict.desired === undefined}`
  return key.derived.get(live, 'copy', [requested, verdict.visibilityOf], () =>
    freezeDeep(createCopy(verdict, live, key)),
  )
}

function createCopy(
  { id, apiVersion, desired, visibilityOf }: ObjectVerdict,
  live: JsonObject,
  key: RedactionKey,
): ObjectCopy {
  const { shown, hidden } = showWithHidden(
    key,
    id,
    { ...omitServerMarks(id, live), apiVersion, kind: id.kind },
    visibilityOf,
  )
  const takesAlong = desired === undefined ? findDeletedWith(id, live) : undefined
  return {
    ref: getChangeRef(id),
    manifest: formatDocument(parseJson(formatCanonicalJson(shown)) as JsonObject),
    ...(hidden.length === 0 ? {} : { lost: hidden.map((path) => formatShownPath(key, id, path)) }),
    ...(takesAlong === undefined ? {} : { takesAlong }),
  }
}

const DELETION = new Set(['deletionTimestamp', 'deletionGracePeriodSeconds'])
/**
 * The server adds these to each Job, and refuses those with the uid in a new one (kubernetes
 * `pkg/registry/batch/job`, generateSelector).
 */
const JOB_LABELS = new Set(
  ['controller-uid', 'job-name'].flatMap((name) => [name, `batch.kubernetes.io/${name}`]),
)

/** Without what a new object may not have, or must not repeat. */
function omitServerMarks(id: ResourceId, live: JsonObject): JsonObject {
  const bare = mapAt(omitBookkeeping(live), 'metadata', (metadata) =>
    mapAt(omitNames(metadata, DELETION), 'annotations', (annotations) =>
      omitNames(annotations, new Set([LAST_APPLIED])),
    ),
  )
  if (id.group !== 'batch' || id.kind !== 'Job') return bare
  const unlabelled = (owner: JsonObject): JsonObject =>
    mapAt(owner, 'metadata', (metadata) =>
      mapAt(metadata, 'labels', (labels) => omitNames(labels, JOB_LABELS)),
    )
  return mapAt(unlabelled(bare), 'spec', (spec) =>
    getKey(spec, 'manualSelector') === true
      ? spec
      : mapAt(omitNames(spec, new Set(['selector'])), 'template', unlabelled),
  )
}

function mapAt(
  owner: JsonObject,
  name: string,
  change: (map: JsonObject) => JsonObject,
): JsonObject {
  const map = getKey(owner, name)
  if (!isJsonObject(map)) return owner
  const changed = change(map)
  return Object.keys(changed).length === 0
    ? omitNames(owner, new Set([name]))
    : { ...owner, [name]: changed }
}

function omitNames(map: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(map).filter(([name]) => !names.has(name)))
}

/** Deletion also deletes content that is in no manifest. By group and kind. */
const TAKES_ALONG: { readonly [kind: string]: string } = {
  '/Namespace': 'everything in the namespace is deleted with it',
  'apiextensions.k8s.io/CustomResourceDefinition': 'every object of its kind is deleted with it',
  '/PersistentVolumeClaim': 'the data of its volume may be lost with it',
  '/PersistentVolume': 'the data of the volume may be lost with it',
}

function findDeletedWith({ group, kind }: ResourceId, live: JsonObject): string | undefined {
  const retention = readMap(readMap(live, 'spec'), 'persistentVolumeClaimRetentionPolicy')
  if (group === 'apps' && kind === 'StatefulSet' && getKey(retention, 'whenDeleted') === 'Delete') {
    return 'its claims, and the data of their volumes, are lost with it'
  }
  return Object.hasOwn(TAKES_ALONG, `${group}/${kind}`)
    ? TAKES_ALONG[`${group}/${kind}`]
    : undefined
}

function readMap(owner: JsonObject, name: string): JsonObject {
  const value: Json | undefined = getKey(owner, name)
  return isJsonObject(value) ? value : {}
}

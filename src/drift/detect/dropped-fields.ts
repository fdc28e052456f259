/**
 * The last-applied manifest shows them. Others are left over: only the syncer wrote them, and no
 * apply removes them. Keys of a ConfigMap or a Secret: `stringData` only adds to `data`
 * (docs/facts/secret-string-data.md), and failed applies leave no trace; `data` has no defaults.
 * Also the account of pods, which the server restores from its second name.
 */
import {
  createFieldStep,
  type FieldPath,
  findPodPath,
  findValueAt,
  PathSet,
} from '@backporch/kyaml/field'
import { getKey, isJsonObject } from '@backporch/kyaml/json'
import { isSyncer, listOwners } from '../attribute/actor.ts'
import { LEFT_OVER, listDroppedPaths } from '../compare/last-applied.ts'
import type { Detector, ObjectComparison } from './object-comparison.ts'

interface DroppedField {
  readonly path: FieldPath
  /** The next apply then gives the field up. */
  readonly declared: boolean
}

export const detectDropped: Detector = (comparison, found) => {
  if (comparison.metadataOnly) return []
  const { applied, desired, live, observed } = comparison
  const paths =
    applied === undefined ? [] : listDroppedPaths(applied.object, desired, live, observed.schema)
  const dropped = paths
    .filter((path) => comparison.isSyncers(path) && !comparison.isOwnMark(path))
    .map((path): DroppedField => ({ path, declared: true }))
  const reported = new PathSet(found.map(({ path }) => path))
  return [...dropped, ...listLeftFields(comparison)].flatMap(({ path, declared }) => {
    if (reported.overlaps(path)) return []
    const note = applied?.note(path, LEFT_OVER) ?? LEFT_OVER
    const item = comparison.createExtraDrift(
      path,
      findValueAt(live, path),
      comparison.getOwnerOrUnknown(path),
      [note],
    )
    return [declared ? comparison.open(item) : item]
  })
}

function listLeftFields(comparison: ObjectComparison): readonly DroppedField[] {
  const { desired, managed, syncer, applied, observed } = comparison
  // An Update needs its last-applied state, and writers need owners.
  if (
    syncer === undefined ||
    (syncer.operation === 'Update' && applied === undefined) ||
    managed.entries.length === 0
  )
    return []
  return listCandidates(comparison).flatMap((path): DroppedField[] => {
    const known =
      findValueAt(desired, path) ??
      (applied === undefined ? undefined : findValueAt(applied.object, path))
    const owners = listOwners(managed, path)
    const left =
      syncer.operation === 'Apply'
        ? owners.length === 0
        : owners.length > 0 && owners.every((owner) => isSyncer(owner, syncer))
    if (known !== undefined || !left) return []
    const written =
      observed.desired.id.kind === 'Secret' ? [createFieldStep('stringData'), ...path.slice(1)] : []
    return [
      {
        path,
        declared:
          written.length > 0 &&
          listOwners(managed, written).some((owner) => isSyncer(owner, syncer)),
      },
    ]
  })
}

function listCandidates({
  observed: {
    desired: { id },
  },
  desired,
  live,
}: ObjectComparison): readonly FieldPath[] {
  if (id.group === '' && (id.kind === 'ConfigMap' || id.kind === 'Secret'))
    return ['data', 'binaryData'].flatMap((part) => {
      const entries = getKey(live, part)
      return Object.keys(isJsonObject(entries) ? entries : {}).map((key) => [
        createFieldStep(part),
        createFieldStep(key),
      ])
    })
  const pod = id.kind === 'Pod' ? undefined : findPodPath(id)
  if (
    pod === undefined ||
    findValueAt(desired, [...pod, createFieldStep('serviceAccount')]) !== undefined
  )
    return []
  const path = [...pod, createFieldStep('serviceAccountName')]
  return findValueAt(live, path) === undefined ? [] : [path]
}

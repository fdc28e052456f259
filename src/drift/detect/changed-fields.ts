import { buildFieldSet, type FieldPath, findValueAt, PathSet } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { createActor, findForeignOwner } from '../attribute/actor.ts'
import { compareObjects } from '../compare/compare-resource.ts'
import type { Actor, Drift } from '../compare/drift.ts'
import { isEmptyValue, listDifferingLeaves } from '../compare/equal-values.ts'
import { followsAnother } from '../compare/follows.ts'
import { isLastApplied } from '../unowned/server-written.ts'
import type { Detector, ObjectComparison } from './object-comparison.ts'
import { findWriterInOtherVersion } from './other-version.ts'

export const detectChanged: Detector = (comparison) => {
  const { proof, isTaken, observed } = comparison
  if (proof === 'dry-run')
    return observed.prediction?.state === 'predicted'
      ? compareWithPrediction(comparison, observed.prediction.object)
      : []
  return proof === 'none' || (proof === 'ownership' && isTaken)
    ? compareByOwnership(comparison, isTaken)
    : []
}

function compareWithPrediction(
  comparison: ObjectComparison,
  predicted: JsonObject,
): readonly Drift[] {
  const { live: object, desired, syncer, managed, observed } = comparison
  const own = compareObjects(object, predicted, observed.schema).filter(
    ({ path, live, predicted: git }) =>
      !followsAnother(
        { change: live === undefined ? 'removed' : 'modified', path },
        desired,
        object,
      ) &&
      !(git === undefined && comparison.isOwnMark(path)) &&
      // null means "absent" in a client-side apply's merge patch.
      !(git === null && live === undefined && syncer?.operation === 'Update') &&
      // It updates a client-side apply's annotation.
      !(
        git !== undefined &&
        findValueAt(desired, path) === undefined &&
        isLastApplied(path, git, observed.desired.id)
      ),
  )
  const gone = new PathSet()
  return own.flatMap(({ path, live, predicted: git }) => {
    if (live === undefined) return comparison.createRemovedDrifts(path, git, gone)
    // The apply gives up only the syncer's own fields, which git dropped.
    if (git === undefined)
      return comparison.open(
        comparison.createExtraDrift(path, live, comparison.getOwnerOrUnknown(path)),
      )
    const owner = findForeignOwner(managed, path, syncer)
    const actor =
      owner === undefined ? getWriterOrOwner(comparison, path) : createActor(owner, 'field-manager')
    const drift = comparison.createDrift(
      { change: 'modified', path, git: comparison.findGitValue(path, git), live },
      actor,
    )
    // The syncer may share the field with another manager.
    return comparison.isSyncers(path) ? comparison.open(drift) : drift
  })
}

/** Another version has another name for the value. */
function getWriterOrOwner(comparison: ObjectComparison, path: FieldPath): Actor {
  const writer = findWriterInOtherVersion(
    comparison.managed,
    comparison.observed.desired.apiVersion,
    comparison.syncer,
  )
  return writer === undefined
    ? comparison.getOwnerOrUnknown(path)
    : createActor(writer, 'last-writer')
}

/** @param isExact counts every value that live does not have as the server would store it */
function compareByOwnership(comparison: ObjectComparison, isExact: boolean): readonly Drift[] {
  const { desired, live: object, syncer, managed, metadataOnly, observed } = comparison
  const { schema } = observed
  const gone = new PathSet()
  return [...listDifferingLeaves(buildFieldSet(desired, schema), desired, object, schema)].flatMap(
    ({ path, declared, live }) => {
      if (live === undefined && !metadataOnly) {
        const isRemoved = isExact ? !isEmptyValue(declared) : comparison.wasRemoved(path, declared)
        return isRemoved ? comparison.createRemovedDrifts(path, declared, gone) : []
      }
      const owner = findForeignOwner(managed, path, syncer)
      if (owner === undefined && !isExact) return []
      const actor =
        owner === undefined
          ? comparison.getOwnerOrUnknown(path)
          : createActor(owner, 'field-manager')
      const drift = comparison.createDrift({ change: 'modified', path, git: declared, live }, actor)
      return isExact && comparison.isSyncers(path) ? comparison.open(drift) : drift
    },
  )
}

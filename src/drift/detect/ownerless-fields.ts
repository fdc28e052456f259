import { PathSet } from '@backporch/kyaml/field'
import { BEFORE_FIRST_APPLY } from '../../syncers/kubectl.ts'
import { createActor, findForeignOwner, isSyncer, UNKNOWN_ACTOR } from '../attribute/actor.ts'
import { OF_NOBODY } from '../compare/last-applied.ts'
import type { Detector } from './object-comparison.ts'
import { describeNotTried } from './verdict-failures.ts'

export const detectOwnerless: Detector = (comparison, found) => {
  const { managed, syncer, applied, unowned } = comparison
  const { prediction, creation } = comparison.observed
  const { differences, complete } = unowned
  const reported = new PathSet(found.map(({ path }) => path))
  const perhaps =
    creation === undefined || creation.prediction.state === 'predicted'
      ? []
      : [describeNotTried(creation.prediction.failure)]
  // If the syncer applied the object, it owns what it declared.
  const isApplied = managed.entries.some((entry) => isSyncer(entry, syncer))
  const gone = new PathSet()
  return differences
    .filter(
      ({ change, path }) =>
        !reported.overlaps(path) &&
        (complete || change === 'added' || prediction?.state !== 'predicted'),
    )
    .flatMap(({ change, path, git, live }) => {
      if (change === 'removed')
        return comparison.createRemovedDrifts(path, git, gone, UNKNOWN_ACTOR)
      const owner = findForeignOwner(managed, path, syncer)
      const actor =
        owner === undefined || owner.manager === BEFORE_FIRST_APPLY
          ? UNKNOWN_ACTOR
          : createActor(owner, 'field-manager')
      const notes =
        change === 'added' ? [applied?.note(path, OF_NOBODY) ?? OF_NOBODY, ...perhaps] : []
      const drift = comparison.createDrift({ change, path, git, live }, actor, notes)
      return isApplied ? drift : comparison.open(drift)
    })
}

/**
 * The proof of Adopt includes that the server accepts the objects as the plan would declare them.
 */
import { removeValueAt, writeValueAt } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { formatShownPath, showWithHidden } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import type { AdoptionAnswer } from '../../drift/authored/object-manifest.ts'
import type { Drift, ObjectVerdict } from '../../drift/compare/drift.ts'
import { isEncrypted } from '../../drift/detect/encrypted-fields.ts'
import { joinRemovals } from '../../sources/edits/joined-removals.ts'
import { explainNotWhole } from '../../sources/edits/not-adopted.ts'
import {
  createCannotFailure,
  getWrittenValue,
  isEdited,
  type ResolvedChange,
} from '../../sources/edits/resolution-edits.ts'
import type { Observation } from '../observation/observation.ts'
import type { PlannedChange } from './commands/pick-changes.ts'

const MOST_NAMED = 3

/**
 * @throws Failure BP2001, BP2002 or BP2010 where an object cannot be written; Unanswered where the server has to be asked first
 */
export function addManifests(
  { manifests, verdicts, key }: Pick<Observation, 'manifests' | 'verdicts' | 'key'>,
  changes: readonly PlannedChange[],
): readonly (PlannedChange & Pick<ResolvedChange, 'whole'>)[] {
  return changes.map((change) => {
    const { drift, resolution } = change
    if (drift.change !== 'unexpected' || resolution !== 'Adopt') return change
    const refused = explainNotWhole(drift)
    if (refused !== undefined) throw createCannotFailure(change, refused)
    if (manifests === undefined)
      throw createCannotFailure(change, {
        why: 'its cluster cannot be queried here',
        remedy: 'adopt it where the cluster can be read',
      })
    const whole = manifests.getManifest(drift)
    if ('failure' in whole) throw new Failure(whole.failure)
    const { hidden } = showWithHidden(
      key,
      drift.id,
      whole.manifest,
      findVerdict(drift, verdicts)?.visibilityOf,
    )
    if (hidden.length === 0) return { ...change, whole }
    const named = hidden.slice(0, MOST_NAMED).map((path) => formatShownPath(key, drift.id, path))
    throw createCannotFailure(change, {
      code: 'BP2002',
      why: `it has credentials (${named.join(', ')}), and a credential in git is readable by everybody who can read the repository`,
      remedy: 'move them into a Secret that the object refers to, or choose restore or release',
    })
  })
}

function findVerdict(drift: Drift, verdicts: readonly ObjectVerdict[]): ObjectVerdict | undefined {
  return verdicts.find(({ items }) => items.includes(drift))
}

export type AdoptedObject = Pick<ObjectVerdict, 'id'> & {
  readonly change: PlannedChange
  readonly answer: AdoptionAnswer
}

/**
 * The objects with an adopted field, each with the answer of the server.
 * @throws Unanswered where the server has to be asked first
 */
export function listAdoptedObjects(
  { adoptions, verdicts }: Pick<Observation, 'adoptions' | 'verdicts'>,
  changes: readonly PlannedChange[],
): readonly AdoptedObject[] {
  const edited = changes.filter((change) => isEdited(change) && change.drift.change !== 'missing')
  return [...Map.groupBy(edited, ({ desired }) => desired)].flatMap(([desired, own]) => {
    const change = own.find(({ resolution }) => resolution === 'Adopt')
    if (desired === undefined || change === undefined || isEncrypted(desired.object)) return []
    const verdict = verdicts.find(({ items }) => items.includes(change.drift))
    const { id, apiVersion } = desired
    const of = (answer: AdoptionAnswer): readonly AdoptedObject[] => [{ id, change, answer }]
    if (adoptions === undefined || verdict?.live === undefined)
      return of(createNotChecked('its cluster cannot be queried here'))
    return of(
      adoptions.answerTo(
        { id, apiVersion, object: computeObjectAfter(desired.object, own) },
        verdict.live,
      ),
    )
  })
}

function createNotChecked(why: string): AdoptionAnswer {
  return { state: 'not-checked', why }
}

function computeObjectAfter(object: JsonObject, changes: readonly PlannedChange[]): JsonObject {
  return joinRemovals(changes).reduce((before, change) => {
    const { path } = change.drift
    const wanted = getWrittenValue(change)
    return (
      wanted === undefined ? removeValueAt(before, path) : writeValueAt(before, path, wanted)
    ) as JsonObject
  }, object)
}

/** @throws Failure BP2001 where the server refuses an object; Unanswered where it has to be asked first */
export function checkAdopted(
  observation: Observation,
  changes: readonly PlannedChange[],
): readonly Note[] {
  return listAdoptedObjects(observation, changes).flatMap(({ id, change, answer }): Note[] => {
    if (answer.state === 'refused') throw refuseChange(change, answer.why)
    const text = `not checked by a server: ${answer.state === 'accepted' ? '' : answer.why}`
    return answer.state === 'accepted'
      ? []
      : [{ cause: 'adoption-not-checked', subject: describeResourceId(id), text }]
  })
}

function refuseChange(change: PlannedChange, why: string) {
  return createCannotFailure(change, {
    why: `the server refuses the object that git would declare then: ${why}`,
    remedy:
      'adopt the other changes of the object with it, or choose restore or release, or edit the file by hand',
  })
}

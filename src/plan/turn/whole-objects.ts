/** The manifests of objects that git does not declare and that are adopted, before they are written. */
import type { Drift, ObjectVerdict } from '../../drift/drift.ts'
import { Failure } from '../../failure.ts'
import { shownWithHidden } from '../../krm/redaction/shown-object.ts'
import { shownPath } from '../../krm/redaction/shown-path.ts'
import { cannot, type ResolvedChange } from '../../proposal/resolution-edits.ts'
import { whyNotWhole } from '../../proposal/whole/not-adopted.ts'
import type { PlannedChange } from '../commands/pick-changes.ts'
import type { Observation } from './observation.ts'

/** Credentials that a refusal names. */
const MOST_NAMED = 3

/**
 * @throws Failure BP2001, BP2002 or BP2010 where an object cannot be written; MissingManifest where the server has to be asked first
 */
export function withManifests(
  { manifests, verdicts, key }: Pick<Observation, 'manifests' | 'verdicts' | 'key'>,
  changes: readonly PlannedChange[],
): readonly (PlannedChange & Pick<ResolvedChange, 'whole'>)[] {
  return changes.map((change) => {
    const { drift, resolution } = change
    if (drift.change !== 'unexpected' || resolution !== 'Adopt') return change
    const refused = whyNotWhole(drift)
    if (refused !== undefined) throw cannot(change, refused)
    if (manifests === undefined)
      throw cannot(change, { why: 'its cluster cannot be asked here', remedy: 'adopt it where the cluster can be read' })
    const whole = manifests.manifestOf(drift)
    if ('failure' in whole) throw new Failure(whole.failure)
    const { hidden } = shownWithHidden(key, drift.id, whole.manifest, verdictOf(drift, verdicts)?.visibilityOf)
    if (hidden.length === 0) return { ...change, whole }
    const named = hidden.slice(0, MOST_NAMED).map((path) => shownPath(key, drift.id, path))
    throw cannot(change, {
      code: 'BP2002',
      why: `it has credentials (${named.join(', ')}), and a credential in git is readable by everybody who can read the repository`,
      remedy: 'move them into a Secret that the object refers to, or choose restore or release',
    })
  })
}

function verdictOf(drift: Drift, verdicts: readonly ObjectVerdict[]): ObjectVerdict | undefined {
  return verdicts.find(({ items }) => items.includes(drift))
}

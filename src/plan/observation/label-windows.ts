/** Windows that are open as long as an object has a label: what is known of labels without another read of the cluster. */
import type { FieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { labelsOf, type ResourceId, resourceKey } from '@backporch/kyaml/resource'
import type { Drift, ObjectVerdict } from '../../drift/compare/drift.ts'
import type { LabelWindow } from '../../policy/windows.ts'

type Labels = ReadonlyMap<string, string>

/**
 * Whether a window is open for an object of the unit: every one of its labels is on the live object, or every one of them on its
 * Namespace, where the package has that Namespace. An object that does not differ is not tested, so nothing is known.
 */
export function labelWindowOf(
  verdicts: readonly ObjectVerdict[],
): (window: LabelWindow, id: ResourceId) => boolean {
  const own = new Map<string, Labels>()
  const namespaces = new Map<string, Labels>()
  for (const verdict of verdicts) {
    const { live, id } = verdict
    if (live !== undefined) own.set(resourceKey(id), labelsOf(live))
    if (id.kind === 'Namespace' && id.group === '')
      namespaces.set(id.name, labelsOf(live ?? provenDesired(verdict)))
  }
  return ({ labels }, id) =>
    [own.get(resourceKey(id)), namespaces.get(id.namespace)].some((there) => has(there, labels))
}

/** What is in sync has the labels of git. */
function provenDesired({ state, desired }: ObjectVerdict): JsonObject {
  return state === 'in-sync' && desired !== undefined ? desired.object : {}
}

function has(there: Labels | undefined, wanted: Labels): boolean {
  return there !== undefined && [...wanted].every(([name, value]) => there.get(name) === value)
}

/** Whether the difference is the label itself that opens the window: git does not adopt it. */
export function opensWindow({ labels }: LabelWindow, { path }: Pick<Drift, 'path'>): boolean {
  return [...labels.keys()].some((name) => isAtOrAbove(path, ['metadata', 'labels', name]))
}

function isAtOrAbove(path: FieldPath, names: readonly string[]): boolean {
  return (
    path.length > 0 &&
    path.length <= names.length &&
    path.every((step, index) => step.kind === 'field' && step.name === names[index])
  )
}

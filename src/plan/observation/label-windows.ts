import type { FieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { getLabels, getResourceKey, type ResourceId } from '@backporch/kyaml/resource'
import type { Drift, ObjectVerdict } from '../../drift/compare/drift.ts'
import type { LabelWindow } from '../../policy/windows.ts'

type Labels = ReadonlyMap<string, string>

/**
 * All labels are on the live object, or all on its Namespace, if the package contains it. An object
 * without differences is not tested, so its result is unknown.
 */
export function createLabelWindowTest(
  verdicts: readonly ObjectVerdict[],
): (window: LabelWindow, id: ResourceId) => boolean {
  const own = new Map<string, Labels>()
  const namespaces = new Map<string, Labels>()
  for (const verdict of verdicts) {
    const { live, id } = verdict
    if (live !== undefined) own.set(getResourceKey(id), getLabels(live))
    if (id.kind === 'Namespace' && id.group === '')
      namespaces.set(id.name, getLabels(live ?? getProvenDesired(verdict)))
  }
  return ({ labels }, id) =>
    [own.get(getResourceKey(id)), namespaces.get(id.namespace)].some((there) => has(there, labels))
}

/** An in-sync object has git's labels. */
function getProvenDesired({ state, desired }: ObjectVerdict): JsonObject {
  return state === 'in-sync' && desired !== undefined ? desired.object : {}
}

function has(there: Labels | undefined, wanted: Labels): boolean {
  return there !== undefined && [...wanted].every(([name, value]) => there.get(name) === value)
}

/** Git does not adopt the window's own label. */
export function canOpenWindow({ labels }: LabelWindow, { path }: Pick<Drift, 'path'>): boolean {
  return [...labels.keys()].some((name) => isAtOrAbove(path, ['metadata', 'labels', name]))
}

function isAtOrAbove(path: FieldPath, names: readonly string[]): boolean {
  return (
    path.length > 0 &&
    path.length <= names.length &&
    path.every((step, index) => step.kind === 'field' && step.name === names[index])
  )
}

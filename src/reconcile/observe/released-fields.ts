import { formatFieldPath } from '@backporch/kyaml/field'
import { formatShownPath, type RedactionKey } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { ObjectVerdict, SetAside } from '../../drift/compare/drift.ts'
import { replaceItems } from '../../drift/noise/classify-ignored.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'

export function setReleasedAside(
  verdict: ObjectVerdict,
  merged: readonly DriftRecord[],
  key: RedactionKey,
): ObjectVerdict {
  const released = new Map(
    merged.flatMap(({ spec, metadata }) =>
      spec.changes
        .filter(({ resolution }) => resolution === 'Release' && spec.lifecycle === 'Proposed')
        .map((change) => [`${getResourceKey(change.ref)}#${change.path ?? ''}`, metadata.name]),
    ),
  )
  if (released.size === 0) return verdict
  const setAside: SetAside[] = []
  const items = verdict.items.filter((drift) => {
    // An older version wrote finalizers of a Secret unchanged.
    const paths = [formatShownPath(key, drift.id, drift.path), formatFieldPath(drift.path)]
    const by = paths
      .map((path) => released.get(`${getResourceKey(drift.id)}#${path}`))
      .find((name) => name !== undefined)
    if (by === undefined || (drift.change !== 'added' && drift.change !== 'unexpected')) return true
    setAside.push({ drift, state: 'Released', why: `git stopped managing it with ${by}` })
    return false
  })
  if (setAside.length === 0) return verdict
  return {
    ...verdict,
    ...replaceItems(verdict, items),
    setAside: [...verdict.setAside, ...setAside],
  }
}

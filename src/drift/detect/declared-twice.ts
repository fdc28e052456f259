/**
 * Each apply replaces the other unit's values, and no Restore ends that. The other unit's values
 * are not drift, because git contains both.
 */
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import type { Drift, ObjectVerdict, SyncerManager } from '../compare/drift.ts'
import { findDriftValue, rendersLive } from './version-values.ts'

export interface OtherDeclaration {
  readonly location: string
  readonly object: JsonObject
}

export function addOtherDeclarations(
  verdict: ObjectVerdict,
  others: readonly OtherDeclaration[],
  syncer: SyncerManager | undefined,
): ObjectVerdict {
  if (others.length === 0 || verdict.items.length === 0) return verdict
  const items: Drift[] = []
  const declared: { readonly drift: Drift; readonly location: string }[] = []
  for (const drift of verdict.items) {
    const other = isOfPerson(drift, syncer)
      ? undefined
      : others.find(({ object }) => isDeclared(object, drift))
    if (other !== undefined) declared.push({ drift, location: other.location })
    else
      items.push({
        ...drift,
        notes: [...drift.notes, `${formatLocations(others)} also declares the object`],
      })
  }
  const [first] = declared
  if (first === undefined) return { ...verdict, items }
  const paths = declared.map(({ drift }) => formatRedactedPath(drift.path, drift.id)).join(', ')
  const failure = new Failure({
    code: 'BP1113',
    what: 'two units declare the object with different values',
    where: first.location,
    why: `${first.location} also declares the object, and its value of ${paths} is live: the last apply wins, so Restore does not end it`,
    remedy: 'declare the object in one of the two units',
    retry: 'on-change',
  })
  return {
    ...verdict,
    items,
    state: items.length === 0 ? 'blocked' : verdict.state,
    failure,
    reapplyFails: undefined,
  }
}

/** Otherwise a manifest of another unit could hide an edit. */
function isOfPerson({ actor }: Drift, syncer: SyncerManager | undefined): boolean {
  return actor.class === 'human-tool' && actor.manager !== syncer?.manager
}

/** Never for an object that is absent or that git lacks. */
function isDeclared(object: JsonObject, drift: Drift): boolean {
  if (drift.path.length === 0) return false
  return drift.live === undefined
    ? findDriftValue(object, drift) === undefined
    : rendersLive(object, drift)
}

function formatLocations(others: readonly OtherDeclaration[]): string {
  return others.map(({ location }) => location).join(' and ')
}

/**
 * An object that two units of a cluster declare: each apply replaces the values of the other unit, and no Restore ends that. What the other unit
 * declares is no drift, because git says both.
 */
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { shownPathOnly } from '@backporch/kyaml/redaction'
import type { Drift, ObjectVerdict, SyncerManager } from '../compare/drift.ts'
import { rendersLive, valueIn } from './version-values.ts'

/** The declaration of an object by another unit of the same cluster. */
export interface OtherDeclaration {
  /** `apps/other/config.yaml:3`, from the root of the repository. */
  readonly location: string
  readonly object: JsonObject
}

/** @param others of the object of the verdict */
export function withOtherDeclarations(
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
        notes: [...drift.notes, `${listOf(others)} also declares the object`],
      })
  }
  const [first] = declared
  if (first === undefined) return { ...verdict, items }
  const paths = declared.map(({ drift }) => shownPathOnly(drift.path, drift.id)).join(', ')
  const failure = new Failure({
    code: 'BP1113',
    what: 'two units declare the object with different values',
    where: first.location,
    why: `${first.location} also declares the object, and what it says of ${paths} is live: what is applied last wins, so no Restore ends it`,
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

/** What a person wrote is that person's, whatever another unit declares: otherwise a manifest could hide an edit. */
function isOfPerson({ actor }: Drift, syncer: SyncerManager | undefined): boolean {
  return actor.class === 'human-tool' && actor.manager !== syncer?.manager
}

/** Whether live is what an apply of the other declaration gives. An object that is gone, or that git lacks, is neither's. */
function isDeclared(object: JsonObject, drift: Drift): boolean {
  if (drift.path.length === 0) return false
  return drift.live === undefined
    ? valueIn(object, drift) === undefined
    : rendersLive(object, drift)
}

function listOf(others: readonly OtherDeclaration[]): string {
  return others.map(({ location }) => location).join(' and ')
}

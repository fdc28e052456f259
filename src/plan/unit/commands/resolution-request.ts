import { Failure } from '@backporch/kyaml/failure'
import { getResourceKey } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import type { Resolution } from '../../../drift/compare/drift.ts'
import type { Change } from '../../../record/documents/change.ts'
import type { Choice, ResolutionRequest } from '../../observation/observation.ts'
import { isAllSelected, selectChanges } from './select-changes.ts'

export interface RequestedChoice {
  readonly resolution: Resolution
  readonly selectors: readonly string[]
  readonly via?: string | undefined
}

export interface ResolutionSelectors extends RequestedChoice {
  readonly message: string | undefined
  readonly also?: readonly RequestedChoice[]
  /** As the requester saw them; undefined: as a plain turn lists them. */
  readonly numbered?: readonly Change[]
  /** Empty if unknown (a ticked checkbox), undefined if not stored. */
  readonly by?: string
  /** Called for each choice; its error ends the request. */
  readonly assertAllowed?: (resolution: Resolution, chosen: readonly Change[]) => void
}

/**
 * @param current the open changes as a plain turn lists them
 * @throws Failure BP1011 for a selector that names nothing, or nothing that still differs
 */
export function resolveSelectors(
  request: ResolutionSelectors,
  current: readonly Change[],
): ResolutionRequest {
  const first = createChoice(request, request, current)
  const more = (request.also ?? []).map((choice) => createChoice(choice, request, current))
  return {
    ...first,
    message: request.message,
    ...(more.length === 0 ? {} : { more }),
    ...omitUndefined({ by: request.by }),
  }
}

function createChoice(
  { resolution, selectors, via }: RequestedChoice,
  request: ResolutionSelectors,
  current: readonly Change[],
): Choice {
  const { numbered, assertAllowed } = request
  const changes =
    numbered === undefined
      ? selectChanges(selectors, current)
      : new Set(
          findMeantChanges(selectors, numbered, current).map(({ fingerprint }) => fingerprint),
        )
  assertAllowed?.(
    resolution,
    current.filter(({ fingerprint }) => changes === undefined || changes.has(fingerprint)),
  )
  return {
    resolution,
    changes,
    ...omitUndefined({ via }),
    ...(isAllSelected(selectors) ? { isAll: true } : {}),
  }
}

/**
 * Matched by content, or by location if only the value changed.
 * @throws Failure BP1011 for a selector that names nothing, or nothing that still differs
 */
export function findMeantChanges(
  selectors: readonly string[],
  numbered: readonly Change[],
  current: readonly Change[],
): readonly Change[] {
  const named = selectChanges(selectors, numbered)
  const meant = numbered.filter(({ fingerprint }) => named === undefined || named.has(fingerprint))
  const locations = new Set(meant.flatMap((change) => [change.fingerprint, formatLocation(change)]))
  const found = current.filter(
    (change) => locations.has(change.fingerprint) || locations.has(formatLocation(change)),
  )
  // Otherwise the caller reports that nothing is open, with the reason.
  if (found.length === 0 && current.length > 0) throw createNothingLeftFailure(selectors)
  return found
}

function formatLocation({ change, ref, path }: Change): string {
  return `${change} ${getResourceKey(ref)}#${path ?? ''}`
}

function createNothingLeftFailure(selectors: readonly string[]): Failure {
  return new Failure({
    code: 'BP1011',
    what: `${selectors.length === 0 ? 'the proposed changes' : 'the named changes'} no longer differ`,
    why: 'the cluster or git changed after the proposal was written',
    remedy: 'review the proposal again, it is up to date now',
    retry: 'on-change',
  })
}

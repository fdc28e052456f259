/** What one applier does about the drift of one package, and the words and exceptions that the tools share. */
import type { Failure } from '../failure.ts'
import type { LiveState, WantedObject } from '../krm/live-view.ts'
import { shownPathOnly } from '../krm/redaction/shown-path.ts'
import { describeResourceId } from '../krm/resource-id.ts'
import { isJsonArray, isJsonObject, type JsonObject } from '../text/json.ts'
import { type Claim, partOf } from './applier-claims.ts'
import type { DriftedField } from './applier-ignores.ts'
import { listed, type Said, said } from './said.ts'

/**
 * When live goes back to what git says after a Restore is merged. `at-once`: as soon as the applier sees live differ or the
 * merge. `at-interval`: by itself, later. `when-told`: only after somebody ran a command. `never`: it leaves these
 * differences alone, or nobody applies. `unknown`: nobody could say, for the reason in the sentence.
 */
export type Restores = 'at-once' | 'at-interval' | 'when-told' | 'never' | 'unknown'

export interface Judgement {
  readonly restores: Restores
  /** Whether live goes back to git with no merge at all, perhaps before anyone reviews. */
  readonly revertsUnasked: 'yes' | 'no' | 'unknown'
  readonly sentence: Said
  readonly command: string | undefined
  readonly warnings: readonly Said[]
}

/** What is known of the syncer's own resource: each place where it may be, with the answer. */
export interface OwnResource {
  readonly wanted: WantedObject
  readonly state: LiveState
}

export interface Case {
  readonly claim: Claim
  readonly own: readonly OwnResource[]
  /** The differences of the objects that it applies. */
  readonly fields: readonly DriftedField[]
  /** How a person applies the package as its syncer did, with kubectl. */
  readonly byHand: string | undefined
}

/** A difference that the applier leaves alone. */
export interface Exception {
  readonly field: DriftedField
  readonly why: Said
}

/** `Flux Kustomization apps/web`; a place that is not known is left out. */
export function titleOf({ tool, kind, namespace, name }: Claim): Said {
  const place = namespace === '' ? name : `${namespace}/${name}`
  switch (tool) {
    case 'flux-kustomization':
    case 'flux-helmrelease':
      return said`Flux ${[kind]} ${place}`
    case 'argo-application':
      return said`Argo CD Application ${place}`
    case 'config-sync':
      return said`Config Sync ${[kind]} ${place}`
    case 'sveltos':
      return said`Sveltos ${[kind]} ${place}`
    case 'fleet':
      return said`Rancher Fleet bundle ${place}`
    case 'kapp':
      return said`kapp app ${place}`
    case 'helm':
      return said`Helm release ${place}`
    case 'kpt-live':
      return name === '' ? ['kpt live'] : said`kpt live (inventory ${name})`
  }
}

/** The first of the places where the resource is, or why it was not found in any. */
export function findOwn(
  own: readonly OwnResource[],
): { readonly object: JsonObject; readonly wanted: WantedObject } | { readonly failure: Failure | undefined } {
  for (const { wanted, state } of own) if (state.state === 'present') return { object: state.object, wanted }
  const unread = own.flatMap(({ state }) => (state.state === 'unreadable' ? [state.failure] : []))
  return { failure: unread[0] }
}

/** An error is not absence: what an unreadable resource would have said stays unknown. */
export function unreadable(title: Said, { code, why, remedy }: Failure): Judgement {
  return {
    restores: 'unknown',
    revertsUnasked: 'unknown',
    sentence: said`${title} applies the package, and what it does after the merge is not known: it could not be read (${code}: ${why})`,
    command: undefined,
    warnings: [said`to know what it does: ${remedy}`],
  }
}

/** @param elsewhere whether such a resource may lie in another cluster and apply to this one from there */
export function absent(title: Said, command: string | undefined, elsewhere: string | undefined): Judgement {
  const nobody = said`${title}, which the objects name as theirs, is not in this cluster`
  if (elsewhere === undefined) {
    return { restores: 'never', revertsUnasked: 'no', sentence: said`${nobody}: nobody applies the package`, command, warnings: [] }
  }
  return {
    restores: 'unknown',
    revertsUnasked: 'unknown',
    sentence: said`${nobody}: unless ${[elsewhere]}, nobody applies the package`,
    command,
    warnings: [],
  }
}

/** The judgement without the exceptions, or `never` where nothing else is left. */
export function withExceptions(
  judgement: Judgement,
  title: Said,
  fields: readonly DriftedField[],
  exceptions: readonly Exception[],
): Judgement {
  if (exceptions.length === 0) return judgement
  const told = listed(exceptions.map(({ field, why }) => said`${describeField(field)} (${why})`))
  const rest = said`${title} leaves alone, whatever is merged: ${told}`
  if (exceptions.length < fields.length) return { ...judgement, warnings: [...judgement.warnings, rest] }
  return { ...judgement, restores: 'never', revertsUnasked: 'no', sentence: rest, command: undefined }
}

export function describeField({ drift: { id, path } }: DriftedField): Said {
  return path.length === 0 ? said`${describeResourceId(id)}` : said`${describeResourceId(id)} ${shownPathOnly(path)}`
}

/** A Go duration as it is written, or undefined: `10m0s`. */
export function durationOf(object: JsonObject, ...names: readonly string[]): string | undefined {
  const value = partOf(object, ...names)
  return typeof value === 'string' && /^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$/.test(value) && value.length <= 30 ? value : undefined
}

/** Reason of a condition (`status.conditions`) that has this status; undefined where it has not. */
export function conditionReason(object: JsonObject, type: string, status: 'True' | 'False'): string | undefined {
  const conditions = partOf(object, 'status', 'conditions')
  const found = isJsonArray(conditions)
    ? conditions.filter(isJsonObject).find((one) => partOf(one, 'type') === type && partOf(one, 'status') === status)
    : undefined
  const reason = found === undefined ? undefined : partOf(found, 'reason')
  return found === undefined ? undefined : typeof reason === 'string' && reason !== '' ? reason : 'no reason given'
}

/**
 * Statuses, reasons and causes decide if they can; only the message identifies a policy, a webhook
 * and an unknown field (docs/facts/refused-applies.md).
 */
import type { Failure } from '@backporch/kyaml/failure'
import { filterObjects, getPartAt, getTextAt, type JsonObject } from '@backporch/kyaml/json'
import { hasSecretText } from '@backporch/kyaml/redaction'
import type { RefusalReason } from '@backporch/kyaml/resource'
import { compareText } from '@backporch/kyaml/text'
import {
  createAdmissionUnavailable,
  createRefusalFailure,
  createRefusedFailure,
  createResponseFailure,
  parseStatus,
  type RequestDescription,
  shorten,
  shouldHideText,
} from '../connection/kubernetes-failure.ts'
import type { ApiResponse } from '../connection/transport.ts'

type RefusedApply =
  | { readonly state: 'refused'; readonly reason: RefusalReason; readonly failure: Failure }
  | {
      readonly state: 'unproven'
      readonly failure: Failure /** Other objects of the kind fail too. */
      readonly webhookDown: boolean
    }

interface Cause {
  readonly reason: string
  readonly field: string
  readonly message: string
}

const POLICY =
  /ValidatingAdmissionPolicy '([^']{1,253})' with binding '[^']{1,253}' denied request(?:: ([\s\S]*))?/
const WEBHOOK = /admission webhook "([^"]{1,253})" denied the request(?:: ([\s\S]*))?/
const IMMUTABLE =
  /\b(field is immutable|is immutable after|may not be (changed|updated|modified)|may not change|cannot be (changed|updated|modified) (once|after)|cannot change|updates to .* are forbidden)/
const UNDECLARED = /(?:^|\n)\s*\.?(\S+): field not declared in schema/g
const UNKNOWN_FIELD = /^failed to create typed patch object \([^)]*\): (?:errors:)?\s*([\s\S]*)$/

const TYPED_PATCH = /^failed to create typed patch object \(/
const TWO_OF_ONE_KEY = /(?:^|\s)\.?(\S+): duplicate entries for key /g

/** Such as a quantity, a time, base64. The server gives no location. */
const UNREADABLE_VALUE =
  /^failed to convert new object \([^)]*\) to proper version: unable to convert unstructured object to [^:]*: ([\s\S]*)$/

export function readRefusal(response: ApiResponse, requested: RequestDescription): RefusedApply {
  const answer = parseStatus(response.body)
  const message = getTextAt(answer, 'message')
  const refused = (reason: RefusalReason, why: string, remedy: string): RefusedApply => {
    return { state: 'refused', reason, failure: createRefusedFailure(requested, why, remedy) }
  }
  const twice = TYPED_PATCH.test(message) ? listPlaces(message, TWO_OF_ONE_KEY) : []
  if (twice.length > 0) {
    const lists = twice.map((place) => shorten(place, requested)).join(', ')
    const why = `${lists} ${twice.length === 1 ? 'has' : 'have'} two items with one key, which a server-side apply refuses`
    return refused(
      'TwoOfOneKey',
      why,
      `remove one of the two items ${twice.length === 1 ? '' : 'of each list '}from git`,
    )
  }
  const unknown = UNKNOWN_FIELD.exec(message)
  if (unknown !== null) {
    const fields = listPlaces(unknown[1] ?? '', UNDECLARED)
    if (fields.length === 0) {
      const why = shouldHideText(requested, message)
        ? 'it does not fit the schema of its kind'
        : shorten(message, requested)
      return refused('Malformed', why, 'correct the object in git')
    }
    const shown = fields.map((field) => shorten(field))
    const named = fields.some(hasSecretText) ? 'a field' : shown.join(', ')
    return refused(
      'UnknownField',
      `the server does not know ${named}`,
      'correct the name of the field in git, or remove it',
    )
  }
  const unreadable = UNREADABLE_VALUE.exec(message)
  if (unreadable !== null) {
    const words = unreadable[1] ?? ''
    const why = shouldHideText(requested, words)
      ? 'a value does not fit its type'
      : `a value does not fit its type: ${shorten(words, requested)}`
    return refused('Malformed', why, 'correct the value in git')
  }
  if (response.status === 500) {
    const name = /failed calling webhook "([^"]{1,253})"/.exec(message)?.[1]
    if (name !== undefined)
      return {
        state: 'unproven',
        failure: createAdmissionUnavailable(requested, shorten(name)),
        webhookDown: true,
      }
    return {
      state: 'unproven',
      failure: createResponseFailure(response, requested),
      webhookDown: false,
    }
  }
  const causes = listCauses(answer)
  if (causes.some(({ reason }) => reason === 'NamespaceTerminating')) {
    const why = `NamespaceTerminating: namespace ${requested.resource?.namespace ?? ''} is being deleted`
    return refused(
      'NamespaceTerminating',
      why,
      'wait until the namespace is gone; if it stays, check its finalizers',
    )
  }
  if (response.status === 404)
    return {
      state: 'refused',
      reason: 'NamespaceMissing',
      failure: createResponseFailure(response, requested),
    }
  const denied = findDenyingPolicy(requested, [message, ...causes.map((cause) => cause.message)])
  if (denied !== undefined)
    return refused(
      'Denied',
      denied,
      'change the object in git so that it is allowed, or the policy',
    )
  const fixed = causes.filter((cause) => IMMUTABLE.test(cause.message))
  if (fixed.length > 0) {
    const reported = fixed
      .slice(0, 5)
      .map(
        ({ field, message: text }) =>
          `${hasSecretText(field) ? 'a hidden place' : field}: ${getEnd(text)}`,
      )
    return refused(
      'Immutable',
      `Immutable: ${reported.join('; ')}`,
      'delete the object so that the syncer recreates it, or put the live value into git',
    )
  }
  const failure = createRefusalFailure(response, requested)
  if (response.status === 409) return { state: 'refused', reason: 'Conflict', failure }
  if (response.status === 413) return { state: 'refused', reason: 'TooLarge', failure }
  if (response.status === 403 && /exceeded quota: /.test(message))
    return { state: 'refused', reason: 'QuotaExceeded', failure }
  return { state: 'refused', reason: 'Invalid', failure }
}

/** Sorted, because the server walks a Go map. */
function listPlaces(message: string, pattern: RegExp): readonly string[] {
  const places = new Set([...message.matchAll(pattern)].map((match) => match[1] ?? ''))
  return [...places].sort(compareText).slice(0, 5)
}

/** No message if it may quote a secret. */
function findDenyingPolicy(
  requested: RequestDescription,
  messages: readonly string[],
): string | undefined {
  for (const message of messages) {
    const policy = POLICY.exec(message)
    const webhook = WEBHOOK.exec(message)
    const [name, words] = policy === null ? [webhook?.[1], webhook?.[2]] : [policy[1], policy[2]]
    if (name === undefined) continue
    const who =
      policy === null ? `the admission webhook ${shorten(name)}` : `the policy ${shorten(name)}`
    return words === undefined || words.trim() === '' || shouldHideText(requested, words)
      ? `${who} denies it`
      : `${who} denies it: ${shorten(words, requested)}`
  }
  return undefined
}

/** The quoted value may be long or secret. */
function getEnd(message: string): string {
  return shorten(
    message.startsWith('Invalid value: ') ? message.slice(message.lastIndexOf(': ') + 2) : message,
  )
}

function listCauses(answer: JsonObject | undefined): readonly Cause[] {
  const causes = filterObjects(getPartAt(answer, 'details', 'causes'))
  return causes
    .map((cause) => ({
      reason: getTextAt(cause, 'reason'),
      field: getTextAt(cause, 'field'),
      message: getTextAt(cause, 'message'),
    }))
    .sort(
      (left, right) =>
        compareText(left.field, right.field) || compareText(left.message, right.message),
    )
}

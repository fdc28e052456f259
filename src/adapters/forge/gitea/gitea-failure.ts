/** Every failure of a Gitea as one of ours: by HTTP status, or by the class of the transport fault. */

import { Failure, type FailureCode, type Retry } from '../../../failure.ts'
import { foreignLine } from '../../../text/foreign-text.ts'
import type { ForgeAddress } from '../forge-address.ts'
import type { RefusedAnswer } from '../refused-answer.ts'

/** What was asked, for messages. */
export interface RequestDescription {
  readonly address: ForgeAddress
  /** `open a pull request`: follows "cannot". */
  readonly what: string
}

export function failureOfAnswer(requested: RequestDescription, refused: RefusedAnswer): Failure {
  const { status, reported } = refused
  const text = reported === '' ? `${status}` : `${status}: ${reported}`
  const make = (code: FailureCode, why: string, remedy: string, retry: Retry): Failure =>
    failure(requested, code, { why, remedy, retry, cause: refused })
  if (status === 401) return make('BP5002', `it does not accept the token (${text})`, 'give a token that is still valid', 'on-change')
  if (status === 403) return make('BP5003', `the token may not do it (${text})`, 'give the token the scope that is missing', 'on-change')
  if (status === 404) {
    const { owner, repository } = requested.address
    const why = `${owner}/${repository}, or what was asked for in it, is not there, or the token may not see it: Gitea says 404 for both`
    return make('BP5003', why, 'check the remote, and that the token has access to this repository', 'on-change')
  }
  if (status === 423) {
    return make('BP5008', 'it is archived', 'unarchive it, or take it out of the configuration', 'on-change')
  }
  if (status === 429) return make('BP5004', `it asked to slow down (${text})`, 'run again later', 'backoff')
  if (status >= 500) return make('BP5005', `it answered ${text}`, 'try again', 'backoff')
  return make('BP5006', `it refuses (${text})`, 'look at what it says, and at the rules of the repository', 'on-change')
}

/** BP5001. @param detail class of the fault, never text that holds an address with credentials */
export function unreachable(requested: RequestDescription, detail: string): Failure {
  return failure(requested, 'BP5001', {
    why: detail,
    remedy: `check the network between here and ${requested.address.host}, and try again`,
    retry: 'backoff',
  })
}

/** BP5007: a login page, a proxy, another program. */
export function notGitea(requested: RequestDescription, why: string): Failure {
  const remedy = 'check the address: a login page, a proxy or another forge may answer in its place'
  return failure(requested, 'BP5007', { why, remedy, retry: 'on-change' })
}

/** BP5008. */
export function goneElsewhere(requested: RequestDescription, why: string, remedy: string): Failure {
  return failure(requested, 'BP5008', { why, remedy, retry: 'on-change' })
}

/** BP5003 for a question that only an administrator of the repository gets an answer to. */
export function mayNotAsk(requested: RequestDescription, cause: unknown): Failure {
  const why = 'Gitea tells that to administrators of the repository only'
  return failure(requested, 'BP5003', {
    why,
    remedy: 'make the account of the token an administrator of the repository',
    retry: 'on-change',
    cause,
  })
}

/** BP5006 for what was refused by rules that no status says. */
export function refusedRequest(requested: RequestDescription, why: string, remedy: string): Failure {
  return failure(requested, 'BP5006', { why, remedy, retry: 'on-change' })
}

interface Reason {
  readonly why: string
  readonly remedy: string
  readonly retry: Retry
  readonly cause?: unknown
}

function failure({ address, what }: RequestDescription, code: FailureCode, reason: Reason): Failure {
  const where = `${address.owner}/${address.repository} on ${address.host}`
  return new Failure({ code, what: `cannot ${what}`, where, ...reason })
}

const LONGEST = 300

/** Message of an answer's body as one printable line; empty where there is none. */
export function reportedIn(body: string): string {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return ''
  }
  const message =
    typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string' ? value.message : ''
  return foreignLine(message.replace(/\b[0-9a-f]{40}\b/g, '***'), { limit: LONGEST })
}

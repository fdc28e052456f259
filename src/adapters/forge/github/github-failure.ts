/**
 * Every failure of GitHub as one of ours: by HTTP status and headers, or by the class of the transport fault. Source of the
 * meanings: docs.github.com, "Troubleshooting the REST API" and "Rate limits for the REST API".
 */

import { Failure, type FailureCode, type Retry } from '../../../failure.ts'
import { foreignLine } from '../../../text/foreign-text.ts'
import type { RefusedAnswer } from '../refused-answer.ts'
import type { GitHubAddress } from './github-address.ts'

/** What was asked, for messages. */
export interface RequestDescription {
  readonly address: GitHubAddress
  /** `open a pull request`: follows "cannot". */
  readonly what: string
}

/** @param sso whether the answer says that the organisation wants the token authorised for single sign-on */
export function failureOfAnswer(requested: RequestDescription, refused: RefusedAnswer, sso: boolean): Failure {
  const { status, reported } = refused
  const { owner, repository, host } = requested.address
  const text = reported === '' ? `${status}` : `${status}: ${reported}`
  const make = maker(requested, refused)
  if (status === 401) {
    return make('BP5002', `it does not accept the credentials (${text})`, 'give a token that is still valid', 'on-change')
  }
  if (status === 403 && sso) {
    const why = `the organisation wants the token authorised for its single sign-on (${text})`
    return make('BP5002', why, `authorise the token for ${owner} in the token settings of ${host}`, 'on-change')
  }
  if (status === 403) {
    return make('BP5003', `the account may not do it (${text})`, 'give the token the permission that is missing', 'on-change')
  }
  if (status === 404) {
    const why = `${owner}/${repository} is not there, or the token may not see it: GitHub says 404 for both`
    return make('BP5003', why, 'check the remote, and that the token has access to this repository', 'on-change')
  }
  if (status === 451) return make('BP5008', `it is blocked for legal reasons (${text})`, 'look at the repository in a browser', 'on-change')
  if (status >= 500) return make('BP5005', `it answered ${text}`, 'try again', 'backoff')
  return make('BP5006', `it refuses (${text})`, 'look at what it says, and at the rules of the repository', 'on-change')
}

/** BP5001. @param detail class of the fault, never text that holds an address with credentials */
export function unreachable(requested: RequestDescription, detail: string): Failure {
  return maker(requested)('BP5001', detail, `check the network between here and ${requested.address.host}, and try again`, 'backoff')
}

/** BP5007: a login page, a proxy, another program. */
export function notGitHub(requested: RequestDescription, why: string): Failure {
  return maker(requested)('BP5007', why, 'check the host: a login page, a proxy or another forge may answer in its place', 'on-change')
}

/** BP5008. */
export function goneElsewhere(requested: RequestDescription, why: string, remedy: string): Failure {
  return maker(requested)('BP5008', why, remedy, 'on-change')
}

/** BP5006 for what was refused by rules that no status says. */
export function refusedRequest(requested: RequestDescription, why: string, remedy: string, retry: Retry): Failure {
  return maker(requested)('BP5006', why, remedy, retry)
}

/** BP5002 before anything was asked. */
export function badCredentials(requested: RequestDescription, why: string, remedy: string): Failure {
  return maker(requested)('BP5002', why, remedy, 'on-change')
}

function maker(
  { address, what }: RequestDescription,
  cause?: unknown,
): (code: FailureCode, why: string, remedy: string, retry: Retry) => Failure {
  const where = `${address.owner}/${address.repository} on ${address.host}`
  return (code, why, remedy, retry) =>
    new Failure({ code, what: `cannot ${what}`, where, why, remedy, retry, ...(cause === undefined ? {} : { cause }) })
}

const LONGEST = 300
const TOKEN = /\b(gh[a-z]_\w{8,}|github_pat_\w{8,}|v1\.[0-9a-f]{40}|eyJ[\w-]{8,}(\.[\w-]+){0,2})/g

/** Message and listed errors of an answer's body as one printable line; empty where there is none. */
export function reportedIn(body: string): string {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return ''
  }
  if (typeof value !== 'object' || value === null) return ''
  const errors = 'errors' in value && Array.isArray(value.errors) ? value.errors.slice(0, 5).map(errorText) : []
  const message = 'message' in value && typeof value.message === 'string' ? value.message : ''
  return foreignLine(
    [message, ...errors]
      .filter((text) => text !== '')
      .join('; ')
      .replace(TOKEN, '***'),
    { limit: LONGEST },
  )
}

function errorText(error: unknown): string {
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return ''
  if ('message' in error && typeof error.message === 'string') return error.message
  const parts = ['resource', 'field', 'code'].map((key) => (error as Readonly<Record<string, unknown>>)[key])
  return parts.filter((part) => typeof part === 'string').join(' ')
}

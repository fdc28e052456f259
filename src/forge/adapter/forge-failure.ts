import { Failure, type FailureCode, type Retry } from '@backporch/kyaml/failure'
import { formatForeignLine } from '@backporch/kyaml/text'
import type { ForgeAddress } from './forge-address.ts'
import type { RefusedAnswer } from './refused-answer.ts'

export interface RequestDescription {
  readonly address: ForgeAddress
  readonly what: string
}

export type Reason = readonly [code: FailureCode, why: string, remedy: string]

export function createStatusFailure(
  requested: RequestDescription,
  refused: RefusedAnswer,
  own: Reason | undefined,
): Failure {
  const text = formatRefusedAnswer(refused)
  if (own !== undefined) return createFailure(requested, own, { cause: refused })
  if (refused.status >= 500)
    return createFailure(requested, ['BP5005', `it answered ${text}`, 'try again'], {
      retry: 'backoff',
      cause: refused,
    })
  const remedy = 'check its message and the rules of the repository'
  return createFailure(requested, ['BP5006', `it refuses (${text})`, remedy], { cause: refused })
}

export function formatRefusedAnswer({ status, reported }: RefusedAnswer): string {
  return reported === undefined ? `${status}` : `${status}: ${reported}`
}

/** @param detail never text that may contain an address with credentials */
export function createForgeUnreachable(requested: RequestDescription, detail: string): Failure {
  const remedy = `check the network between here and ${requested.address.host}, and try again`
  return createFailure(requested, ['BP5001', detail, remedy], { retry: 'backoff' })
}

/** Such as a login page or a proxy. */
export function createWrongForgeFailure(requested: RequestDescription, why: string): Failure {
  return createFailure(requested, [
    'BP5007',
    why,
    'check the address: a login page, a proxy or another forge may answer in its place',
  ])
}

export function createGoneFailure(
  requested: RequestDescription,
  why: string,
  remedy: string,
): Failure {
  return createFailure(requested, ['BP5008', why, remedy])
}

/** No status names these rules. */
export function createRefusedRequest(
  requested: RequestDescription,
  why: string,
  remedy: string,
  retry?: Retry,
): Failure {
  return createFailure(requested, ['BP5006', why, remedy], { retry })
}

export function createCredentialsFailure(
  requested: RequestDescription,
  why: string,
  remedy: string,
): Failure {
  return createFailure(requested, ['BP5002', why, remedy])
}

function createFailure(
  { address, what }: RequestDescription,
  [code, why, remedy]: Reason,
  {
    retry = 'on-change',
    cause,
  }: { readonly retry?: Retry | undefined; readonly cause?: RefusedAnswer } = {},
): Failure {
  const where = `${address.owner}/${address.repository} on ${address.host}`
  return new Failure({
    code,
    what: `cannot ${what}`,
    where,
    why,
    remedy,
    retry,
    ...(cause === undefined ? {} : { cause }),
  })
}

const LONGEST = 300

/** One printable line. @param secret pattern that no returned text repeats */
export function extractMessage(
  body: string,
  secret: RegExp,
  more: (answer: object) => readonly string[] = () => [],
): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const message = 'message' in value && typeof value.message === 'string' ? value.message : ''
  const texts = [message, ...more(value)].filter((text) => text !== '')
  return formatForeignLine(texts.join('; ').replace(secret, '***'), { limit: LONGEST }) || undefined
}

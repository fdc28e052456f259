/** Checks that the sender of a webhook knows the secret: HMAC-SHA256 over the raw body, before anything reads it. */
import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto'
import { ALL_FORGES } from '../registry/forges.ts'

/** Names in lower case, as node:http gives them. */
export type WebhookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * The signature in the headers: 32 bytes. Undefined where there is none, where one is not 64 lower-case hex digits, where a header came twice,
 * or where two headers differ: no forge sends that.
 */
export function givenSignature(headers: WebhookHeaders): Buffer | undefined {
  const given = ALL_FORGES.flatMap(({ webhook }) => webhook.signatures).flatMap(
    ([name, prefix]) => {
      const value = headers[name]
      return value === undefined
        ? []
        : [typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length) : '']
    },
  )
  const [hex = '', ...others] = new Set(given)
  return others.length === 0 && /^[0-9a-f]{64}$/.test(hex) ? Buffer.from(hex, 'hex') : undefined
}

/** One incoming body, against every secret: while one is exchanged for another, both are valid. */
export class SignatureCheck {
  private readonly codes: readonly Hmac[]

  constructor(secrets: readonly string[]) {
    this.codes = secrets.map((secret) => createHmac('sha256', secret))
  }

  update(chunk: Uint8Array): void {
    for (const code of this.codes) code.update(chunk)
  }

  /** To be called once. The time does not depend on the secret, nor on how much of the signature is right. */
  matches(given: Buffer): boolean {
    const equal = this.codes.map((code) => timingSafeEqual(code.digest(), given))
    return equal.includes(true)
  }
}

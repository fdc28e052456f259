/** HMAC-SHA256 over the raw body, before anything reads it. */
import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto'
import { ALL_FORGES } from '../registry/forges.ts'

export type WebhookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** Undefined if missing, malformed, repeated or contradictory: no forge sends that. */
export function findSignature(headers: WebhookHeaders): Buffer | undefined {
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

/** During a rotation several secrets are valid. */
export class SignatureCheck {
  private readonly codes: readonly Hmac[]

  constructor(secrets: readonly string[]) {
    this.codes = secrets.map((secret) => createHmac('sha256', secret))
  }

  update(chunk: Uint8Array): void {
    for (const code of this.codes) code.update(chunk)
  }

  /** Call once. Constant time. */
  matches(given: Buffer): boolean {
    const equal = this.codes.map((code) => timingSafeEqual(code.digest(), given))
    return equal.includes(true)
  }
}

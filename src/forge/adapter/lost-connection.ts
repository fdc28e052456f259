import { SlowAnswer } from '@backporch/system/read-text'

export class LostConnection extends Error {
  /** A slowly dripping server takes the time of a whole answer each time. */
  readonly isWorthTrying: boolean

  constructor(message: string, isWorthTrying = true) {
    super(message)
    this.isWorthTrying = isWorthTrying
  }
}

/**
 * Only the code: the error's text may repeat an address. @param silence milliseconds without a byte
 */
export function createLostConnection(thrown: unknown, silence: number): LostConnection {
  if (thrown instanceof SlowAnswer) return new LostConnection(thrown.message, false)
  const code =
    typeof thrown === 'object' && thrown !== null && 'code' in thrown
      ? String(thrown.code)
      : undefined
  if (code?.startsWith('UND_ERR_') && code.endsWith('TIMEOUT'))
    return new LostConnection(`no answer for ${silence / 1000} s`)
  return new LostConnection(
    code === undefined ? 'the connection failed' : `the connection failed (${code})`,
  )
}

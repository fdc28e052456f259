import { SlowAnswer } from '@backporch/system/read-text'

/** No answer, or half of one. The message is a class of fault. */
export class LostConnection extends Error {
  /** Whether another try is worth it: a server that drips takes the time of a whole answer each time. */
  readonly isWorthTrying: boolean

  constructor(message: string, isWorthTrying = true) {
    super(message)
    this.isWorthTrying = isWorthTrying
  }
}

/**
 * The message has the code alone (`ECONNREFUSED`, `UND_ERR_SOCKET`): the text of such an error may repeat an address.
 * @param silence milliseconds without a byte that the request was allowed
 */
export function lostConnection(thrown: unknown, silence: number): LostConnection {
  if (thrown instanceof SlowAnswer) return new LostConnection(thrown.message, false)
  const code =
    typeof thrown === 'object' && thrown !== null && 'code' in thrown ? String(thrown.code) : ''
  if (code.startsWith('UND_ERR_') && code.endsWith('TIMEOUT'))
    return new LostConnection(`no answer for ${silence / 1000} s`)
  return new LostConnection(
    code === '' ? 'the connection failed' : `the connection failed (${code})`,
  )
}

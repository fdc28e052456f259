/** Answers of a forge that are no success. */
import { Failure } from '@backporch/kyaml/failure'

/** An answer that is not a 2xx. It holds no header and no address: neither may reach a log. */
export class RefusedAnswer extends Error {
  readonly status: number
  /** One printable line from the body. */
  readonly reported: string

  constructor(status: number, reported: string) {
    super(`${status}${reported === '' ? '' : `: ${reported}`}`)
    this.name = 'RefusedAnswer'
    this.status = status
    this.reported = reported
  }
}

/** The answer behind a failure; undefined where none came. */
export function refusedAnswerOf(thrown: unknown): RefusedAnswer | undefined {
  return thrown instanceof Failure && thrown.cause instanceof RefusedAnswer
    ? thrown.cause
    : undefined
}

export function statusOf(thrown: unknown): number | undefined {
  return refusedAnswerOf(thrown)?.status
}

/** A request that writes may have succeeded although it failed: no answer came, or one of a fault. */
export function mayBeDone(thrown: unknown): boolean {
  return thrown instanceof Failure && (thrown.code === 'BP5001' || thrown.code === 'BP5005')
}

import { Failure } from '@backporch/kyaml/failure'

/** Holds no header or address, because neither may reach a log. */
export class RefusedAnswer extends Error {
  readonly status: number
  readonly reported: string | undefined

  constructor(status: number, reported: string | undefined) {
    super(`${status}${reported === undefined ? '' : `: ${reported}`}`)
    this.name = 'RefusedAnswer'
    this.status = status
    this.reported = reported
  }
}

export function findRefusedAnswer(thrown: unknown): RefusedAnswer | undefined {
  return thrown instanceof Failure && thrown.cause instanceof RefusedAnswer
    ? thrown.cause
    : undefined
}

export function findRefusedStatus(thrown: unknown): number | undefined {
  return findRefusedAnswer(thrown)?.status
}

/** A failed write may have succeeded: no answer came, or a server fault. */
export function mayBeDone(thrown: unknown): boolean {
  return thrown instanceof Failure && (thrown.code === 'BP5001' || thrown.code === 'BP5005')
}

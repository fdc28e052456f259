/** The answer to one question. It is computed again only if the question changes. */

interface RequestDescription<Answer> {
  readonly subject: unknown
  readonly given: readonly unknown[]
  readonly answer: Answer
  /** Milliseconds since 1970. */
  readonly until: number
}

export class LastAnswer<Answer> {
  #last: RequestDescription<Answer> | undefined

  /**
   * @param subject the same only as the same object
   * @param given the same where the values are
   */
  of(subject: unknown, given: readonly unknown[], work: () => Answer): Answer {
    const last = this.#last
    if (last !== undefined && last.subject === subject && isSame(last.given, given))
      return last.answer
    return this.keep(subject, given, work())
  }

  /** @param now milliseconds since 1970; an entry without an end is recalled at any time */
  remembered(subject: unknown, given: readonly unknown[], now = 0): Answer | undefined {
    const last = this.#last
    return last !== undefined &&
      last.until > now &&
      last.subject === subject &&
      isSame(last.given, given)
      ? last.answer
      : undefined
  }

  /** Replaces the answer before. @param until milliseconds since 1970 */
  keep(
    subject: unknown,
    given: readonly unknown[],
    answer: Answer,
    until = Number.POSITIVE_INFINITY,
  ): Answer {
    this.#last = { subject, given, answer, until }
    return answer
  }
}

/** Compares plain values (JSON, bigint, undefined, bytes, maps in order) by value, and everything else by identity. */
export function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return false
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => isSame(item, right[index]))
    )
  }
  if (left instanceof Uint8Array)
    return right instanceof Uint8Array && Buffer.compare(left, right) === 0
  if (left instanceof Map)
    return right instanceof Map && left.size === right.size && isSame([...left], [...right])
  if (!isPlain(left) || !isPlain(right)) return false
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]))
  )
}

function isPlain(value: object): value is { readonly [key: string]: unknown } {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

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
   * @param subject compared by identity
   * @param given compared by value
   */
  getAnswer(subject: unknown, given: readonly unknown[], work: () => Answer): Answer {
    const last = this.#last
    if (last !== undefined && last.subject === subject && isSame(last.given, given))
      return last.answer
    return this.keep(subject, given, work())
  }

  /** @param now milliseconds since 1970 */
  findRemembered(subject: unknown, given: readonly unknown[], now = 0): Answer | undefined {
    const last = this.#last
    return last !== undefined &&
      last.until > now &&
      last.subject === subject &&
      isSame(last.given, given)
      ? last.answer
      : undefined
  }

  /** @param until milliseconds since 1970 */
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

/** Plain values (JSON, bigint, undefined, bytes, maps in order) by value, others by identity. */
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

/** Cached results about values that are never changed in place. A process with several turns has one. */
export class Derived {
  readonly #known = new WeakMap<
    object,
    Map<string, { readonly of: readonly unknown[]; readonly value: unknown }>
  >()

  /** The result of `compute`, cached for `from` and a name until a member of `of` has another identity. */
  get<Value>(from: object, name: string, of: readonly unknown[], compute: () => Value): Value {
    const known = this.#known.get(from) ?? new Map()
    const before = known.get(name)
    if (before?.of.every((each: unknown, at: number) => each === of[at]) === true)
      return before.value
    const value = compute()
    this.#known.set(from, known.set(name, { of, value }))
    return value
  }
}

/** About values that are never changed in place. One per process. */
export class Derived {
  readonly #known = new WeakMap<
    object,
    Map<string, { readonly of: readonly unknown[]; readonly value: unknown }>
  >()

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

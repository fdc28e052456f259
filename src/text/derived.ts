/** Results computed from values that are never changed in place, cached as long as these live. A process with several turns has one. */
export class Derived {
  readonly #known = new WeakMap<object, Map<string, { readonly of: readonly unknown[]; readonly value: unknown }>>()

  /** What `compute` gives, kept with `from` under a name until one of `of`, compared by identity, is another. */
  get<Value>(from: object, name: string, of: readonly unknown[], compute: () => Value): Value {
    const known = this.#known.get(from) ?? new Map()
    const before = known.get(name)
    if (before?.of.every((each: unknown, at: number) => each === of[at]) === true) return before.value
    const value = compute()
    this.#known.set(from, known.set(name, { of, value }))
    return value
  }
}

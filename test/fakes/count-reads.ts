/** Counts from now on how often a property is read: what looks at each of n things for each of n others shows it, on a slow machine too. */
export function countReads<Of extends object>(of: Of, property: keyof Of): () => number {
  let value = of[property]
  let reads = 0
  Object.defineProperty(of, property, {
    enumerable: true,
    get: () => {
      reads += 1
      return value
    },
    set: (next: Of[keyof Of]) => {
      value = next
    },
  })
  return () => reads
}

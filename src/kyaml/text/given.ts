/** A document has no key without a value. */
export function omitUndefined<Parts extends object>(
  parts: Parts,
): { [Name in keyof Parts]?: Exclude<Parts[Name], undefined> } {
  return Object.fromEntries(
    Object.entries(parts).filter(([, value]) => value !== undefined),
  ) as ReturnType<typeof omitUndefined<Parts>>
}

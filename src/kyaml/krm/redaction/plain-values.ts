/** Only for comparisons: the map is private, and its owner has no text, no JSON and no keys. */
import { getKey, isJsonArray, isJsonObject, type Json } from '../../text/json.ts'
import { isEncryptedValue } from './sops.ts'

export class PlainValues {
  readonly #values: ReadonlyMap<string, Json>

  /** @param values by ciphertext, which is unique by its initialisation vector */
  constructor(values: ReadonlyMap<string, Json>) {
    this.#values = values
  }

  static join(all: readonly PlainValues[]): PlainValues {
    return new PlainValues(new Map(all.flatMap((each) => [...each.#values])))
  }

  get size(): number {
    return this.#values.size
  }

  findPlain(value: Json): Json | undefined {
    if (isEncryptedValue(value)) return this.#values.get(value)
    if (isJsonArray(value)) {
      const items = value.map((item) => this.findPlain(item))
      return items.every((item) => item !== undefined) ? items : undefined
    }
    if (!isJsonObject(value)) return value
    const entries = Object.entries(value).map(
      ([name, each]) => [name, this.findPlain(each)] as const,
    )
    return entries.every((entry): entry is readonly [string, Json] => entry[1] !== undefined)
      ? Object.fromEntries(entries)
      : undefined
  }
}

export function pairValues(
  encrypted: Json,
  decrypted: Json | undefined,
): ReadonlyMap<string, Json> {
  const found = new Map<string, Json>()
  const walk = (one: Json, other: Json | undefined): void => {
    if (other === undefined) return
    if (isEncryptedValue(one)) {
      if (!isEncryptedValue(other)) found.set(one, other)
    } else if (isJsonArray(one) && isJsonArray(other) && one.length === other.length)
      for (const [at, item] of one.entries()) walk(item, other[at])
    else if (isJsonObject(one) && isJsonObject(other))
      for (const [name, each] of Object.entries(one)) walk(each, getKey(other, name))
  }
  walk(encrypted, decrypted)
  return found
}

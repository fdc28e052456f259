import type { YamlCursor, YamlMark } from './read-yaml-cursor.ts'
import { withoutColon } from './read-yaml-refusal.ts'

/** The start of a possible key, which only its `:` confirms. */
interface SimpleKey {
  possible: boolean
  /** Whether it is at the indentation of its block, where only a key is valid. */
  readonly required: boolean
  /** Its index among all tokens. */
  readonly token: number
  readonly mark: YamlMark
}

/** The starts of possible keys: one outside of brackets, and one for each open bracket. */
export class SimpleKeys {
  /** Whether a key may begin at the cursor. */
  allowed = true
  private readonly cursor: YamlCursor
  private readonly keys: SimpleKey[] = [
    { possible: false, required: false, token: -1, mark: { at: 0, line: 0, column: 0 } },
  ]
  /** Index in `keys` by token. */
  private readonly keyOfToken = new Map<number, number>()

  constructor(cursor: YamlCursor) {
    this.cursor = cursor
  }

  /** Whether the token may become a key. */
  mayBecomeKey(token: number): boolean {
    const location = this.keyOfToken.get(token)
    const key = location === undefined ? undefined : this.keys[location]
    return key !== undefined && this.isStillPossible(key)
  }

  /** @param token index among all tokens of the one that begins at the cursor */
  save(token: number): void {
    if (!this.allowed) return
    this.drop()
    const { cursor } = this
    const required = cursor.flowLevel === 0 && cursor.indent === cursor.column
    this.keys[this.keys.length - 1] = { possible: true, required, token, mark: cursor.mark() }
    this.keyOfToken.set(token, this.keys.length - 1)
  }

  drop(): void {
    const key = this.keys.at(-1)
    if (key === undefined || !key.possible) return
    if (key.required) throw withoutColon(key.mark.at)
    key.possible = false
    this.keyOfToken.delete(key.token)
  }

  /** The start of the key that ends at the cursor, which has a `:`; undefined where there is none. */
  confirm(): SimpleKey | undefined {
    const key = this.keys.at(-1)
    if (key === undefined || !this.isStillPossible(key)) return undefined
    key.possible = false
    this.keyOfToken.delete(key.token)
    return key
  }

  /** For the keys in a bracket. */
  open(token: number): void {
    this.keys.push({ possible: false, required: false, token, mark: this.cursor.mark() })
  }

  close(): void {
    const key = this.keys.pop()
    if (key !== undefined) this.keyOfToken.delete(key.token)
  }

  private isStillPossible(key: SimpleKey): boolean {
    if (key.possible && (key.mark.line < this.cursor.line || key.mark.at + 1024 < this.cursor.at)) {
      if (key.required) throw withoutColon(key.mark.at)
      key.possible = false
    }
    return key.possible
  }
}

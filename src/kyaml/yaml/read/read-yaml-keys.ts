import type { YamlCursor, YamlMark } from './read-yaml-cursor.ts'
import { createNoColonRefusal } from './read-yaml-refusal.ts'

interface SimpleKey {
  possible: boolean
  /** At the indentation of its block only a key is valid. */
  readonly required: boolean
  readonly token: number
  readonly mark: YamlMark
}

/** One outside of brackets, and one per open bracket. */
export class SimpleKeys {
  allowed = true
  private readonly cursor: YamlCursor
  private readonly keys: SimpleKey[] = [
    { possible: false, required: false, token: -1, mark: { at: 0, line: 0, column: 0 } },
  ]
  private readonly keyOfToken = new Map<number, number>()

  constructor(cursor: YamlCursor) {
    this.cursor = cursor
  }

  mayBecomeKey(token: number): boolean {
    const location = this.keyOfToken.get(token)
    const key = location === undefined ? undefined : this.keys[location]
    return key !== undefined && this.isStillPossible(key)
  }

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
    if (key.required) throw createNoColonRefusal(key.mark.at)
    key.possible = false
    this.keyOfToken.delete(key.token)
  }

  confirm(): SimpleKey | undefined {
    const key = this.keys.at(-1)
    if (key === undefined || !this.isStillPossible(key)) return undefined
    key.possible = false
    this.keyOfToken.delete(key.token)
    return key
  }

  open(token: number): void {
    this.keys.push({ possible: false, required: false, token, mark: this.cursor.mark() })
  }

  close(): void {
    const key = this.keys.pop()
    if (key !== undefined) this.keyOfToken.delete(key.token)
  }

  private isStillPossible(key: SimpleKey): boolean {
    if (key.possible && (key.mark.line < this.cursor.line || key.mark.at + 1024 < this.cursor.at)) {
      if (key.required) throw createNoColonRefusal(key.mark.at)
      key.possible = false
    }
    return key.possible
  }
}

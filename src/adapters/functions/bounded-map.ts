/** A map that holds so many bytes, and forgets what was not asked for longest. */
export class BoundedMap<Value> {
  private readonly entries = new Map<string, { readonly value: Value; readonly bytes: number }>()
  private readonly most: number
  private held = 0

  constructor(most: number) {
    this.most = most
  }

  get(key: string): Value | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    this.entries.delete(key)
    this.entries.set(key, entry)
    return entry.value
  }

  /** What is larger than the whole map is not kept. */
  set(key: string, value: Value, bytes: number): void {
    this.forget(key)
    if (bytes > this.most) return
    this.entries.set(key, { value, bytes })
    this.held += bytes
    for (const oldest of this.entries.keys()) {
      if (this.held <= this.most) return
      this.forget(oldest)
    }
  }

  private forget(key: string): void {
    this.held -= this.entries.get(key)?.bytes ?? 0
    this.entries.delete(key)
  }
}

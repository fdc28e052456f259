/** Which deliveries were seen lately. Only verified ones are remembered, so a stranger cannot push others out. */
export class DeliveryWindow {
  private readonly capacity: number
  private readonly milliseconds: number
  /** Time of each name, oldest first. */
  private readonly seen = new Map<string, number>()

  constructor(capacity = 4_096, milliseconds = 3_600_000) {
    this.capacity = capacity
    this.milliseconds = milliseconds
  }

  get size(): number {
    return this.seen.size
  }

  /**
   * Remembers a delivery, and whether one of its names was there already. `now` in milliseconds.
   * @returns false for one that is repeated
   */
  isNew(names: readonly string[], now: number): boolean {
    for (const [name, at] of this.seen) {
      // A clock that was set back makes nothing older; the capacity still holds.
      if (now - at < this.milliseconds) break
      this.seen.delete(name)
    }
    const known = names.some((name) => this.seen.has(name))
    for (const name of names) if (!this.seen.has(name)) this.seen.set(name, now)
    for (const name of this.seen.keys()) {
      if (this.seen.size <= this.capacity) break
      this.seen.delete(name)
    }
    return !known
  }
}

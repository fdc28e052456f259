/** Only verified ones, so a stranger cannot displace others. */
export class DeliveryWindow {
  private readonly capacity: number
  private readonly milliseconds: number
  private readonly observed = new Map<string, number>()

  constructor(capacity = 4_096, milliseconds = 3_600_000) {
    this.capacity = capacity
    this.milliseconds = milliseconds
  }

  get size(): number {
    return this.observed.size
  }

  /** @param now milliseconds @returns false if one of the names is already stored */
  isNew(names: readonly string[], now: number): boolean {
    for (const [name, at] of this.observed) {
      // The clock may be set back; the capacity still holds.
      if (now - at < this.milliseconds) break
      this.observed.delete(name)
    }
    const known = names.some((name) => this.observed.has(name))
    for (const name of names) if (!this.observed.has(name)) this.observed.set(name, now)
    for (const name of this.observed.keys()) {
      if (this.observed.size <= this.capacity) break
      this.observed.delete(name)
    }
    return !known
  }
}

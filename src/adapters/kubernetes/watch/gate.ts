/** At most so many at a time; the others wait in their order. */
export class Gate {
  private free: number
  private readonly waiting: (() => void)[] = []

  constructor(width: number) {
    this.free = width
  }

  /** Resolves when it is the caller's turn. @returns to be called when that is over; safe to call again */
  async enter(): Promise<() => void> {
    if (this.free > 0) this.free -= 1
    else await new Promise<void>((resolve) => this.waiting.push(resolve))
    let over = false
    return () => {
      if (over) return
      over = true
      const next = this.waiting.shift()
      if (next === undefined) this.free += 1
      else next()
    }
  }
}

export class Gate {
  private free: number
  private readonly queue: (() => void)[] = []

  constructor(width: number) {
    this.free = width
  }

  get waiting(): number {
    return this.queue.length
  }

  /**
   * Rejects with the signal's reason if aborted before the turn. @returns ends the turn; safe to
   * call again
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.free > 0) this.free -= 1
    else await this.wait(signal)
    let over = false
    return () => {
      if (over) return
      over = true
      const next = this.queue.shift()
      if (next === undefined) this.free += 1
      else next()
    }
  }

  private wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveQueue = (): void => {
        this.queue.splice(this.queue.indexOf(admit), 1)
        reject(signal.reason)
      }
      const admit = (): void => {
        signal.removeEventListener('abort', leaveQueue)
        resolve()
      }
      this.queue.push(admit)
      signal.addEventListener('abort', leaveQueue, { once: true })
    })
  }
}

export class Backoff {
  private readonly first: number
  private readonly longest: number
  private readonly random: () => number
  private attempts = 0

  constructor({
    firstWait,
    longestWait,
    random,
  }: { readonly firstWait: number; readonly longestWait: number; readonly random: () => number }) {
    this.first = firstWait
    this.longest = longestWait
    this.random = random
  }

  /**
   * Milliseconds.
   * @param requested by the server; not shortened, only spread over a quarter more
   */
  computeWait(requested?: number): number {
    const wait =
      Math.min(this.longest, this.first * 2 ** Math.min(this.attempts, 30)) *
      (0.5 + this.random() / 2)
    this.attempts += 1
    return requested === undefined
      ? wait
      : Math.max(wait, Math.min(requested, LONGEST_REQUESTED) * (1 + this.random() / 4))
  }

  reset(): void {
    this.attempts = 0
  }
}

/** Retry-After in milliseconds. */
const LONGEST_REQUESTED = 300_000

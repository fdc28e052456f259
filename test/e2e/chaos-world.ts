/** Parts of the chaos test: chance with a seed, what happened, and the refs that a push over HTTP was about to move. */
import type { ProxiedRequest } from '../gitea/faulty-proxy.ts'

/** Numbers from 0 up to 1, the same for the same seed. Source: mulberry32, https://github.com/bryc/code/blob/master/jshash/PRNGs.md */
export class Chance {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `least` up to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  one<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.next() * items.length)] ?? items[0]
  }
}

export class History {
  readonly lines: string[] = []
  private readonly began = performance.now()

  say(line: string): void {
    this.lines.push(`${((performance.now() - this.began) / 1_000).toFixed(1)} s  ${line}`)
  }

  /** Does what may fail while servers are away. @returns whether it was done */
  async attempt(what: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      this.say(what)
      return true
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown)
      this.say(`not: ${what} (${why.replaceAll(/\s+/g, ' ').slice(0, 160)})`)
      return false
    }
  }
}

export interface RefMove {
  readonly ref: string
  readonly from: string
  readonly to: string
}

/** The commands of a push (gitprotocol-pack(5), "Reference Update Request and Packfile Transfer"). */
export function refMovesOf({ body }: ProxiedRequest): readonly RefMove[] {
  const moves: RefMove[] = []
  for (let at = 0; at + 4 <= body.length; ) {
    const length = Number.parseInt(body.toString('latin1', at, at + 4), 16)
    if (!(length > 4)) break
    const line = body.toString('utf8', at + 4, at + length)
    const [, from, to, ref] = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\0\n]+)/.exec(line) ?? []
    if (from !== undefined && to !== undefined && ref !== undefined) moves.push({ ref, from, to })
    at += length
  }
  return moves
}

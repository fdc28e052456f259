/** Parts of tests in which much happens at once: chance with a seed, what happened, the refs that a push over HTTP was about to move, and the undisturbed end. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { ProxiedRequest } from '../gitea/faulty-proxy.ts'
import type { UnitReport } from './watched-world.ts'
import type { World } from './world.ts'

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

const SHADE = (object: string): RegExp => new RegExp(`(name: ${object}\\n[^]*?color: )(\\w+)`)

/** What the file of a package says of one of its objects. */
export function colorIn(text: string, object: string): string {
  return SHADE(object).exec(text)?.[2] ?? 'red'
}

export function painted(text: string, object: string, color: string): string {
  return text.replace(SHADE(object), `$1${color}`)
}

/** What a scan says of a repository that has nothing but main, by the path of the package. */
export async function scanOfMain(world: World): Promise<ReadonlyMap<string, UnitReport>> {
  const copy = join(world.folder, 'copy.git')
  execFileSync('git', ['clone', '--quiet', '--bare', '--single-branch', '--branch', 'main', '--no-tags', world.repository, copy])
  await world.backporchIn(world.checkout, {}, 'scan', '--repo', copy)
  const run = await world.backporchIn(world.checkout, {}, 'status', '-o', 'json', '--no-exit-code', '--repo', copy)
  const { items } = JSON.parse(run.stdout) as { items: UnitReport[] }
  return new Map(items.map((item) => [item.spec.unit.package, item]))
}

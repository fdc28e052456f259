/** Parts of tests in which much happens at once: what happened, the wait for rest, the refs that a push over HTTP was about to move, and the undisturbed end. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FaultyProxy, ProxiedRequest } from '../gitea/faulty-proxy.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import type { UnitReport } from './watched-world.ts'
import type { World } from './world.ts'

export class History {
  /** Each with its time, as the logs of controllers have it. */
  readonly lines: string[] = []

  say(line: string): void {
    this.lines.push(`${new Date().toISOString().slice(11, 23)}  ${line}`)
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

/**
 * Until nothing moves while `count` grows by `rest`: rest is counted in what controllers do at rest too, so that a slow machine takes longer.
 * @param most how far it grows until that, at most
 */
export async function comeToRest(
  count: () => number,
  { rest, most }: { readonly rest: number; readonly most: number },
  state: () => Promise<unknown>,
): Promise<void> {
  const began = count()
  for (
    let [last, since, now]: [unknown, number, number] = [undefined, began, began];
    now - since < rest;
    now = count()
  ) {
    assert.ok(now - began < most, `it never came to rest: ${most} looks`)
    const observed = await state()
    if (!isDeepStrictEqual(observed, last)) [last, since] = [observed, now]
    await waitUntil('a controller looks at the repository again', () => count() > now)
  }
}

/** How often controllers asked for the refs of the repository. */
export function looksAt({ requests }: Pick<FaultyProxy, 'requests'>): number {
  return requests.filter(isLook).length
}

/** How often the controllers looked whether there is something to do: a turn asks for the refs once more. */
export function pollsOf(
  controllers: readonly { readonly stderr: string }[],
  proxy: Pick<FaultyProxy, 'requests'>,
): number {
  return (
    looksAt(proxy) -
    controllers.reduce((sum, { stderr }) => sum + stderr.split('"event":"turn"').length - 1, 0)
  )
}

/** gitprotocol-v2(5): what asks for the refs. */
function isLook({ path, body }: ProxiedRequest): boolean {
  return path.endsWith('/git-upload-pack') && body.includes('command=ls-refs')
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
  execFileSync('git', [
    'clone',
    '--quiet',
    '--bare',
    '--single-branch',
    '--branch',
    'main',
    '--no-tags',
    world.repository,
    copy,
  ])
  await world.backporchIn(world.checkout, {}, 'scan', '--repo', copy)
  const run = await world.backporchIn(
    world.checkout,
    {},
    'status',
    '-o',
    'json',
    '--no-exit-code',
    '--repo',
    copy,
  )
  const { items } = JSON.parse(run.stdout) as { items: UnitReport[] }
  return new Map(items.map((item) => [item.spec.unit.package, item]))
}

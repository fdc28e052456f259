/** Failures on stderr, as ux.md §2.7 has them: what, where, why, fix. Text from outside stays on its lines. */
import { Failure, formatFailure } from '../../failure.ts'
import { oneLine } from '../../text/one-line.ts'
import type { CommonOptions } from '../flags/options.ts'
import type { World } from '../world.ts'
import { Terminal } from './terminal.ts'

/** Failures that differ only in their place are told once, with the first places; with `verbose` each by itself. */
export function printFailures(failures: readonly Failure[], world: World, { verbose }: Pick<CommonOptions, 'verbose'> = {}): void {
  const terminal = new Terminal(world.stderr, { color: 'auto', ascii: false, env: world.env })
  for (const failure of verbose === true ? failures : byCause(failures)) {
    const [head = '', ...rest] = formatFailure(failure).split('\n')
    const lines = rest.map((line) => oneLine(line, 2_000))
    world.stderr.write(`${terminal.style('error', 'red', 'bold')}${oneLine(head.slice('error'.length), 2_000)}\n${lines.join('\n')}\n`)
  }
}

/** Places that one failure names. */
const PLACES = 3

function byCause(failures: readonly Failure[]): readonly Failure[] {
  const groups = Map.groupBy(failures, ({ code, what, why, remedy }) => JSON.stringify([code, what, why, remedy]))
  return [...groups.values()].map((group) => {
    const [first] = group as [Failure, ...Failure[]]
    const places = [...new Set(group.flatMap(({ where }) => (where === undefined ? [] : [where])))]
    if (places.length < 2) return first
    const more = places.length > PLACES ? `, and ${places.length - PLACES} more (-v prints each)` : ''
    const { code, what, why, remedy, retry } = first
    return new Failure({ code, what, where: `${places.slice(0, PLACES).join(', ')}${more}`, why, remedy, retry })
  })
}

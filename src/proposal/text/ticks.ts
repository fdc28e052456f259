/**
 * Anyone with write access may edit a body, and the person is unknown: a checkbox is bound to its
 * drift, and requests nothing that a later merge does not decide.
 */
type TickVerb = 'adopt' | 'restore' | 'recheck'

export interface Tick {
  readonly verb: TickVerb
  /** Eight hex digits. A tick for other drift has no effect. */
  readonly drift: string
  /** From 1, ascending; empty for `recheck`. */
  readonly changes: readonly number[]
}

const BOX_LIMIT = 50
const CHANGE_LIMIT = 10_000

export function tickBox(tick: Tick, text: string): string {
  const changes = tick.changes.length === 0 ? '' : `:${formatNumbers(tick.changes)}`
  return `- [ ] <!-- backporch:${tick.verb}=${tick.drift}${changes} --> ${text}`
}

export function formatNumbers(numbers: readonly number[]): string {
  const runs: [number, number][] = []
  for (const number of numbers.toSorted((left, right) => left - right)) {
    const last = runs.at(-1)
    if (last !== undefined && last[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  return runs.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(',')
}

/** Eight hex digits of `sha256:…`; zeros if the text is not a fingerprint. */
export function getDriftKey(fingerprint: string): string {
  return /^sha256:([0-9a-f]{8})/.exec(fingerprint)?.[1] ?? '00000000'
}

const BOX =
  /^ {0,3}[-*+] \[[xX]\] <!-- backporch:(adopt|restore|recheck)=([0-9a-f]{8})(?::([0-9][0-9,-]*))? -->/
const FENCE = /^ {0,3}(`{3,}|~{3,})/

/** Each once. Ignores checkboxes in code or quotes. */
export function readTicks(body: string): readonly Tick[] {
  const ticks = new Map<string, Tick>()
  for (const line of listLinesOutsideCode(body)) {
    const tick = readBox(line)
    if (tick !== undefined && ticks.size < BOX_LIMIT) ticks.set(JSON.stringify(tick), tick)
  }
  return [...ticks.values()]
}

export function listLinesOutsideCode(body: string): readonly string[] {
  const lines: string[] = []
  let fence: string | undefined
  for (const line of body.split(/\r?\n/)) {
    const mark = FENCE.exec(line)?.[1]
    if (fence === undefined) {
      fence = mark
      lines.push(line)
    } else if (mark?.startsWith(fence) === true && line.trim() === mark) fence = undefined
  }
  return lines
}

function readBox(line: string): Tick | undefined {
  const [, verb, drift = '', numbers = ''] = BOX.exec(line) ?? []
  if (verb !== 'adopt' && verb !== 'restore' && verb !== 'recheck') return undefined
  if (verb === 'recheck') return numbers === '' ? { verb, drift, changes: [] } : undefined
  const changes = readNumbers(numbers)
  return changes === undefined ? undefined : { verb, drift, changes }
}

/** Only ascending, so that repeated runs cannot multiply the work. */
function readNumbers(text: string): readonly number[] | undefined {
  const numbers: number[] = []
  for (const part of text.split(',')) {
    const [, from, to = from] = /^([1-9][0-9]{0,5})(?:-([1-9][0-9]{0,5}))?$/.exec(part) ?? []
    if (from === undefined || Number(to) < Number(from) || Number(from) <= (numbers.at(-1) ?? 0))
      return undefined
    if (numbers.length + Number(to) - Number(from) >= CHANGE_LIMIT) return undefined
    for (let number = Number(from); number <= Number(to); number += 1) numbers.push(number)
  }
  return numbers
}

/** What people see while tests run: failures at once, how far each tier is, and what took longest. */
import { TIERS, type Tier } from './tiers.ts'
import type { FileResult, TestResult } from './worker-process.ts'

interface Counts {
  files: number
  ended: number
  passed: number
  failed: number
  skipped: number
  cpuSeconds: number
}

interface ProgressOptions {
  readonly out: NodeJS.WriteStream
  /** A line that is updated, or a line now and then. */
  readonly isTerminal: boolean
  /** A skipped test is a failure: a test that did not run has shown nothing. */
  readonly failsSkipped: boolean
  /** Seconds since the run began. */
  readonly elapsed: () => number
  /** What is being built beside the tests. */
  readonly building: () => string | undefined
}

const TERMINAL_EVERY_MS = 500
const LINES_EVERY_MS = 30_000
const SLOWEST = 12
const SLOW_SECONDS = 3

export class Progress {
  readonly #options: ProgressOptions
  readonly #tiers = new Map<Tier, Counts>()
  readonly #running = new Map<string, number>()
  readonly #ended = new Map<string, FileResult>()
  readonly #failedFiles = new Set<string>()
  readonly #timer: NodeJS.Timeout
  #isLineOpen = false

  constructor(files: readonly { readonly tier: Tier }[], options: ProgressOptions) {
    this.#options = options
    for (const tier of TIERS) {
      const count = files.filter((file) => file.tier === tier).length
      if (count > 0)
        this.#tiers.set(tier, {
          files: count,
          ended: 0,
          passed: 0,
          failed: 0,
          skipped: 0,
          cpuSeconds: 0,
        })
    }
    this.#timer = setInterval(
      () => this.#showState(),
      options.isTerminal ? TERMINAL_EVERY_MS : LINES_EVERY_MS,
    )
  }

  began(file: string): void {
    this.#running.set(file, this.#options.elapsed())
  }

  tested(tier: Tier, file: string, { outcome, name, text }: TestResult): void {
    const counts = this.#countsOf(tier)
    if (outcome === 'failed' || (outcome === 'skipped' && this.#options.failsSkipped)) {
      counts.failed += 1
      this.#failedFiles.add(file)
      this.say(
        `\n✖ ${file}: ${name}\n${indent(outcome === 'skipped' ? `It was skipped, which shows nothing: ${text}` : text)}`,
      )
    } else counts[outcome] += 1
  }

  ended(tier: Tier, file: string, result: FileResult): void {
    const counts = this.#countsOf(tier)
    counts.ended += 1
    counts.cpuSeconds += result.cpuSeconds
    this.#running.delete(file)
    this.#ended.set(file, result)
    if (this.#failedFiles.has(file) && result.output !== '')
      this.say(`  What ${file} printed:\n${indent(result.output)}`)
  }

  /** Files that need something that this machine cannot have. */
  notRun(tier: Tier, files: readonly string[], why: string): void {
    const counts = this.#countsOf(tier)
    counts.ended += files.length
    if (this.#options.failsSkipped) counts.failed += 1
    else counts.skipped += files.length
    this.say(
      `tier ${tier}: ${files.length} files skipped (${why})${this.#options.failsSkipped ? ', which is a failure in CI' : ''}`,
    )
  }

  failedLate(text: string): void {
    const [counts] = this.#tiers.values()
    if (counts !== undefined) counts.failed += 1
    this.say(`\n✖ An error came after the end of its test.\n${indent(text)}`)
  }

  say(text: string): void {
    if (this.#isLineOpen) this.#options.out.write('\r\x1b[2K')
    this.#isLineOpen = false
    this.#options.out.write(`${text}\n`)
  }

  /** Prints the table of the tiers and what took longest. @returns all tests together */
  end(): {
    readonly passed: number
    readonly failed: number
    readonly skipped: number
    readonly cpuSeconds: number
  } {
    clearInterval(this.#timer)
    const all = { passed: 0, failed: 0, skipped: 0, cpuSeconds: 0 }
    for (const [tier, counts] of this.#tiers) {
      const { files, passed, failed, skipped, cpuSeconds } = counts
      this.say(
        `tier ${tier}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${files} files, ${Math.round(cpuSeconds)} s of CPU`,
      )
      for (const key of ['passed', 'failed', 'skipped', 'cpuSeconds'] as const)
        all[key] += counts[key]
    }
    const slowest = [...this.#ended]
      .filter(([, { seconds }]) => seconds >= SLOW_SECONDS)
      .sort(([, one], [, other]) => other.seconds - one.seconds)
      .slice(0, SLOWEST)
    if (slowest.length > 0)
      this.say(
        `slowest: ${slowest.map(([file, { seconds, cpuSeconds }]) => `${file} ${Math.round(seconds)} s (CPU ${Math.round(cpuSeconds)} s)`).join(', ')}`,
      )
    return all
  }

  /** Seconds and CPU seconds of each file that was tested. */
  get durations(): ReadonlyMap<string, FileResult> {
    return this.#ended
  }

  #showState(): void {
    const counts = [...this.#tiers.values()]
    const sum = (key: keyof Counts): number => counts.reduce((total, each) => total + each[key], 0)
    const tiers = [...this.#tiers].map(([tier, { ended, files }]) =>
      ended === files ? `${tier} ✔` : `${tier} ${ended}/${files}`,
    )
    const now = this.#options.elapsed()
    const running = [...this.#running].sort(([, one], [, other]) => one - other)
    const longest = running
      .slice(0, 2)
      .map(([file, began]) => `${file} ${Math.round(now - began)} s`)
    const parts = [
      formatTime(now),
      `${sum('passed')} passed, ${sum('failed')} failed`,
      tiers.join(', '),
      ...longest,
    ]
    const building = this.#options.building()
    if (building !== undefined) parts.push(`building ${building}`)
    const line = parts.join(' · ')
    if (!this.#options.isTerminal) {
      this.say(line)
      return
    }
    this.#options.out.write(`\r\x1b[2K${line.slice(0, (this.#options.out.columns ?? 80) - 1)}`)
    this.#isLineOpen = true
  }

  #countsOf(tier: Tier): Counts {
    const counts = this.#tiers.get(tier)
    if (counts === undefined) throw new Error(`no file of this run is of the tier ${tier}`)
    return counts
  }
}

function formatTime(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ')
}

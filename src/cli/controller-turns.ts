/** The turns of the daemon: what each does, and what is told of it. A quiet turn prints nothing, and an error is told once. */

import { PressQueue } from '../controller/press-queue.ts'
import { type Failure, Failures, failuresOf } from '../failure.ts'
import { type Note, sentenceOf } from '../note.ts'
import { type UnitResult, unitFailures } from '../plan/turn/unit-result.ts'
import type { AuditSource } from '../ports/audit-source.ts'
import { BetweenTurns } from '../reconcile/observe/between-turns.ts'
import type { TurnResult } from '../reconcile/run-turn.ts'
import { oneLine } from '../text/one-line.ts'
import type { ControllerOptions } from './flags/controller-options.ts'
import { type KeptSession, keepSession } from './kept-session.ts'
import { printFailures } from './print/print-failures.ts'
import { printNotes } from './print/print-notes.ts'
import { writtenWord } from './print/print-turn.ts'
import { runScan, type Scanned } from './run-scan.ts'
import type { World } from './world.ts'

/** Milliseconds that a session is kept: credentials, kubeconfig, kinds of the cluster and default branch are read again after it. */
const SESSION_AGE = 600_000
/** Milliseconds between two notes of one kind of refused webhook. */
const REFUSED_EVERY = 600_000
/** Units that one line names. */
const NAMED = 10

/** Nothing but another command line or machine helps: told at once, at the start. */
const UNUSABLE: ReadonlySet<string> = new Set(['BP1001', 'BP1002', 'BP1006', 'BP1008', 'BP1009', 'BP1010', 'BP1012', 'BP4009', 'BP4010'])
/** What the session remembers of these is why the next turn waits. */
const SLOW_DOWN: ReadonlySet<string> = new Set(['BP3004', 'BP5004'])

export class ControllerTurns {
  /** Why the first turn cannot ever be. */
  unusable: unknown
  /** Where audit events come from that are sent here. */
  audit: AuditSource | undefined
  /** What people pressed since the last turn, and what that one could not do. */
  readonly presses = new PressQueue()
  private readonly packages: readonly string[]
  private readonly options: ControllerOptions
  private readonly world: World
  private readonly onUnusable: () => void
  /** Outlives the sessions. */
  private readonly between = new BetweenTurns()
  private kept: KeptSession | undefined
  private keptSince = 0
  private running = false
  private succeeded = false
  private told: ReadonlySet<string> = new Set()
  private readonly noted = new Set<string>()
  private notes: ReadonlySet<string> = new Set()
  private readonly refusedAt = new Map<string, number>()

  constructor(packages: readonly string[], options: ControllerOptions, world: World, onUnusable: () => void) {
    this.packages = packages
    this.options = options
    this.world = world
    this.onUnusable = onUnusable
  }

  /** One turn. Rejects when nothing at all came of it, and then a later one may. */
  readonly one = async (signal: AbortSignal): Promise<void> => {
    this.running = true
    try {
      const settled: string[] = []
      // What is settled is told with the time in front, like everything else.
      const stdout = { isTTY: false, write: (text: string) => settled.push(text.trim()) }
      const { result, unsettled } = await this.scan({ ...this.world, stdout, signal })
      this.tell([...whatWasDone(result), ...settled], result)
      const failures = [
        ...result.notObserved.flatMap((one) => one.failures),
        ...result.units.flatMap(unitFailures),
        ...result.reported,
        ...unsettled,
      ]
      this.tellFailures(failures)
      const [first, ...rest] = failures
      if (first !== undefined && !result.units.some(({ state }) => state === 'planned')) throw new Failures([first, ...rest])
      this.succeeded = true
    } catch (thrown) {
      if (signal.aborted) throw thrown
      await this.failed(thrown)
      throw thrown
    } finally {
      this.running = false
    }
  }

  /** Somebody asked to stop. */
  readonly stopping = (): void => {
    if (this.running && this.options.quiet !== true) {
      this.world.stderr.write('stopping when the running turn is done; interrupt again to stop at once\n')
    }
  }

  readonly webhookRefused = (why: string): void => this.refused('a webhook was refused', why)

  /** Once for each reason in a while. */
  private refused(what: string, why: string): void {
    const now = this.now()
    const before = this.refusedAt.get(`${what} ${why}`)
    if (before !== undefined && now - before < REFUSED_EVERY) return
    this.refusedAt.set(`${what} ${why}`, now)
    this.world.stderr.write(`${this.time()}  ${what}: ${oneLine(why, 300)}\n`)
  }

  readonly auditRefused = (why: string): void => this.refused('audit events were refused', why)

  async close(): Promise<void> {
    const { kept } = this
    this.kept = undefined
    await kept?.close()
  }

  private async scan(world: World): Promise<Scanned> {
    // A recording is read when it is opened.
    if (this.options.live !== undefined || this.now() - this.keptSince >= SESSION_AGE) await this.close()
    if (this.kept === undefined) {
      this.kept = await keepSession({ ...world, stderr: this.onceEach() }, this.options, this.packages)
      this.keptSince = this.now()
    }
    const { onProgress, ...request } = this.kept.session.request
    const steps = this.options.verbose === true && onProgress !== undefined ? { onProgress } : {}
    return runScan(
      {
        ...this.kept.session,
        request: { ...request, ...steps, between: this.between, ...(this.audit === undefined ? {} : { audit: this.audit }) },
        presses: this.presses,
      },
      this.options,
      world,
    )
  }

  private async failed(thrown: unknown): Promise<void> {
    const failures = failuresOf(thrown)
    if (!this.succeeded && this.kept === undefined && failures.every(({ code }) => UNUSABLE.has(code))) {
      this.unusable = thrown
      this.onUnusable()
      return
    }
    this.tellFailures(failures)
    if (!failures.some(({ code }) => SLOW_DOWN.has(code))) await this.close()
  }

  private tell(done: readonly string[], result: TurnResult): void {
    if (done.length > 0) {
      const more = done.length > NAMED ? `, and ${done.length - NAMED} more` : ''
      this.world.stdout.write(`${this.time()}  ${done.slice(0, NAMED).join(', ')}${more}\n`)
    }
    const notes = result.units.flatMap(notesOf)
    const fresh = notes.filter((note) => !this.notes.has(sentenceOf(note)))
    printNotes(fresh, this.options, this.world, `${this.time()}  `)
    this.notes = new Set(notes.map(sentenceOf))
  }

  /** Those that the turn before did not have. */
  private tellFailures(failures: readonly Failure[]): void {
    const now = new Map(failures.map((failure) => [`${failure.code} ${failure.where} ${failure.message}`, failure]))
    const fresh = [...now].flatMap(([text, failure]) => (this.told.has(text) ? [] : [failure]))
    if (fresh.length > 0) {
      this.world.stderr.write(`${this.time()}  this turn had errors:\n`)
      printFailures(fresh, this.world)
    }
    if (this.told.size > 0 && now.size === 0) this.world.stderr.write(`${this.time()}  the errors are gone\n`)
    this.told = new Set(now.keys())
  }

  /** A session is opened again and again, and has the same to say. */
  private onceEach(): World['stderr'] {
    const { stderr } = this.world
    if (this.options.verbose === true) return stderr
    return {
      isTTY: stderr.isTTY,
      columns: stderr.columns,
      write: (text) => {
        if (this.noted.has(text)) return
        this.noted.add(text)
        stderr.write(text)
      },
    }
  }

  private now(): number {
    return this.world.clock.now().getTime()
  }

  private time(): string {
    return `${this.world.clock.now().toISOString().slice(0, 19)}Z`
  }
}

/** What the turn wrote, one clause for each package; a package whose status alone changed says that. */
export function whatWasDone(result: TurnResult): string[] {
  if (result.updates.length === 0) return []
  return result.units.flatMap((unit) => {
    if (unit.state === 'failed' || unit.refused !== undefined) return []
    const { outcome, branch, outcomes, writes } = unit.plan
    const name = `${oneLine(unit.unit.packageName, 300)} in ${oneLine(unit.unit.cluster, 300)}`
    const word = outcome === 'unchanged' ? undefined : writtenWord(unit)
    const ended = outcomes
      .map(({ episode }) => episode.status.outcome.toLowerCase())
      .filter((end) => word === undefined || end === 'merged')
    const proposal = result.proposals.get(branch)
    const place = proposal === undefined ? branch : [proposal.label, proposal.url].filter((text) => text !== '').join(' ')
    const done = [
      ...ended.map((end) => `${end} ${name}`),
      ...(word === undefined ? [] : [`${word} ${name}${place === '' ? '' : ` (${oneLine(place, 500)})`}`]),
    ]
    return done.length > 0 ? done : writes.ledgerLines.map((line) => oneLine(line, 300))
  })
}

function notesOf(unit: UnitResult): readonly Note[] {
  return unit.state === 'failed' ? [] : [...unit.notes, ...unit.plan.notes]
}

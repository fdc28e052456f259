import type { AuditSource } from '@backporch/cluster/audit'
import type { DriftEvent } from '@backporch/cluster/drift-events'
import { type Failure, Failures, listFailures } from '@backporch/kyaml/failure'
import { formatNoteSentence, type Note } from '@backporch/kyaml/note'
import { formatLoggableName, type Loggable } from '@backporch/kyaml/redaction'
import type { Clock } from '@backporch/system/clock'
import type { Trace } from '@backporch/system/trace'
import type { UnitResult } from '../plan/unit/unit-result.ts'
import type { Log } from '../ports/log.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { PackageMarks } from '../ports/package-marks.ts'
import { TurnCache } from '../reconcile/observe/turn-cache.ts'
import { listSourceNotes } from '../reconcile/repository/sources/discover-sources.ts'
import type { PolledRepository } from '../reconcile/turn/poll-repository.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'
import { ChangesMeanwhile } from './changes-meanwhile.ts'
import { createDriftEvents } from './drift-events.ts'
import { LastingFailures, listTurnFailures } from './lasting-failures.ts'
import { RequestedActionQueue } from './requested-action-queue.ts'
import { countTurn, createAnsweredEvent, isIncomplete, NOTHING } from './turn-counts.ts'
import { type IntakeOptions, type IntakePorts, TurnIntake, type TurnScope } from './turn-intake.ts'
import { findPhase, type TurnMeter } from './turn-meter.ts'
import type { TurnSession } from './turn-session.ts'
import type { TurnTracer } from './turn-tracer.ts'

export interface TurnsPorts {
  readonly clock: Clock
  readonly log: Log
  /** @throws Failure if a port cannot be opened */
  openSession(
    hooks: { readonly onNote: (note: Note) => void; readonly onRequest: Trace },
    signal: AbortSignal,
  ): Promise<TurnSession>
  readonly intake: IntakePorts
  /** Undefined if no process follows this one. */
  readonly marks?: PackageMarks | undefined
}

export interface TurnsOptions {
  /**
   * Milliseconds. Then credentials, kubeconfig, cluster kinds and default branch are read again.
   */
  readonly sessionAge: number
  readonly dryRun: boolean
  readonly intake: IntakeOptions
}

const FIRST_STEP = 'reading the repository'
/** Milliseconds. */
const EVENTS_WITHIN = 5_000

/** Only another command line or machine helps. */
const UNUSABLE: ReadonlySet<string> = new Set([
  'BP1001',
  'BP1002',
  'BP1006',
  'BP1008',
  'BP1009',
  'BP1010',
  'BP1012',
  'BP4009',
  'BP4010',
])
/** The session knows until when the next turn waits. */
const SLOW_DOWN: ReadonlySet<string> = new Set(['BP3004', 'BP5004'])

export class ControllerTurns {
  unusable: unknown
  audit: AuditSource | undefined
  meter: TurnMeter | undefined
  tracer: TurnTracer | undefined
  readonly requestedActions = new RequestedActionQueue()
  private readonly ports: TurnsPorts
  private readonly options: TurnsOptions
  private readonly onUnusable: () => boolean
  /** Outlives the sessions. */
  readonly intake: TurnIntake
  /** Heads of people's pull requests without a status. */
  waitingHeads = 0
  private readonly between = new TurnCache({ pacesLedger: true })
  private retained: TurnSession | undefined
  private retainedSince = 0
  private isOutdated = false
  private running = false
  private readonly meanwhile: ChangesMeanwhile
  succeeded = false
  currentStep = formatLoggableName(FIRST_STEP)
  private requests = 0
  private readonly failures: LastingFailures
  private readonly phases = new Set<string>()
  /** Each new session reports the same ones again. */
  private readonly noted = new Set<string>()
  private notes: ReadonlySet<string> = new Set()
  private planned: string | undefined

  /**
   * @param hooks `onUnusable`: no turn can ever succeed; returns whether the process ends.
   * `request` asks for a turn
   */
  constructor(
    ports: TurnsPorts,
    options: TurnsOptions,
    { onUnusable, request }: { readonly onUnusable: () => boolean; readonly request: () => void },
  ) {
    this.ports = ports
    this.options = options
    this.onUnusable = onUnusable
    this.between.marks = ports.marks
    this.intake = new TurnIntake(ports.intake, options.intake, this.between, request)
    this.meanwhile = new ChangesMeanwhile(this.intake.queue, () => performance.now())
    this.failures = new LastingFailures(ports.log, (lasting) => this.meter?.reportFailures(lasting))
  }

  measure(meter: TurnMeter, metrics: Metrics): void {
    this.meter = meter
    this.intake.metrics = metrics
  }

  /** Rejects if it observed nothing; a later turn may succeed. */
  readonly runOne = async (signal: AbortSignal): Promise<void> => {
    const [began, requests, start] = [this.getNow(), this.requests, performance.now()]
    this.running = true
    this.currentStep = formatLoggableName(FIRST_STEP)
    this.meanwhile.begin()
    this.phases.clear()
    this.meter?.begin()
    this.tracer?.begin()
    let scope: TurnScope = { about: 'everything' }
    let result: TurnResult | undefined
    let thrown: unknown
    let polled: PolledRepository['view'] | undefined
    try {
      const session = await this.getSession(signal)
      scope = await this.intake.chooseNextScope(async () => {
        const { view, ...digest } = await session.poll(
          { requestedActions: this.requestedActions, between: this.between },
          signal,
        )
        polled = view
        return digest
      })
      if (scope.about === 'nothing') {
        if (polled !== undefined) this.failures.recordUnchanged()
        await this.serveOthers(polled, signal)
        return
      }
      result = await this.scan(session, scope, signal)
    } catch (failed) {
      thrown = failed
    } finally {
      this.running = false
    }
    const isReading = [...this.phases].every((phase) => phase === 'read')
    await this.intake.finishTurn(scope, result, start, isReading)
    const spent = { milliseconds: this.getNow() - began, requests: this.requests - requests }
    if (result === undefined) {
      const outcome = signal.aborted ? 'aborted' : 'failed'
      this.meter?.finishTurn(outcome)
      this.tracer?.finishTrace(scope.about === 'units' ? 'units' : 'everything', outcome)
      const isLast = outcome === 'failed' && (await this.handleFailure(thrown, isReading))
      if (!isLast) this.ports.log.turn({ ...NOTHING, ...spent, outcome })
      throw thrown
    }
    const all = listTurnFailures(result).map(({ failure }) => failure)
    const [first, ...rest] = all
    const isWhole = scope.about === 'everything'
    const nothing =
      isWhole && first !== undefined && !result.units.some(({ state }) => state === 'planned')
    const outcome = nothing
      ? 'failed'
      : first === undefined && !result.units.some(isIncomplete)
        ? 'succeeded'
        : 'partial'
    this.meter?.finishTurn(outcome, result, isWhole)
    this.tracer?.finishTrace(isWhole ? 'everything' : 'units', outcome, result)
    for (const answer of result.answers) this.ports.log.process(createAnsweredEvent(answer))
    this.ports.log.turn({
      ...spent,
      ...countTurn(result),
      outcome,
      plan: this.findFreshPlan(result),
    })
    this.reportNotes(
      [
        ...listSourceNotes(result.view),
        ...result.units.flatMap(listNotes),
        ...result.plan.decided.flatMap(({ plan }) => plan.notes),
      ],
      isWhole,
    )
    this.failures.recordEndedTurn(scope, result)
    await this.announce(result, signal)
    await this.serveOthers(polled ?? (isWhole ? result.view : undefined), signal)
    if (!nothing) {
      this.succeeded = true
      this.unusable = undefined
      return
    }
    await this.closeAfter(all)
    throw new Failures([first, ...rest])
  }

  /** A new session reads credentials, kubeconfig and keys again and retries what was rejected. */
  refresh(): void {
    this.isOutdated = true
    this.between.refusedRefs.clear()
    this.intake.requestPoll()
  }

  readonly announceStopping = (): void => {
    if (this.running) this.ports.log.process({ event: 'stopping' })
  }

  async close(): Promise<void> {
    await this.intake.close()
    await this.closeSession()
  }

  private async closeSession(): Promise<void> {
    const { retained } = this
    this.retained = undefined
    await retained?.close()
  }

  private async getSession(signal: AbortSignal): Promise<TurnSession> {
    // The clock may have been set back.
    const isOld =
      this.isOutdated || Math.abs(this.getNow() - this.retainedSince) >= this.options.sessionAge
    if (isOld) await this.closeSession()
    this.isOutdated = false
    if (this.retained !== undefined) return this.retained
    const session = await this.ports.openSession(
      { onNote: this.logSessionNote, onRequest: this.request },
      signal,
    )
    this.retained = session
    this.retainedSince = this.getNow()
    await this.intake.open(session.clusters, session.key, signal)
    return session
  }

  private scan(session: TurnSession, scope: TurnScope, signal: AbortSignal): Promise<TurnResult> {
    const { between, requestedActions, audit } = this
    const only = scope.about === 'units' ? scope.only : undefined
    const unreachable = this.intake.listUnreachable()
    const watched = this.intake.listSeen()
    return session.turn(
      {
        between,
        requestedActions,
        audit,
        only,
        watched,
        unreachable,
        meanwhile: this.meanwhile,
        onProgress: this.step,
      },
      signal,
    )
  }

  private readonly step = (step: string): void => {
    this.phases.add(findPhase(step) ?? 'read')
    this.meter?.step(step)
    this.tracer?.step(step)
    this.currentStep = formatLoggableName(step)
    this.ports.log.process({ event: 'step', step: this.currentStep })
  }

  private readonly request: Trace = (request) => {
    this.requests += 1
    this.meter?.request(request)
    this.tracer?.request(request)
    this.ports.log.request(request)
  }

  readonly logSessionNote = (note: Note): void => {
    const text = formatNoteSentence(note)
    if (this.noted.has(text)) return
    this.noted.add(text)
    this.ports.log.logNotes([note])
  }

  /**
   * @param isReading it got no further than git and the forge
   * @returns whether the process ends and reports the failure itself
   */
  private async handleFailure(thrown: unknown, isReading: boolean): Promise<boolean> {
    const failures = listFailures(thrown)
    const isUnusable =
      !this.succeeded &&
      this.retained === undefined &&
      failures.every(({ code }) => UNUSABLE.has(code))
    this.unusable = isUnusable ? thrown : undefined
    if (isUnusable && this.onUnusable()) return true
    if (!isReading) this.intake.requestWhole()
    this.failures.recordFailedTurn({ thrown, isReading, clusters: this.retained?.clusters ?? [] })
    await this.closeAfter(failures)
    return false
  }

  private async closeAfter(failures: readonly Failure[]): Promise<void> {
    if (!failures.some(({ code }) => SLOW_DOWN.has(code))) await this.closeSession()
  }

  private async announce(result: TurnResult, signal: AbortSignal): Promise<void> {
    const announce = this.options.dryRun ? undefined : this.retained?.announce
    const events =
      announce === undefined ? new Map<string, readonly DriftEvent[]>() : createDriftEvents(result)
    if (announce === undefined || events.size === 0) return
    for (const note of await announce(
      events,
      AbortSignal.any([signal, AbortSignal.timeout(EVENTS_WITHIN)]),
    ))
      this.logSessionNote(note)
  }

  /**
   * Serves people's pull requests, after all drift work.
   * @param view undefined if the repository was not read
   */
  private async serveOthers(
    view: PolledRepository['view'] | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (view === undefined) return
    const written = this.options.dryRun ? undefined : await this.retained?.vouch(view, signal)
    this.waitingHeads = written?.waiting ?? 0
    for (const note of written?.notes ?? []) this.logSessionNote(note)
    await this.preview(signal)
  }

  /** Drift comes first: previews run after the turn. */
  private async preview(signal: AbortSignal): Promise<void> {
    const pass = this.options.dryRun ? undefined : await this.retained?.preview?.(signal)
    if (pass === undefined) return
    for (const { pull, outcome } of pass.done)
      if (outcome !== 'nothing')
        this.ports.log.process({
          event: 'previewed',
          proposal: formatLoggableName(pull.label, 60),
          outcome,
        })
    for (const { pull, failure } of pass.failed)
      this.logSessionNote({
        cause: 'preview-not-written',
        subject: pull?.label ?? '',
        text: `${failure.code}: ${failure.message}`,
      })
    if (pass.more) this.intake.requestPoll()
  }

  private reportNotes(notes: readonly Note[], isWhole: boolean): void {
    this.ports.log.logNotes(notes.filter((note) => !this.notes.has(formatNoteSentence(note))))
    this.notes = new Set([...(isWhole ? [] : this.notes), ...notes.map(formatNoteSentence)])
  }

  private findFreshPlan({ written }: TurnResult): readonly Loggable[] | undefined {
    if (!this.options.dryRun) return undefined
    const text = written.join('\n')
    if (text === this.planned) return undefined
    this.planned = text
    return written.map((line) => formatLoggableName(line, 1_000))
  }

  private getNow(): number {
    return this.ports.clock.now().getTime()
  }
}

function listNotes(unit: UnitResult): readonly Note[] {
  return unit.state === 'failed' ? [] : [...unit.notes, ...unit.plan.notes]
}

/** Field names follow controller-runtime and Flux. No transport: each event is one write. */
import { groupNotes, groupSentence, type Note } from '@backporch/kyaml/note'
import { formatLoggableText, type Loggable } from '@backporch/kyaml/redaction'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { Clock } from '@backporch/system/clock'
import type { TracedRequest } from '@backporch/system/trace'
import { type Logger, pino } from 'pino'
import type { Log, LogLevel, ProcessEvent, ReportedFailure, TurnEvent } from '../../ports/log.ts'
import {
  convertToLoggableFailure,
  formatTransition,
  getLevel,
  processText,
  turnText,
} from './event-text.ts'

export interface LogSink {
  readonly level: LogLevel
  readonly clock: Clock
  readonly stream: { write(text: string): unknown }
  readonly repository?: Loggable
}

export class JsonLog implements Log {
  readonly #pino: Logger
  readonly #sink: LogSink

  constructor(sink: LogSink) {
    const { level, clock, stream, repository } = sink
    this.#sink = sink
    this.#pino = pino(
      {
        level,
        base: repository === undefined ? null : { repository },
        timestamp: () => `,"ts":"${clock.now().toISOString()}"`,
        formatters: { level: (label) => ({ level: label }) },
      },
      { write: (line) => void stream.write(line) },
    )
  }

  bindRepository(repository: Loggable): Log {
    return new JsonLog({ ...this.#sink, repository })
  }

  turn(turn: TurnEvent): void {
    const { transitions, plan, milliseconds, ...counts } = turn
    for (const transition of transitions) {
      const { detail, ...fields } = transition
      this.#pino[getLevel(transition)](
        { event: 'transition', ...fields },
        formatTransition(transition),
      )
    }
    if (plan !== undefined)
      this.#pino.info(
        { event: 'plan', dryRun: true, actions: plan },
        'a real run would make these writes',
      )
    this.#pino.info(
      {
        event: 'turn',
        ...counts,
        transitions: transitions.length,
        durationSeconds: milliseconds / 1000,
      },
      turnText(turn),
    )
  }

  logFailures(failures: readonly ReportedFailure[], state: 'new' | 'gone'): void {
    for (const { failure, cluster, package: name } of failures) {
      const { code, what, where, why, remedy, retry } = convertToLoggableFailure(failure)
      const fields = { cluster, package: name, code, what, where, why }
      if (state === 'gone')
        this.#pino.warn({ event: 'recovered', ...fields }, `the error is gone: ${what}`)
      else this.#pino.error({ event: 'failure', ...fields, remedy, retry }, what)
    }
  }

  logNotes(notes: readonly Note[]): void {
    for (const group of groupNotes(notes)) {
      const { cause, count } = group
      this.#pino.info({ event: 'note', cause, count }, formatLoggableText(groupSentence(group)))
    }
  }

  process(event: ProcessEvent): void {
    const { failure, ...fields } = { failure: undefined, ...event }
    this.#pino[getLevel(event)](
      failure === undefined
        ? fields
        : { ...fields, code: failure.code, why: formatLoggableText(failure.message) },
      processText(event),
    )
  }

  request({ what, outcome, milliseconds }: TracedRequest): void {
    this.#pino.trace(
      { event: 'request', outcome, durationSeconds: Math.round(milliseconds) / 1000 },
      convertToOneLine(what, 300),
    )
  }
}

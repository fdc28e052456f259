/** A turn is one line; a quiet turn appears only at `debug`. */
import { styleText } from 'node:util'
import { formatFailure, groupFailures } from '@backporch/kyaml/failure'
import { groupNotes, groupSentence, type Note } from '@backporch/kyaml/note'
import { formatLoggableText, type Loggable } from '@backporch/kyaml/redaction'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { TracedRequest } from '@backporch/system/trace'
import { dryRunLines } from '../../plan/turn/turn-words.ts'
import {
  LOG_LEVELS,
  type Log,
  type LogLevel,
  type ProcessEvent,
  type ReportedFailure,
  type TurnEvent,
} from '../../ports/log.ts'
import {
  convertToLoggableFailure,
  formatTransition,
  getLevel,
  processText,
  turnText,
} from './event-text.ts'
import type { LogSink } from './json-log.ts'

const NAMED = 10

export class TextLog implements Log {
  readonly #sink: LogSink & { readonly color: boolean }

  constructor(sink: LogSink & { readonly color: boolean }) {
    this.#sink = sink
  }

  bindRepository(repository: Loggable): Log {
    return new TextLog({ ...this.#sink, repository })
  }

  turn(turn: TurnEvent): void {
    const { transitions, plan } = turn
    if (transitions.length > 0) {
      const level = transitions.some((one) => getLevel(one) === 'warn') ? 'warn' : 'info'
      const more = transitions.length > NAMED ? `, and ${transitions.length - NAMED} more` : ''
      this.#writeLine(
        level,
        `${transitions.slice(0, NAMED).map(formatTransition).join(', ')}${more}`,
      )
    }
    if (plan !== undefined) this.#writeLine('info', dryRunLines(plan).join('\n'))
    this.#writeLine('debug', turnText(turn))
  }

  logFailures(failures: readonly ReportedFailure[], state: 'new' | 'gone'): void {
    for (const failure of groupFailures(
      failures.map((one) => convertToLoggableFailure(one.failure)),
    )) {
      const [head = '', ...rest] = formatFailure(failure).split('\n')
      const text = head.slice('error'.length)
      if (state === 'gone') this.#writeLine('warn', `the error is gone:${text}`)
      else this.#writeLine('error', [`${this.#styleRed('error')}${text}`, ...rest].join('\n'))
    }
  }

  logNotes(notes: readonly Note[]): void {
    for (const group of groupNotes(notes))
      this.#writeLine('info', `note: ${formatLoggableText(groupSentence(group))}`)
  }

  process(event: ProcessEvent): void {
    this.#writeLine(getLevel(event), processText(event))
  }

  request({ what, outcome, milliseconds }: TracedRequest): void {
    this.#writeLine(
      'trace',
      `${String(Math.round(milliseconds)).padStart(6)} ms  ${convertToOneLine(what, 300)}  ${convertToOneLine(outcome, 100)}`,
    )
  }

  #writeLine(level: LogLevel, text: string): void {
    const { level: least, clock, stream, repository } = this.#sink
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return
    stream.write(
      `${clock.now().toISOString().slice(0, 19)}Z  ${repository === undefined ? '' : `[${repository}] `}${text}\n`,
    )
  }

  #styleRed(text: string): string {
    return this.#sink.color ? styleText(['red', 'bold'], text, { validateStream: false }) : text
  }
}

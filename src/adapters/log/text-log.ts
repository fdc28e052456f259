/** A turn is one line; a quiet turn appears only at `debug`. */
import { styleText } from 'node:util'
import { formatFailure, groupFailures } from '@backporch/kyaml/failure'
import { groupNotes, groupSentence, type Note } from '@backporch/kyaml/note'
import { type Loggable, loggableText } from '@backporch/kyaml/redaction'
import { oneLine } from '@backporch/kyaml/text'
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
import { levelOf, loggableFailure, processText, transitionText, turnText } from './event-text.ts'
import type { LogSink } from './json-log.ts'

const NAMED = 10

export class TextLog implements Log {
  readonly #sink: LogSink & { readonly color: boolean }

  constructor(sink: LogSink & { readonly color: boolean }) {
    this.#sink = sink
  }

  of(repository: Loggable): Log {
    return new TextLog({ ...this.#sink, repository })
  }

  turn(turn: TurnEvent): void {
    const { transitions, plan } = turn
    if (transitions.length > 0) {
      const level = transitions.some((one) => levelOf(one) === 'warn') ? 'warn' : 'info'
      const more = transitions.length > NAMED ? `, and ${transitions.length - NAMED} more` : ''
      this.#line(level, `${transitions.slice(0, NAMED).map(transitionText).join(', ')}${more}`)
    }
    if (plan !== undefined) this.#line('info', dryRunLines(plan).join('\n'))
    this.#line('debug', turnText(turn))
  }

  failures(failures: readonly ReportedFailure[], state: 'new' | 'gone'): void {
    for (const failure of groupFailures(failures.map((one) => loggableFailure(one.failure)))) {
      const [head = '', ...rest] = formatFailure(failure).split('\n')
      const text = head.slice('error'.length)
      if (state === 'gone') this.#line('warn', `the error is gone:${text}`)
      else this.#line('error', [`${this.#red('error')}${text}`, ...rest].join('\n'))
    }
  }

  notes(notes: readonly Note[]): void {
    for (const group of groupNotes(notes))
      this.#line('info', `note: ${loggableText(groupSentence(group))}`)
  }

  process(event: ProcessEvent): void {
    this.#line(levelOf(event), processText(event))
  }

  request({ what, outcome, milliseconds }: TracedRequest): void {
    this.#line(
      'trace',
      `${String(Math.round(milliseconds)).padStart(6)} ms  ${oneLine(what, 300)}  ${oneLine(outcome, 100)}`,
    )
  }

  #line(level: LogLevel, text: string): void {
    const { level: least, clock, stream, repository } = this.#sink
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return
    stream.write(
      `${clock.now().toISOString().slice(0, 19)}Z  ${repository === undefined ? '' : `[${repository}] `}${text}\n`,
    )
  }

  #red(text: string): string {
    return this.#sink.color ? styleText(['red', 'bold'], text, { validateStream: false }) : text
  }
}

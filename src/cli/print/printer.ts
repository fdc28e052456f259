/** Results on stdout, everything else on stderr. */
import { convertToOneLine } from '@backporch/kyaml/text'
import type { Trace } from '@backporch/system/trace'
import type { LedgerContext } from '../context/cli-context.ts'
import { Terminal } from '../context/terminal.ts'
import type { ListOptions, Optional, TerminalOptions } from '../flags/options.ts'
import { isTable, type Output } from '../flags/outputs.ts'

type PrintOptions = Pick<TerminalOptions, 'color' | 'ascii' | 'quiet' | 'verbose'> &
  Optional<Pick<ListOptions, 'output' | 'headers' | 'columns'>>

export class Printer {
  readonly cli: LedgerContext
  readonly options: PrintOptions
  readonly output: Output
  readonly quiet: boolean
  readonly verbose: boolean
  readonly terminal: Terminal

  constructor(cli: LedgerContext, options: PrintOptions) {
    this.cli = cli
    this.options = options
    this.output = options.output ?? 'table'
    this.quiet = options.quiet === true
    this.verbose = options.verbose === true
    this.terminal = new Terminal(cli.stdout, {
      color: options.color,
      ascii: options.ascii === true,
      env: cli.env,
    })
  }

  get isTable(): boolean {
    return isTable(this.output)
  }

  get ok(): string {
    return this.terminal.style(this.terminal.getGlyph('ok'), 'green')
  }

  get trace(): Trace | undefined {
    if (!this.verbose) return undefined
    return ({ what, outcome, milliseconds }) => {
      const duration = String(Math.round(milliseconds)).padStart(6)
      this.cli.stderr.write(
        `${duration} ms  ${convertToOneLine(what, 300)}  ${convertToOneLine(outcome, 100)}\n`,
      )
    }
  }

  write(text: string): void {
    this.cli.stdout.write(text)
  }

  hint(sentence: string): void {
    if (!this.quiet) this.cli.stderr.write(`${sentence}\n`)
  }
}

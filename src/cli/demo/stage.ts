import { quoteShellWord } from '@backporch/kyaml/text'
import type { Clock } from '@backporch/system/clock'
import type { CliContext, RunCommand } from '../context/cli-context.ts'
import { type OutputStream, Terminal } from '../context/terminal.ts'
import type { DemoFolder } from './demo-folder.ts'

interface Ran {
  readonly code: number
  readonly output: string
}

class StoryBroken extends Error {
  override readonly name = 'StoryBroken'
}

export class Stage {
  readonly folder: DemoFolder
  private readonly cli: CliContext
  private readonly run: RunCommand
  private readonly terminal: Terminal
  private step = 0
  private clock: Clock

  constructor(cli: CliContext, folder: DemoFolder, run: RunCommand) {
    this.cli = cli
    this.folder = folder
    this.run = run
    this.clock = cli.clock
    this.terminal = new Terminal(cli.stdout, { color: 'auto', ascii: false, env: cli.env })
  }

  setTime(time: string): void {
    const { sleep } = this.cli.clock
    this.clock = { now: () => new Date(time), sleep }
  }

  printTitle(text: string, ...lines: readonly string[]): void {
    this.print(this.terminal.style(text, 'bold'), ...lines)
  }

  printChapter(heading: string, ...lines: readonly string[]): void {
    this.step += 1
    this.print('', this.terminal.style(`${this.step}. ${heading}`, 'bold'), ...lines)
  }

  say(...lines: readonly string[]): void {
    this.print('', ...lines)
  }

  /** @throws StoryBroken if the exit code differs */
  async runBackporch(args: readonly string[], wanted: number): Promise<Ran> {
    this.prompt('backporch', args)
    const parts: string[] = []
    const code = await this.run(args, this.createWorld(parts))
    const output = parts.join('')
    if (code !== wanted)
      throw new StoryBroken(
        `backporch ${args.join(' ')} ended with exit code ${code}, the demo expects ${wanted}`,
      )
    return { code, output }
  }

  async runGit(...args: readonly string[]): Promise<string> {
    this.prompt('git', args)
    const text = await this.folder.git(...this.addColor(args))
    this.cli.stdout.write(text.endsWith('\n') || text === '' ? text : `${text}\n`)
    return text
  }

  /** @throws StoryBroken unless `holds` */
  check(holds: boolean, what: string): void {
    if (!holds) throw new StoryBroken(`the demo expects that ${what}, and it is not true`)
  }

  private addColor(args: readonly string[]): string[] {
    const [command = '', ...rest] = args
    return [
      command,
      ...(this.terminal.style('x', 'bold') === 'x' ? ['--no-color'] : ['--color=always']),
      ...rest,
    ]
  }

  private createWorld(parts: string[]): CliContext {
    const tee = (stream: OutputStream): OutputStream => ({
      isTTY: stream.isTTY,
      columns: stream.columns,
      write: (text) => {
        parts.push(text)
        return stream.write(text)
      },
    })
    const { folder, clock, cli } = this
    const stdout = tee(cli.stdout)
    return cli.at({ cwd: folder.repository, env: folder.env, clock, stdout, stderr: stdout })
  }

  private prompt(program: string, args: readonly string[]): void {
    const line = [program, ...args.map(quoteShellWord)].join(' ')
    this.print('', `${this.terminal.style('$', 'dim')} ${this.terminal.style(line, 'cyan')}`)
  }

  private print(...lines: readonly string[]): void {
    this.cli.stdout.write(lines.map((line) => `${line}\n`).join(''))
  }
}

/** A command line over the world in memory. */
import { Readable } from 'node:stream'
import { runCli } from '../../src/cli/run-cli.ts'
import type { World } from '../../src/cli/world.ts'
import { BOT_EMAIL } from './memory-repository.ts'
import type { TurnWorld } from './turn-world.ts'

export interface CliOutcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface CliOptions {
  readonly isTTY?: boolean
  readonly env?: World['env']
}

export async function runInWorld(turn: TurnWorld, argv: readonly string[], options: CliOptions = {}): Promise<CliOutcome> {
  const written = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof written) => ({
    isTTY: options.isTTY ?? false,
    columns: 120,
    write: (text: string) => {
      written[name] += text
    },
  })
  turn.pass(1)
  const world: World = {
    env: options.env ?? {},
    cwd: '/',
    stdin: Readable.from([]),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    clock: { now: () => new Date(turn.cluster.now), sleep: async () => undefined },
    version: '0.0.0',
    botEmail: BOT_EMAIL,
    signal: new AbortController().signal,
    openRepository: () => turn.repository,
    openForge: () => turn.ports.forge,
    openCluster: async () => ({ reader: turn.cluster, close: () => undefined }),
    openWriter: async () => ({ writer: turn.cluster, close: () => undefined }),
    loadKey: async () => ({ key: turn.key, created: false, path: '/key' }),
    workTree: async () => 'none',
    userName: async () => 'Ada <ada@example.com>',
    at: () => {
      throw new TypeError('the world in memory has one place')
    },
  }
  const code = await runCli(argv, world)
  return { code, ...written }
}

/** A command line over the world in memory. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { emptyCluster } from '@backporch/cluster/recording'
import { FORGES } from '@backporch/forge/forges'
import { Interrupted } from '@backporch/kyaml/failure'
import { JsonLog } from '../../src/adapters/log/json-log.ts'
import { TextLog } from '../../src/adapters/log/text-log.ts'
import type { CliContext } from '../../src/cli/context/cli-context.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import type { PackageRenderer } from '../../src/sources/kpt/render/package-renderer.ts'
import { InProcessRenderer } from './in-process-renderer.ts'
import { MemoryForge } from './memory-forge.ts'
import { BOT_EMAIL } from './memory-repository.ts'
import type { TurnWorld } from './turn-world.ts'

export interface CliOutcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface CliOptions {
  readonly isTTY?: boolean
  readonly env?: CliContext['env']
  readonly appendText?: CliContext['appendText']
  readonly writeNewFolder?: CliContext['writeNewFolder']
  readonly externalDiff?: CliContext['externalDiff']
  /** What happens during each wait, in order; the user interrupts the one after the last. Without it, waiting takes no time. */
  readonly waits?: readonly (() => unknown)[]
  readonly onSleep?: (milliseconds: number) => unknown
  readonly localNames?: CliContext['localNames']
  /** Of whatever path; a shared repository unless given. */
  readonly cloneState?: Awaited<ReturnType<CliContext['cloneState']>>
  readonly workTree?: Awaited<ReturnType<CliContext['workTree']>>
  readonly probes?: CliContext['probes']
  readonly openWebhooks?: CliContext['openWebhooks']
  readonly openMonitoring?: CliContext['openMonitoring']
  readonly readConfig?: CliContext['readConfig']
  readonly openRepository?: CliContext['openRepository']
  readonly readPolicyFiles?: CliContext['readPolicyFiles']
  readonly openAuditLog?: CliContext['openAuditLog']
  readonly openAuditHook?: CliContext['openAuditHook']
  readonly openCluster?: CliContext['openCluster']
  readonly openWriter?: CliContext['openWriter']
  readonly openTraces?: CliContext['openTraces']
  readonly openDriftEvents?: CliContext['openDriftEvents']
  readonly openWatch?: CliContext['openWatch']
  readonly packageMarks?: CliContext['packageMarks']
  readonly onHangup?: CliContext['onHangup']
  readonly loadKey?: CliContext['loadKey']
  /** Called when the connection to the cluster is closed. */
  readonly onClose?: () => void
  readonly renderer?: PackageRenderer
  /** By what the operator allows. */
  readonly openRenderer?: (allowed: Parameters<CliContext['openRenderer']>[0]) => PackageRenderer
  /** What somebody at a terminal answers to the question; without it nobody can be asked. */
  readonly answer?: string
}

export async function runInWorld(
  turn: TurnWorld,
  argv: readonly string[],
  options: CliOptions = {},
): Promise<CliOutcome> {
  const written = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof written) => ({
    isTTY: options.isTTY ?? false,
    columns: 120,
    write: (text: string) => {
      written[name] += text
    },
  })
  turn.pass(1)
  const interrupt = new AbortController()
  const waits = [...(options.waits ?? [])]
  let broken: { readonly thrown: unknown } | undefined
  const sleep = async (milliseconds: number): Promise<void> => {
    options.onSleep?.(milliseconds)
    if (options.waits === undefined) return
    const wait = waits.shift()
    if (wait === undefined) interrupt.abort(new Interrupted('SIGINT'))
    interrupt.signal.throwIfAborted()
    turn.pass(1)
    try {
      await wait?.()
    } catch (thrown) {
      // What runs is stopped, so that its servers end, and the test fails with this.
      broken = { thrown }
      interrupt.abort(thrown)
      throw thrown
    }
  }
  const clock = { now: () => new Date(turn.cluster.now), sleep }
  const world: CliContext = {
    env: options.env ?? {},
    cwd: '/',
    stdin:
      options.answer === undefined
        ? Readable.from([])
        : Object.assign(Readable.from([`${options.answer}\n`]), { isTTY: true }),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    clock,
    version: '0.0.0',
    bot: { email: BOT_EMAIL },
    signal: interrupt.signal,
    onHangup: options.onHangup ?? (() => () => undefined),
    openRenderer: async (allowed) =>
      options.openRenderer?.(allowed) ?? options.renderer ?? new InProcessRenderer(),
    openRepository: options.openRepository ?? (async () => turn.repository),
    openForge: async (_, { dryRun }) => {
      if (turn.forge instanceof MemoryForge) turn.forge.writeCount.dryRun = dryRun === true
      return turn.ports.forge
    },
    openLog: async ({ format, ...sink }) =>
      format === 'text' ? new TextLog({ ...sink, clock }) : new JsonLog({ ...sink, clock }),
    forgeSetup: async (_remote, kind) =>
      kind === undefined ? turn.ports.forge.setup : FORGES[kind],
    openWebhooks: options.openWebhooks ?? (() => assert.fail('nobody listens')),
    openMonitoring: options.openMonitoring ?? (() => assert.fail('nobody listens')),
    readConfig: options.readConfig ?? (() => assert.fail('no configuration was named')),
    readPolicyFiles:
      options.readPolicyFiles ?? (() => assert.fail('no policies of the operator were named')),
    openAuditLog: options.openAuditLog ?? (() => assert.fail('no audit log was named')),
    openAuditHook: options.openAuditHook ?? (() => assert.fail('nobody listens')),
    openCluster:
      options.openCluster ??
      (async () => ({ reader: turn.cluster, close: options.onClose ?? (() => undefined) })),
    offlineCluster: async (name) => emptyCluster(name, turn.cluster.now),
    openWriter:
      options.openWriter ?? (async () => ({ writer: turn.cluster, close: () => undefined })),
    openTraces: options.openTraces ?? (async () => undefined),
    openDriftEvents: options.openDriftEvents ?? (() => assert.fail('nobody asked for Events')),
    openWatch: options.openWatch ?? (async () => undefined),
    verdictFiles: () => ({ read: async () => undefined, write: async () => undefined }),
    packageMarks: options.packageMarks ?? (() => undefined),
    loadKey: options.loadKey ?? (async () => ({ key: turn.key, created: false, path: '/key' })),
    localNames: options.localNames ?? (async () => []),
    externalDiff: options.externalDiff ?? (() => assert.fail('no program was named')),
    checkNewFolder: () => undefined,
    writeNewFolder: options.writeNewFolder ?? (() => assert.fail('no folder was named')),
    appendText: options.appendText ?? (() => assert.fail('nothing is written beside stdout')),
    workTree: async () => options.workTree ?? 'none',
    cloneState: async () => options.cloneState ?? 'none',
    probes: options.probes ?? (() => assert.fail('nothing is probed')),
    userName: async () => 'Ada <ada@example.com>',
    at: () => {
      throw new TypeError('the world in memory has one place')
    },
  }
  const code = await runCli(argv, world)
  if (broken !== undefined) throw broken.thrown
  return { code, ...written }
}

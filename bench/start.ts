/** Measures the cost of a start: of the packed program, Node alone, kubectl and kpt, one after the other in every round. */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makePackages, writeRecording } from '../test/action/stage.ts'
import { gitTestEnvironment } from '../test/contract/git-remotes.ts'
import { spread } from './table.ts'
import { versionOf } from './tools.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

export interface Start {
  readonly name: string
  readonly command: readonly string[]
  /** Exit codes that are an answer. */
  readonly exitCodes: readonly number[]
}

export interface StartCost {
  /** Seconds. */
  readonly wall: number
  /** Seconds, of the process and its children. */
  readonly cpu: number
  /** MiB: the maximum of one process. */
  readonly memory: number
}

/**
 * @param beside launchers (`src/launch.cjs` of an unpacked package) of other versions, measured in the same rounds
 * @returns a section of Markdown, without its heading. Rejects where bash or GNU time is not there, or a command fails
 */
export async function benchStart(
  { rounds }: { readonly rounds: number },
  beside: readonly string[],
  report: (line: string) => void,
) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'backporch-bench-start-')))
  try {
    const environment = {
      ...gitTestEnvironment(folder),
      BACKPORCH_KEY: 'bench'.repeat(8),
      PATH: process.env['PATH'],
    }
    const launcher = packed(join(folder, 'packed'))
    makePackages(join(folder, 'packages'), environment)
    writeRecording(join(folder, 'live'))
    const scan = ['scan', '--repo', join(folder, 'packages'), '--live', join(folder, 'live')]
    spawnSync(process.execPath, [launcher, ...scan], { cwd: folder, env: environment })
    const starts = [
      { name: '`node -e 0`', command: [process.execPath, '-e', '0'], exitCodes: [0] },
      ...startsOf(launcher, '', folder),
      ...beside.flatMap((path) => startsOf(resolve(path), `, ${path}`, folder)),
      ...['kubectl', 'kpt'].map((tool) => ({
        name: `\`${tool} --help\``,
        command: [tool, '--help'],
        exitCodes: [0],
      })),
    ]
    const costs = starts.map((): StartCost[] => [])
    const loads: number[] = []
    // The first round fills the compile cache and the clone, and does not count.
    for (let round = 0; round <= rounds; round += 1) {
      report(`round ${round} of ${rounds}`)
      for (const [index, start] of starts.entries()) {
        const cost = startOnce(start, {
          cwd: folder,
          env: environment,
          scratch: join(folder, 'memory'),
        })
        if (round > 0) costs[index]?.push(cost)
      }
      loads.push(loadavg()[0] ?? 0)
    }
    const versions = [
      `Node ${process.versions.node}`,
      `kubectl ${versionOf('kubectl', ['version', '--client', '-o', 'json'], /"gitVersion": "([^"]+)"/)}`,
      `kpt ${versionOf('kpt', ['version'], /(\S+)/)}`,
    ]
    return [
      formatStarts(starts.map(({ name }, index) => ({ name, costs: costs[index] ?? [] }))),
      'The packed program with a filled compile cache; `diff` of the packages of the demo against its recorded cluster, `status` of the same.',
      `Rounds: ${rounds}, interleaved, after one warm-up round; median (least–most). CPU is that of the process and its children,`,
      'memory is the maximum of one process.',
      `${versions.join(', ')}; ${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'}), ${process.platform}; one-minute load ${spread(loads, 1)}.`,
    ].join('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The launcher and the program, as `npm pack` puts them into the tarball. */
export function packed(folder: string): string {
  mkdirSync(join(folder, 'src'), { recursive: true })
  const launcher = join(folder, 'src', 'launch.cjs')
  copyFileSync(join(ROOT, 'src', 'launch.cjs'), launcher)
  execFileSync(process.execPath, [join(ROOT, '.ci', 'bundle.ts'), join(folder, 'dist')], {
    stdio: 'pipe',
  })
  return launcher
}

function startsOf(launcher: string, which: string, folder: string): Start[] {
  const repository = join(folder, 'packages')
  const of = (name: string, words: readonly string[], exitCodes = [0]): Start => ({
    name: `\`backporch ${name}\`${which}`,
    command: [process.execPath, launcher, ...words],
    exitCodes,
  })
  return [
    of('--help', ['--help']),
    of('--version', ['--version']),
    of('__complete', ['__complete', 'diff', '--repo', repository, '']),
    // 3: the recorded cluster was observed long ago.
    of('status', ['status', '--repo', repository], [0, 1, 3]),
    of('diff', ['diff', '--repo', repository, '--live', join(folder, 'live')], [0, 1]),
  ]
}

interface Surroundings {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** A file for the answer of GNU time. */
  readonly scratch: string
}

/** bash has milliseconds, and GNU time the memory. */
export function startOnce(
  { name, command, exitCodes }: Start,
  { cwd, env, scratch }: Surroundings,
): StartCost {
  const script = `TIMEFORMAT='%3R %3U %3S'; time command time --quiet --format=%M --output="$0" -- "$@" >/dev/null 2>/dev/null`
  const { status, stderr } = spawnSync('bash', ['-c', script, scratch, ...command], {
    cwd,
    env,
    encoding: 'utf8',
  })
  if (!exitCodes.includes(status ?? -1))
    throw new Error(`${name} ended with ${status}: ${stderr.slice(0, 500)}`)
  return readCost(stderr, readFileSync(scratch, 'utf8'))
}

/** @param times `real user system` in seconds @param memory KiB */
export function readCost(times: string, memory: string): StartCost {
  const [wall = Number.NaN, user = Number.NaN, system = Number.NaN] = times
    .trim()
    .split(' ')
    .map(Number)
  return { wall, cpu: user + system, memory: Number(memory.trim()) / 1024 }
}

export function formatStarts(
  results: readonly { readonly name: string; readonly costs: readonly StartCost[] }[],
): string {
  const column = (costs: readonly StartCost[], key: keyof StartCost, digits: number): string =>
    spread(
      costs.map((cost) => cost[key]),
      digits,
    )
  const rows = results.map(({ name, costs }) => [
    name,
    column(costs, 'wall', 2),
    column(costs, 'cpu', 3),
    column(costs, 'memory', 0),
  ])
  const head = ['start', 'wall s', 'CPU s', 'memory MiB']
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('')
}

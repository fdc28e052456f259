/** Measures the first read of one package in a repository with a long history, compared with a small one and with clones by git. */
import { execFileSync, spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type GitHttpBackend, startGitHttpBackend } from '../test/contract/git-http-backend.ts'
import {
  type HistoryOptions,
  IMAGE_BYTES,
  newestRevision,
  PACKAGE,
  writeHistory,
} from './generate-history.ts'
import { spread } from './table.ts'

export interface RepositoryBenchOptions {
  /** Commits of the long history, each with 1 MiB that cannot be compressed. */
  readonly objects: number
  readonly rounds: number
  readonly seed: number
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SIZES = ['long', 'small'] as const
type Size = (typeof SIZES)[number]
const SMALL_COMMITS = 4
const PACKAGES = 100
/** The packages that are read, in order. */
const LOOKED_AT = [17, 42] as const

interface Way {
  readonly name: string
  readonly address: (repository: string) => string
}

interface Result {
  readonly first: number[]
  readonly second: number[]
  readonly again: number[]
  cache: number
}

/** @returns a section of Markdown, without its heading. Rejects where a check finds other than the one difference that is there. */
export async function benchRepository(
  { objects, rounds, seed }: RepositoryBenchOptions,
  report: (line: string) => void,
): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'backporch-bench-')))
  const backend = await startGitHttpBackend({ root: folder, environment: environment(folder) })
  try {
    const bench = new RepositoryBench(folder, backend)
    for (const size of SIZES) {
      report(`writing the ${size} repository`)
      await bench.prepare(size, {
        commits: size === 'long' ? objects : SMALL_COMMITS,
        packages: PACKAGES,
        seed,
      })
    }
    const loads: number[] = []
    for (let round = 0; round <= rounds; round += 1) {
      report(`round ${round} of ${rounds}`)
      await bench.round(round > 0)
      loads.push(loadavg()[0] ?? 0)
    }
    return bench.describe(objects, rounds, loads)
  } finally {
    await backend.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

class RepositoryBench {
  readonly #folder: string
  readonly #program: string
  readonly #ways: readonly Way[]
  readonly #results = new Map<string, Result>()
  readonly #clones = new Map<string, { readonly seconds: number[]; bytes: number }>()
  readonly #live: Record<Size, string> = { long: '', small: '' }

  constructor(folder: string, backend: GitHttpBackend) {
    this.#folder = folder
    const dist = join(folder, 'dist')
    execFileSync(process.execPath, [join(ROOT, '.ci', 'bundle.ts'), dist], { stdio: 'pipe' })
    this.#program = join(dist, 'backporch.mjs')
    this.#ways = [
      { name: 'a path on this machine', address: (repository) => join(folder, repository) },
      {
        name: '`file://`, over `git upload-pack`',
        address: (repository) => `file://${join(folder, repository)}`,
      },
      {
        name: 'http, over `git http-backend`',
        address: (repository) => `${backend.url}/${repository}`,
      },
      { name: 'ssh', address: (repository) => `git@bench.test:${join(folder, repository)}` },
      {
        name: 'http, a server without filters',
        address: (repository) => `${backend.url}/plain-${repository}`,
      },
      {
        name: 'ssh, a server of protocol version 0',
        address: (repository) => `git@old.test:${join(folder, repository)}`,
      },
    ]
    writeFileSync(
      join(folder, 'ssh.sh'),
      '[ "$1" = git@old.test ] && unset GIT_PROTOCOL\neval "exec git $(printf %s "$2" | cut -c5-)"\n',
    )
  }

  async prepare(size: Size, options: HistoryOptions): Promise<void> {
    const bare = join(this.#folder, `${size}.git`)
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', bare])
    execFileSync('git', ['config', 'uploadpack.allowFilter', 'true'], { cwd: bare })
    await writeHistory(bare, options)
    const plain = join(this.#folder, `plain-${size}.git`)
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', plain])
    writeFileSync(join(plain, 'objects/info/alternates'), `${bare}/objects\n`)
    execFileSync('sh', [
      '-c',
      `git -C '${bare}' for-each-ref --format='create %(refname) %(objectname)' | git -C '${plain}' update-ref --stdin`,
    ])
    this.#live[size] = join(this.#folder, `${size}-live.json`)
    writeFileSync(this.#live[size], JSON.stringify(liveObjects(options)))
  }

  async round(counts: boolean): Promise<void> {
    for (const way of this.#ways) for (const size of SIZES) await this.#look(way, size, counts)
    const http = this.#ways[2]?.address('long.git') ?? ''
    await this.#clone('`git clone` over http', ['--bare', http], counts)
    await this.#clone(
      '`git clone --filter=blob:none --depth=1` over http',
      ['--bare', '--filter=blob:none', '--depth=1', http],
      counts,
    )
  }

  async #look(way: Way, size: Size, counts: boolean): Promise<void> {
    const cache = join(this.#folder, 'cache')
    rmSync(cache, { recursive: true, force: true })
    const seconds: number[] = []
    for (const location of [LOOKED_AT[0], LOOKED_AT[1], LOOKED_AT[0]]) {
      const args = [
        this.#program,
        'diff',
        PACKAGE(location),
        '--repo',
        way.address(`${size}.git`),
        '--live',
        this.#live[size],
      ]
      const { status, stdout, wall } = await run(
        process.execPath,
        [...args, '--cluster', 'bench', '-o', 'json', '--quiet'],
        environment(this.#folder),
      )
      if (status !== 1 || !stdout.includes('note'))
        throw new Error(`${args.join(' ')} ended with ${status}: ${stdout.slice(0, 800)}`)
      seconds.push(wall)
    }
    const key = `${way.name} ${size}`
    const result = this.#results.get(key) ?? { first: [], second: [], again: [], cache: 0 }
    this.#results.set(key, result)
    result.cache = bytesOf(cache)
    if (!counts) return
    const [first = 0, second = 0, again = 0] = seconds
    result.first.push(first)
    result.second.push(second)
    result.again.push(again)
  }

  async #clone(name: string, args: readonly string[], counts: boolean): Promise<void> {
    const target = join(this.#folder, 'clone.git')
    rmSync(target, { recursive: true, force: true })
    const { status, wall } = await run(
      'git',
      ['clone', '--quiet', ...args, target],
      environment(this.#folder),
    )
    if (status !== 0) throw new Error(`${name} ended with ${status}`)
    const result = this.#clones.get(name) ?? { seconds: [], bytes: 0 }
    this.#clones.set(name, result)
    result.bytes = bytesOf(target)
    if (counts) result.seconds.push(wall)
  }

  describe(commits: number, rounds: number, loads: readonly number[]): string {
    const rows = this.#ways.map(({ name }) => {
      const [long, small] = SIZES.map((size) => this.#results.get(`${name} ${size}`))
      if (long === undefined || small === undefined) throw new TypeError('every way was measured')
      const ratio = (medianOf(long.first) / medianOf(small.first)).toFixed(1)
      return [
        name,
        spread(long.first, 2),
        spread(long.second, 2),
        spread(long.again, 2),
        mebibytes(long.cache),
        spread(small.first, 2),
        ratio,
      ]
    })
    const clones = [...this.#clones].map(([name, { seconds, bytes }]) => [
      name,
      spread(seconds, 2),
      '',
      '',
      mebibytes(bytes),
      '',
      '',
    ])
    const head = [
      'access',
      'first package, s',
      'another package, s',
      'the first again, s',
      'cache, MiB',
      'first, small repository, s',
      'long / small',
    ]
    const table = [head, head.map(() => '---'), ...rows, ...clones]
      .map((cells) => `| ${cells.join(' | ')} |\n`)
      .join('')
    const load = spread(loads, 1)
    return `${table}
\`diff\` of one package of ${PACKAGES} with three ConfigMaps, one of them with an added key, against a recorded cluster; each row starts with an empty cache.
The long history has ${commits} commits and ${Math.round((commits * IMAGE_BYTES) / 2 ** 20)} MiB of incompressible data, the small one ${SMALL_COMMITS}; both have ${PACKAGES * 4} tags and 20 drafts.
Rounds: ${rounds}, interleaved, after one warm-up round; median (least–most). The server is on this machine.
Node ${process.versions.node}, ${execFileSync('git', ['--version'], { encoding: 'utf8' }).trim()}; ${cpus().length} CPUs, linux; one-minute load ${load}.`
  }
}

/** As the syncer applied them, with one key in each package that a person added later. */
function liveObjects(options: HistoryOptions): unknown {
  const items = Array.from({ length: options.packages }, (_each, at) => {
    const name = PACKAGE(at).slice('apps/'.length)
    return [0, 1, 2].map((which) => {
      const data = {
        revision: String(which === 0 ? newestRevision(at, options) : 0),
        which: String(which),
      }
      const entryOf = (manager: string, operation: string, fields: readonly string[]) => {
        const fieldsV1 = { 'f:data': Object.fromEntries(fields.map((field) => [`f:${field}`, {}])) }
        return {
          manager,
          operation,
          apiVersion: 'v1',
          time: '2026-01-01T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1,
        }
      }
      const own = entryOf('kubectl', 'Apply', ['revision', 'which'])
      const edit = entryOf('kubectl-edit', 'Update', ['note'])
      const uid = `00000000-0000-4000-8000-${String(at * 3 + which).padStart(12, '0')}`
      const metadata = {
        name: `${name}-${which}`,
        namespace: 'bench',
        uid,
        resourceVersion: '1',
        managedFields: which === 1 ? [own, edit] : [own],
      }
      return {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata,
        data: which === 1 ? { ...data, note: 'added' } : data,
      }
    })
  }).flat()
  return { apiVersion: 'v1', kind: 'List', items }
}

async function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly status: number; readonly stdout: string; readonly wall: number }> {
  const began = performance.now()
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? -1))
  })
  const [status, stdout, stderr] = await Promise.all([
    ended,
    text(child.stdout),
    text(child.stderr),
  ])
  return { status, stdout: stdout + stderr, wall: (performance.now() - began) / 1000 }
}

function environment(folder: string): NodeJS.ProcessEnv {
  mkdirSync(join(folder, 'home'), { recursive: true })
  return {
    PATH: process.env['PATH'],
    HOME: join(folder, 'home'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    BACKPORCH_KEY: 'bench'.repeat(8),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_SSH_COMMAND: `sh ${join(folder, 'ssh.sh')}`,
  }
}

function bytesOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  )
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1)
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

import { createHash } from 'node:crypto'
import {
  access,
  constants,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { type Guard, type GuardedProcess, startGuard } from '../controlplane/start-guard.ts'
import { withFileLock } from './with-file-lock.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A build of a Go module: what it is made from and where it is kept. */
export interface GoBuild {
  /** What is built, one word: the name of the binary and of its folder in the cache. */
  readonly name: string
  /** Directory with `go.mod`. */
  readonly module: string
  /** Path of the finished binary, whether or not it exists. Depends on the sources, the arguments and the platform. */
  readonly binary: string
  /** Arguments of `go`, less `-o`. */
  readonly goArguments: readonly string[]
  /** Whether C is compiled too, for which gcc is needed. */
  readonly cgo: boolean
}

export type BuildOutcome =
  | { readonly state: 'built'; readonly seconds: number }
  | { readonly state: 'already there' }
  | { readonly state: 'failed'; readonly why: string }

/** What somebody who waits is told, and what else has to be there before the binary counts as built. */
export interface BuildOptions {
  /** Called with a sentence when this is going to take minutes. */
  readonly report: (message: string) => void
  /** What is built, for people, and how long that takes: `Gitea once, about 3 min on 2 cores`. */
  readonly what: string
  /** The package to build. Defaults to that of the module's directory. */
  readonly target?: string
  /** Called in the binary's folder after the compiler and before the binary appears. What it rejects with fails the build. */
  readonly complete?: (folder: string) => Promise<void>
  /** Ends the wait and the build, which then fails. */
  readonly signal?: AbortSignal
}

const LOG_LINES = 15
const LOWEST_PRIORITY = '19'

/**
 * What would be built from `module`. Reads the sources, builds nothing. The cache is outside of the checkout, so that
 * a fresh clone finds it: `${XDG_CACHE_HOME:-~/.cache}/backporch/<name>/<key>/<name>`.
 *
 * @param goArgumentsOf from the text of `go.mod`
 */
export async function goBuild(
  name: string,
  module: string,
  environment: Environment,
  cgo: boolean,
  goArgumentsOf: (goMod: string) => readonly string[],
): Promise<GoBuild> {
  const names = (await readdir(module, { recursive: true }))
    .filter((file) => /(^|\/)go\.(mod|sum)$|\.go$/.test(file))
    .sort()
  const sources = await Promise.all(names.map((file) => readFile(join(module, file), 'utf8')))
  const goArguments = goArgumentsOf(sources[names.indexOf('go.mod')] ?? '')
  const hash = createHash('sha256')
  const inputs = [
    process.platform,
    process.arch,
    ...goArguments,
    ...names.flatMap((file, i) => [file, sources[i] ?? '']),
  ]
  for (const input of inputs) hash.update(`${input.length}:${input}`)
  const cache = environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache')
  const binary = join(cache, 'backporch', name, hash.digest('hex').slice(0, 32), name)
  return { name, module, binary, goArguments, cgo }
}

/** The program of this name on the environment's `PATH`, or `undefined`. */
export async function findProgram(
  name: string,
  environment: Environment,
): Promise<string | undefined> {
  for (const directory of (environment['PATH'] ?? '').split(delimiter)) {
    const program = join(directory, name)
    if (directory !== '' && (await isExecutable(program))) return program
  }
  return undefined
}

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/**
 * Builds, unless another process is building the same thing: then waits for that one. The binary appears complete or
 * not at all. The build has the lowest priority. It ends with this process, even when this process is killed.
 */
export async function buildOnce(
  build: GoBuild,
  go: string,
  environment: Environment,
  options: BuildOptions,
): Promise<BuildOutcome> {
  const directory = dirname(build.binary)
  await mkdir(directory, { recursive: true })
  return withFileLock(
    join(directory, 'lock'),
    async () => {
      if (await isExecutable(build.binary)) return { state: 'already there' }
      options.report(`building ${options.what}, into ${build.binary}`)
      return runGo(build, go, environment, options)
    },
    (pid) => options.report(`waiting for process ${pid}, which is building ${options.what}`),
    options.signal,
  )
}

async function runGo(
  build: GoBuild,
  go: string,
  environment: Environment,
  options: BuildOptions,
): Promise<BuildOutcome> {
  const started = performance.now()
  // One name for all builders: what a killed one left is overwritten, not collected.
  const unfinished = `${build.binary}.unfinished`
  const guard = await startGuard(`${build.name}-build`)
  const end = (): void => void guard.stop()
  options.signal?.addEventListener('abort', end)
  try {
    options.signal?.throwIfAborted()
    const compiler = await startCompiler(guard, build, environment, [
      go,
      ...build.goArguments,
      '-o',
      unfinished,
      options.target ?? '.',
    ])
    const how = await compiler.exit
    if (options.signal?.aborted === true) return { state: 'failed', why: 'the build was ended' }
    if (how !== 'code 0') {
      const lines = (await readFile(compiler.log, 'utf8')).trim().split('\n').slice(-LOG_LINES)
      return { state: 'failed', why: `go build ended with ${how}: ${lines.join('\n')}` }
    }
    await options.complete?.(dirname(build.binary))
    await rename(unfinished, build.binary)
    return { state: 'built', seconds: (performance.now() - started) / 1_000 }
  } finally {
    options.signal?.removeEventListener('abort', end)
    await guard.stop()
    await rm(unfinished, { force: true })
  }
}

async function startCompiler(
  guard: Guard,
  build: GoBuild,
  environment: Environment,
  command: readonly string[],
): Promise<GuardedProcess> {
  const nice = await findProgram('nice', environment)
  const compiler = await guard.start({
    name: 'go-build',
    command: nice === undefined ? command : [nice, '-n', LOWEST_PRIORITY, ...command],
    directory: build.module,
    // Go leaves its temporary files behind when it is killed; the guard removes its own folder.
    environment: { ...goEnvironment(environment, build.cgo), GOTMPDIR: guard.directory },
  })
  // Linux may group processes by session (autogroup). Then `nice` counts only between processes of a session, and the build has its own.
  await writeFile(`/proc/${compiler.pid}/autogroup`, LOWEST_PRIORITY).catch(() => {})
  return compiler
}

/** A binary for this machine, from this module alone, whatever the developer's shell is set up for. */
export function goEnvironment(environment: Environment, cgo: boolean): Record<string, string> {
  const { GOOS: _os, GOARCH: _arch, ...rest } = environment
  const own = { CGO_ENABLED: cgo ? '1' : '0', GOWORK: 'off' }
  const entries = Object.entries({ ...rest, ...own }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  return Object.fromEntries(entries)
}

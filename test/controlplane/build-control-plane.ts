import { createHash } from 'node:crypto'
import { access, constants, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { startGuard } from './start-guard.ts'
import { withFileLock } from './with-file-lock.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** A build of the Go module: what it is made from and where it is kept. */
export interface ControlPlaneBuild {
  /** Directory with `go.mod`. */
  readonly module: string
  /** Path of the finished binary, whether or not it exists. Depends on the sources, the flags and the platform. */
  readonly binary: string
  /** Arguments of `go`, less `-o`. */
  readonly goArguments: readonly string[]
}

export type BuildOutcome =
  | { readonly state: 'built'; readonly seconds: number }
  | { readonly state: 'already there' }
  | { readonly state: 'failed'; readonly why: string }

// The tags are those of the upstream release build: they keep net/trace out, which would stop dead code elimination.
const TAGS = 'grpcnotrace,notest'
const LOG_LINES = 15

/**
 * What would be built from `module`. Reads the sources, builds nothing. The cache is outside of the checkout, so that
 * a fresh clone finds it: `${XDG_CACHE_HOME:-~/.cache}/backporch/controlplane/<key>/controlplane`.
 */
export async function controlPlaneBuild(module: string, environment: Environment): Promise<ControlPlaneBuild> {
  const names = (await readdir(module)).filter((name) => /^go\.(mod|sum)$|\.go$/.test(name)).sort()
  const sources = await Promise.all(names.map((name) => readFile(join(module, name), 'utf8')))
  const goArguments = goBuildArguments(sources[names.indexOf('go.mod')] ?? '')
  const hash = createHash('sha256')
  const inputs = [process.platform, process.arch, ...goArguments, ...names.flatMap((name, i) => [name, sources[i] ?? ''])]
  for (const input of inputs) hash.update(`${input.length}:${input}`)
  const cache = environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache')
  const binary = join(cache, 'backporch', 'controlplane', hash.digest('hex').slice(0, 32), 'controlplane')
  return { module, binary, goArguments }
}

/** The `go` on the environment's `PATH`, or `undefined`. */
export async function findGo(environment: Environment): Promise<string | undefined> {
  for (const directory of (environment['PATH'] ?? '').split(delimiter)) {
    const go = join(directory, 'go')
    if (directory !== '' && (await isExecutable(go))) return go
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
 * not at all. The build ends with this process, even when this process is killed.
 *
 * @param report called with a sentence when this is going to take minutes.
 */
export async function buildControlPlane(
  build: ControlPlaneBuild,
  go: string,
  environment: Environment,
  report: (message: string) => void,
): Promise<BuildOutcome> {
  const directory = dirname(build.binary)
  await mkdir(directory, { recursive: true })
  return withFileLock(
    join(directory, 'lock'),
    async () => {
      if (await isExecutable(build.binary)) return { state: 'already there' }
      report(`building the test control plane once, about 4 minutes on 2 cores, into ${build.binary}`)
      return runGo(build, go, environment)
    },
    (pid) => report(`waiting for process ${pid}, which is building the test control plane`),
  )
}

async function runGo(build: ControlPlaneBuild, go: string, environment: Environment): Promise<BuildOutcome> {
  const started = performance.now()
  // One name for all builders: what a killed one left is overwritten, not collected.
  const unfinished = `${build.binary}.unfinished`
  const guard = await startGuard('control-plane-build')
  try {
    const command = [go, ...build.goArguments, '-o', unfinished, '.']
    const order = { name: 'go-build', command, directory: build.module, environment: goEnvironment(environment) }
    const compiler = await guard.start(order)
    const how = await compiler.exit
    if (how !== 'code 0') {
      const lines = (await readFile(compiler.log, 'utf8')).trim().split('\n').slice(-LOG_LINES)
      return { state: 'failed', why: `go build ended with ${how}: ${lines.join('\n')}` }
    }
    await rename(unfinished, build.binary)
    return { state: 'built', seconds: (performance.now() - started) / 1_000 }
  } finally {
    await guard.stop()
    await rm(unfinished, { force: true })
  }
}

/** A static binary for this machine, from this module alone, whatever the developer's shell is set up for. */
function goEnvironment(environment: Environment): Record<string, string> {
  const { GOOS: _os, GOARCH: _arch, ...rest } = environment
  const own = { CGO_ENABLED: '0', GOWORK: 'off' }
  const entries = Object.entries({ ...rest, ...own }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return Object.fromEntries(entries)
}

/**
 * The version is linked in: without it `/version` says v0.0.0-master, and clients that look at the server's version
 * see a server from before everything. It is read from `go.mod`, so that there is one place to change it.
 */
function goBuildArguments(goMod: string): string[] {
  const [, gitVersion, gitMajor, gitMinor] = /^\s*k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/m.exec(goMod) ?? []
  if (gitVersion === undefined) throw new Error('go.mod does not require k8s.io/kubernetes')
  const facts = { gitVersion, gitMajor, gitMinor, gitTreeState: 'clean' }
  const linked = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) =>
    Object.entries(facts).map(([fact, value]) => `-X ${name}.${fact}=${value}`),
  )
  const ldflags = ['-s', '-w', ...linked].join(' ')
  return ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-tags', TAGS, '-ldflags', ldflags]
}

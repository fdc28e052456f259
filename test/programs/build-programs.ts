/**
 * The door to the Go programs of the tests (`programs.ts`). Each is built once per machine and version of its sources.
 *
 *   await ensureProgram('gitea')                       // in a test: what is built, else a new build
 *   await missingPrograms(['controlplane', 'gitea'])   // a look, which builds nothing
 *
 * The runner of the tests builds ahead, and starts the tests of a program when it is there:
 *
 *   const builds = buildPrograms(names, { report: console.log, signal })
 *   await builds.ready('gitea')                        // where it cannot be built, the reason
 *   builds.progress()?.text                            // `Gitea (2 of 9): 35 s of about 3 min; about 12 min left`
 */
import { dirname } from 'node:path'
import {
  type BuildProgress,
  buildClock,
  duration,
  expectedSeconds,
  type MissingProgram,
} from './build-progress.ts'
import { copyFolders } from './copy-folders.ts'
import {
  buildOnce,
  type Environment,
  findProgram,
  type GoBuild,
  goBuild,
  isExecutable,
} from './go-build.ts'
import { type GoProgram, PROGRAMS, type ProgramName } from './programs.ts'

/** The program is there. */
export interface ReadyProgram {
  readonly state: 'ready'
  readonly path: string
  /** Folder of the program and of what is copied beside it. */
  readonly folder: string
  /** 0 where it was there already. */
  readonly buildSeconds: number
}

/** Something cannot run on this machine. A statement about the machine, never about the code under test. */
export interface Unavailable {
  readonly state: 'unavailable'
  /** One sentence or more, for a person: what is missing and what to do. Every reason begins alike. */
  readonly why: string
}

export interface FindOptions {
  /** Defaults to `process.env`. Read: `XDG_CACHE_HOME`, `HOME`, `PATH`, `CC`, and whatever `go` reads. */
  readonly environment?: Environment
  /** Told when a build starts, which takes minutes. Defaults to standard error. */
  readonly report?: (message: string) => void
  /** Ends the wait for a build and the build. */
  readonly signal?: AbortSignal
}

export interface ProgramBuilds {
  /** Resolves when this program is there, or when it is known that it cannot be. */
  ready(name: ProgramName): Promise<ReadyProgram | Unavailable>
  /** `undefined` where nothing is being built. */
  progress(): BuildProgress | undefined
  /** Resolves when every program is ready or unavailable. */
  readonly done: Promise<void>
}

/** What would have to be built, in the order of `names`. Reads the sources, builds nothing. */
export async function missingPrograms(
  names: readonly ProgramName[],
  environment: Environment = process.env,
): Promise<readonly MissingProgram[]> {
  const missing: MissingProgram[] = []
  for (const name of new Set(names)) {
    if (!(await isExecutable(await programPath(name, environment))))
      missing.push({ name, expectedSeconds: expectedSeconds(name) })
  }
  return missing
}

/** Where the program is, whether or not it was built. */
export async function programPath(
  name: ProgramName,
  environment: Environment = process.env,
): Promise<string> {
  return (await programBuild(name, environment)).binary
}

/** The program: a cached build, else a new one with `go`. Where another process builds it, that one is waited for. */
export function ensureProgram(
  name: ProgramName,
  options: FindOptions = {},
): Promise<ReadyProgram | Unavailable> {
  return ensure(name, options, '')
}

/** @throws Error that says what is missing */
export async function programOrThrow(name: ProgramName): Promise<ReadyProgram> {
  const found = await ensureProgram(name)
  if (found.state === 'unavailable') throw new Error(found.why)
  return found
}

/** Builds what is missing of these, one after the other in this order. */
export function buildPrograms(
  names: readonly ProgramName[],
  options: FindOptions = {},
): ProgramBuilds {
  const looked = missingPrograms(names, options.environment).then((missing) => ({
    missing,
    clock: buildClock(missing),
  }))
  let progress: ProgramBuilds['progress'] = () => undefined
  let last: Promise<unknown> = looked
  const found = new Map<ProgramName, Promise<ReadyProgram | Unavailable>>()
  for (const name of new Set(names)) {
    const before = last
    const one = looked.then(async ({ missing, clock }) => {
      const index = missing.findIndex((each) => each.name === name)
      if (index === -1) return ensure(name, options, '')
      await before
      clock.begin(index)
      progress = () => clock.progress()
      const program = await ensure(name, options, ` (${index + 1} of ${missing.length})`)
      clock.end()
      return program
    })
    one.catch(() => {}) // whoever waits is told
    found.set(name, one)
    last = Promise.all([before, one])
  }
  const done = last.then(() => undefined)
  done.catch(() => {})
  return {
    ready: (name) => found.get(name) ?? ensureProgram(name, options),
    progress: () => progress(),
    done,
  }
}

/** @param place which of several builds it is, for people */
async function ensure(
  name: ProgramName,
  options: FindOptions,
  place: string,
): Promise<ReadyProgram | Unavailable> {
  const { environment = process.env, report = writeToStandardError, signal } = options
  const program: GoProgram = PROGRAMS[name]
  const build = await programBuild(name, environment)
  const ready = (buildSeconds: number): ReadyProgram => {
    return { state: 'ready', path: build.binary, folder: dirname(build.binary), buildSeconds }
  }
  const unavailable = (why: string): Unavailable => ({
    state: 'unavailable',
    why: `cannot run ${program.title} here: ${why}`,
  })
  if (await isExecutable(build.binary)) return ready(0)

  const go = await findProgram('go', environment)
  const lack =
    go === undefined
      ? 'there is no go on the PATH. Install Go.'
      : await whyNoCompiler(build, environment)
  if (go === undefined || lack !== undefined)
    return unavailable(`there is no build at ${build.binary}, and ${lack}`)
  const { beside, target = '.' } = program
  const what = `${program.title}${place}, about ${duration(expectedSeconds(name))}`
  const complete = async (): Promise<void> => beside && copyFolders(beside, build, go, environment)
  try {
    const outcome = await buildOnce(build, go, environment, {
      report,
      what,
      target,
      complete,
      ...(signal && { signal }),
    })
    return outcome.state === 'failed'
      ? unavailable(outcome.why)
      : ready(outcome.state === 'built' ? outcome.seconds : 0)
  } catch (thrown) {
    return unavailable(signal?.aborted === true ? 'the build was ended' : (thrown as Error).message)
  }
}

async function whyNoCompiler(
  build: GoBuild,
  environment: Environment,
): Promise<string | undefined> {
  if (!build.cgo || environment['CC'] || (await findProgram('gcc', environment)) !== undefined)
    return undefined
  return "there is no gcc on the PATH, which compiles its parts in C. Install gcc and the C library's headers."
}

/** What would be built. The key of its folder depends on the sources and the arguments, not on where the sources are. */
async function programBuild(name: ProgramName, environment: Environment): Promise<GoBuild> {
  const { module, cgo = false, tags, variables }: GoProgram = PROGRAMS[name]
  return goBuild(name, module, environment, cgo, (goMod) => {
    const linked = Object.entries(variables?.(goMod) ?? {}).flatMap(([variable, value]) => [
      '-X',
      `${variable}=${value}`,
    ])
    const tagged = tags === undefined ? [] : ['-tags', tags]
    return [
      'build',
      '-mod=readonly',
      '-buildvcs=false',
      '-trimpath',
      ...tagged,
      '-ldflags',
      ['-s', '-w', ...linked].join(' '),
    ]
  })
}

function writeToStandardError(message: string): void {
  process.stderr.write(`${message}\n`)
}

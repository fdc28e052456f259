import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildOnce, type Environment, findProgram, type GoBuild, goBuild, goEnvironment, isExecutable } from '../controlplane/go-build.ts'
import { copyFolder } from '../gitea/build-gitea.ts'

/** The controllers that can be built. `go.mod` says which versions. */
export type FluxController = 'source-controller' | 'kustomize-controller' | 'helm-controller'

/** How to run controllers of Flux. */
export interface FluxPrograms {
  readonly state: 'ready'
  readonly programs: ReadonlyMap<FluxController, string>
  /** Their CustomResourceDefinitions, as YAML documents in one text. */
  readonly definitions: string
}

/** A controller cannot run on this machine. A statement about the machine, never about the code under test. */
export interface FluxUnavailable {
  readonly state: 'unavailable'
  /** One sentence or more, for a person: what is missing and what to do. */
  readonly why: string
}

interface FindOptions {
  /** Defaults to `process.env`. Read: `XDG_CACHE_HOME`, `HOME`, `PATH`, and whatever `go` reads. */
  readonly environment?: Environment
  /** Defaults to this directory. */
  readonly module?: string
  /** Whether to build what is not there. Defaults to true. */
  readonly build?: boolean
  /** Told when a build starts, which takes minutes. Defaults to standard error. */
  readonly report?: (message: string) => void
}

const ARGUMENTS = ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', '-s -w']
const HOW_TO_BUILD = 'Run `node test/run.ts .flux.test`, which builds it.'
/** Folder beside the program. */
const DEFINITIONS = 'definitions'
const run = promisify(execFile)

/**
 * The programs to run: cached builds, else new ones with `go`. Beside each is a copy of its module's CustomResourceDefinitions, so that a
 * cached build needs neither Go nor its module cache.
 */
export async function findFlux(controllers: readonly FluxController[], options: FindOptions = {}): Promise<FluxPrograms | FluxUnavailable> {
  const environment = options.environment ?? process.env
  const module = options.module ?? fileURLToPath(new URL('.', import.meta.url))
  const report = options.report ?? ((message: string) => void process.stderr.write(`${message}\n`))
  const programs = new Map<FluxController, string>()
  const definitions: string[] = []
  for (const name of controllers) {
    const build = await goBuild(name, module, environment, false, () => [...ARGUMENTS])
    const isBuilt = await isExecutable(build.binary)
    if (!isBuilt && options.build === false) return unavailable(`there is no build at ${build.binary}. ${HOW_TO_BUILD}`)
    const why = isBuilt ? undefined : await buildFresh(build, environment, report)
    if (why !== undefined) return unavailable(why)
    programs.set(name, build.binary)
    const folder = join(dirname(build.binary), DEFINITIONS)
    for (const file of (await readdir(folder)).sort()) definitions.push(await readFile(join(folder, file), 'utf8'))
  }
  return { state: 'ready', programs, definitions: definitions.map((text) => text.replace(/^(?!---\n)/, '---\n')).join('') }
}

/** Every reason begins alike, so that a reader of test results knows it for one. */
function unavailable(why: string): FluxUnavailable {
  return { state: 'unavailable', why: `cannot run Flux here: ${why}` }
}

/** @returns why there is none */
async function buildFresh(build: GoBuild, environment: Environment, report: (message: string) => void): Promise<string | undefined> {
  const go = await findProgram('go', environment)
  if (go === undefined) return `there is no build at ${build.binary}, and there is no go on the PATH. Install Go.`
  const target = `github.com/fluxcd/${build.name}`
  const outcome = await buildOnce(build, go, environment, {
    report,
    what: `the ${build.name} of Flux once, up to 4 minutes on 2 cores`,
    target,
    complete: (folder) => copyDefinitions(build, go, environment, join(folder, DEFINITIONS)),
  })
  return outcome.state === 'failed' ? outcome.why : undefined
}

async function copyDefinitions(build: GoBuild, go: string, environment: Environment, to: string): Promise<void> {
  const listed = await run(go, ['mod', 'download', '-json', `github.com/fluxcd/${build.name}`], {
    cwd: build.module,
    env: goEnvironment(environment, build.cgo),
  })
  const { Dir } = JSON.parse(listed.stdout) as { readonly Dir: string }
  await copyFolder(join(Dir, 'config', 'crd', 'bases'), to)
}

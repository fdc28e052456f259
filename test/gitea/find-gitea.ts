import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram, isExecutable } from '../controlplane/go-build.ts'
import { buildGitea, giteaBuild, STATIC_FOLDER } from './build-gitea.ts'

/** How to run Gitea. */
export interface GiteaBinary {
  readonly state: 'ready'
  readonly source: 'cached build' | 'new build'
  readonly binary: string
  /** Gitea's `STATIC_ROOT_PATH`. */
  readonly staticRoot: string
  /** How long `new build` took; 0 for the other. */
  readonly buildSeconds: number
}

/** Gitea cannot run on this machine. A statement about the machine, never about the code under test. */
export interface GiteaUnavailable {
  readonly state: 'unavailable'
  /** One sentence or more, for a person: what is missing and what to do. */
  readonly why: string
}

export interface FindOptions {
  /** Defaults to `process.env`. Read: `XDG_CACHE_HOME`, `HOME`, `PATH`, `CC`, and whatever `go` reads. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Defaults to this directory. */
  readonly module?: string
  /** Told when a build starts, which takes minutes. Defaults to standard error. */
  readonly report?: (message: string) => void
}

/** The Gitea to run: a cached build, else a new build with `go` and a C compiler. */
export async function findGitea(options: FindOptions = {}): Promise<GiteaBinary | GiteaUnavailable> {
  const environment = options.environment ?? process.env
  if ((await findProgram('git', environment)) === undefined) return unavailable('there is no git on the PATH, which Gitea runs.')

  const build = await giteaBuild(options.module ?? fileURLToPath(new URL('.', import.meta.url)), environment)
  const found = (source: GiteaBinary['source'], buildSeconds: number): GiteaBinary => {
    const staticRoot = join(dirname(build.binary), STATIC_FOLDER)
    return { state: 'ready', source, binary: build.binary, staticRoot, buildSeconds }
  }
  if (await isExecutable(build.binary)) return found('cached build', 0)

  const go = await findProgram('go', environment)
  const nothing = `there is no build at ${build.binary}`
  if (go === undefined) return unavailable(`${nothing}, and there is no go on the PATH. Install Go.`)
  if (!environment['CC'] && (await findProgram('gcc', environment)) === undefined) {
    return unavailable(`${nothing}, and there is no gcc on the PATH, which compiles its database. Install gcc and the C library's headers.`)
  }
  const outcome = await buildGitea(build, go, environment, options.report ?? writeToStandardError)
  switch (outcome.state) {
    case 'built':
      return found('new build', outcome.seconds)
    case 'already there':
      return found('cached build', 0)
    case 'failed':
      return unavailable(outcome.why)
  }
}

/** Every reason begins alike, so that a reader of test results knows it for one. */
function unavailable(why: string): GiteaUnavailable {
  return { state: 'unavailable', why: `cannot run Gitea here: ${why}` }
}

function writeToStandardError(message: string): void {
  process.stderr.write(`${message}\n`)
}

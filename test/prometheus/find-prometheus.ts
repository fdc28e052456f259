import { fileURLToPath } from 'node:url'
import { buildOnce, findProgram, type GoBuild, goBuild, isExecutable } from '../controlplane/go-build.ts'

/** How to run Prometheus. */
export interface PrometheusBinaries {
  readonly state: 'ready'
  readonly prometheus: string
  readonly promtool: string
}

/** Prometheus cannot run on this machine. A statement about the machine, never about the code under test. */
export interface PrometheusUnavailable {
  readonly state: 'unavailable'
  /** One sentence or more, for a person: what is missing and what to do. */
  readonly why: string
}

interface FindOptions {
  /** Defaults to `process.env`. Read: `XDG_CACHE_HOME`, `HOME`, `PATH`, and whatever `go` reads. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Defaults to this directory. */
  readonly module?: string
  /** Told when a build starts, which takes minutes. Defaults to standard error. */
  readonly report?: (message: string) => void
}

const PROGRAMS = ['prometheus', 'promtool'] as const
const COMMANDS = 'github.com/prometheus/prometheus/cmd'
/** Without the libraries of every cloud, which find targets: the tests name theirs. */
const ARGUMENTS = ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-tags', 'remove_all_sd,netgo', '-ldflags', '-s -w']

/** The programs to run: cached builds, else new ones with `go`. `go.mod` says which version. */
export async function findPrometheus(options: FindOptions = {}): Promise<PrometheusBinaries | PrometheusUnavailable> {
  const environment = options.environment ?? process.env
  const module = options.module ?? fileURLToPath(new URL('.', import.meta.url))
  const report = options.report ?? ((message: string) => void process.stderr.write(`${message}\n`))
  const binaries: string[] = []
  for (const name of PROGRAMS) {
    const build = await goBuild(name, module, environment, false, () => [...ARGUMENTS])
    const why = (await isExecutable(build.binary)) ? undefined : await buildFresh(build, environment, report)
    if (why !== undefined) return { state: 'unavailable', why: `cannot run Prometheus here: ${why}` }
    binaries.push(build.binary)
  }
  const [prometheus = '', promtool = ''] = binaries
  return { state: 'ready', prometheus, promtool }
}

/** @returns why there is none */
async function buildFresh(
  build: GoBuild,
  environment: NonNullable<FindOptions['environment']>,
  report: (message: string) => void,
): Promise<string | undefined> {
  const go = await findProgram('go', environment)
  if (go === undefined) return `there is no build at ${build.binary}, and there is no go on the PATH. Install Go.`
  const what = `the ${build.name} of the tests once, about 2 minutes on 2 cores`
  const outcome = await buildOnce(build, go, environment, { report, what, target: `${COMMANDS}/${build.name}` })
  return outcome.state === 'failed' ? outcome.why : undefined
}

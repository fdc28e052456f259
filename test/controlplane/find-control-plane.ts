import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildControlPlane, controlPlaneBuild } from './build-control-plane.ts'
import { findProgram, isExecutable } from './go-build.ts'

export type ServerName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager'

/** How to run the servers: the first words of each server's command line; its flags follow. */
export interface ControlPlaneBinaries {
  readonly state: 'ready'
  readonly source: 'KUBEBUILDER_ASSETS' | 'cached build' | 'new build'
  /** Without an entry for a server that is not there (only ever `kube-controller-manager`). */
  readonly commands: ReadonlyMap<ServerName, readonly string[]>
  /** How long `new build` took; 0 for the others. */
  readonly buildSeconds: number
}

/** A control plane cannot run on this machine. A statement about the machine, never about the code under test. */
export interface ControlPlaneUnavailable {
  readonly state: 'unavailable'
  /** One sentence or more, for a person: what is missing and what to do. */
  readonly why: string
}

export interface FindOptions {
  /** Defaults to `process.env`. Read: `KUBEBUILDER_ASSETS`, `XDG_CACHE_HOME`, `HOME`, `PATH`, and whatever `go` reads. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Defaults to this directory. */
  readonly module?: string
  /** Told when a build starts, which takes minutes. Defaults to standard error. */
  readonly report?: (message: string) => void
}

/**
 * The servers to run: those in `KUBEBUILDER_ASSETS`, else a cached build, else a new build with `go`.
 *
 * An unusable `KUBEBUILDER_ASSETS` is reported and not passed over: whoever set it wants those servers tested.
 */
export async function findControlPlane(options: FindOptions = {}): Promise<ControlPlaneBinaries | ControlPlaneUnavailable> {
  const environment = options.environment ?? process.env
  const assets = environment['KUBEBUILDER_ASSETS']
  if (assets) return findAssets(assets)

  const build = await controlPlaneBuild(options.module ?? fileURLToPath(new URL('.', import.meta.url)), environment)
  if (await isExecutable(build.binary)) return ownBinary('cached build', build.binary, 0)

  const go = await findProgram('go', environment)
  if (go === undefined) {
    const why = `KUBEBUILDER_ASSETS is not set, there is no build at ${build.binary}, and there is no go on the PATH`
    return unavailable(`${why}. Install Go, or set KUBEBUILDER_ASSETS to a directory with etcd and kube-apiserver.`)
  }
  const outcome = await buildControlPlane(build, go, environment, options.report ?? writeToStandardError)
  switch (outcome.state) {
    case 'built':
      return ownBinary('new build', build.binary, outcome.seconds)
    case 'already there':
      return ownBinary('cached build', build.binary, 0)
    case 'failed':
      return unavailable(outcome.why)
  }
}

async function findAssets(directory: string): Promise<ControlPlaneBinaries | ControlPlaneUnavailable> {
  const commands = new Map<ServerName, readonly string[]>()
  for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const) {
    const path = join(directory, name)
    if (await isExecutable(path)) commands.set(name, [path])
    else if (name !== 'kube-controller-manager') {
      return unavailable(`KUBEBUILDER_ASSETS is ${directory}, and there is no executable ${name} in it.`)
    }
  }
  return { state: 'ready', source: 'KUBEBUILDER_ASSETS', commands, buildSeconds: 0 }
}

function ownBinary(source: ControlPlaneBinaries['source'], binary: string, buildSeconds: number): ControlPlaneBinaries {
  const names = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const
  return { state: 'ready', source, commands: new Map(names.map((name) => [name, [binary, name]])), buildSeconds }
}

/** Every reason begins alike, so that a reader of test results knows it for one. */
export function unavailable(why: string): ControlPlaneUnavailable {
  return { state: 'unavailable', why: `cannot run a control plane here: ${why}` }
}

function writeToStandardError(message: string): void {
  process.stderr.write(`${message}\n`)
}

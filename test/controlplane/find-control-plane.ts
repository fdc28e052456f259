import { join } from 'node:path'
import { ensureProgram, type FindOptions, type Unavailable } from '../programs/build-programs.ts'
import { isExecutable } from '../programs/go-build.ts'

export type { FindOptions } from '../programs/build-programs.ts'
/** A control plane cannot run on this machine. */
export type ControlPlaneUnavailable = Unavailable
export type ServerName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager'

/** How to run the servers: the first words of each server's command line; its flags follow. */
export interface ControlPlaneBinaries {
  readonly state: 'ready'
  readonly source: 'KUBEBUILDER_ASSETS' | 'own build'
  /** Without an entry for a server that is not there (only ever `kube-controller-manager`). */
  readonly commands: ReadonlyMap<ServerName, readonly string[]>
}

/**
 * The servers to run: those in `KUBEBUILDER_ASSETS`, else our build of them (`ensureProgram`).
 *
 * An unusable `KUBEBUILDER_ASSETS` is reported and not passed over: whoever set it wants those servers tested.
 */
export async function findControlPlane(
  options: FindOptions = {},
): Promise<ControlPlaneBinaries | ControlPlaneUnavailable> {
  const assets = (options.environment ?? process.env)['KUBEBUILDER_ASSETS']
  if (assets) return findAssets(assets)
  const found = await ensureProgram('controlplane', options)
  if (found.state === 'unavailable')
    return {
      ...found,
      why: `${found.why} Or set KUBEBUILDER_ASSETS to a directory with etcd and kube-apiserver.`,
    }
  const names = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const
  return {
    state: 'ready',
    source: 'own build',
    commands: new Map(names.map((name) => [name, [found.path, name]])),
  }
}

async function findAssets(
  directory: string,
): Promise<ControlPlaneBinaries | ControlPlaneUnavailable> {
  const commands = new Map<ServerName, readonly string[]>()
  for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const) {
    const path = join(directory, name)
    if (await isExecutable(path)) commands.set(name, [path])
    else if (name !== 'kube-controller-manager') {
      return unavailable(
        `KUBEBUILDER_ASSETS is ${directory}, and there is no executable ${name} in it.`,
      )
    }
  }
  return { state: 'ready', source: 'KUBEBUILDER_ASSETS', commands }
}

/** Every reason begins alike, so that a reader of test results knows it for one. */
export function unavailable(why: string): ControlPlaneUnavailable {
  return { state: 'unavailable', why: `cannot run a control plane here: ${why}` }
}

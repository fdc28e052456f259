/** Flux at work: its own controllers as processes on this machine, against the API server of a test. There is no kubelet, so nothing runs that they apply. */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { freePort } from '../controlplane/free-port.ts'
import { type Guard, type GuardedProcess, startGuard } from '../controlplane/start-guard.ts'
import { onFreePort, whileRunning } from '../controlplane/while-running.ts'
import { untilAnswers } from '../waiting/until-answers.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import type { FluxController, FluxPrograms } from './find-flux.ts'

/** Kinds that a controller reconciles, as they stand in the path of a request. */
const PATHS = {
  GitRepository: '/apis/source.toolkit.fluxcd.io/v1/namespaces/NAMESPACE/gitrepositories',
  HelmRelease: '/apis/helm.toolkit.fluxcd.io/v2/namespaces/NAMESPACE/helmreleases',
  Kustomization: '/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/NAMESPACE/kustomizations',
} as const
export type FluxKind = keyof typeof PATHS

/** What is looked at. */
export interface FluxResource {
  readonly metadata: { readonly name: string; readonly generation: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason: string
      readonly message: string
    }[]
    readonly artifact?: { readonly revision: string }
    readonly lastAppliedRevision?: string
    readonly lastHandledReconcileAt?: string
  }
}

export interface FluxControllers {
  /** One resource of the namespace that the controllers run in; undefined where it is not there. */
  resource(kind: FluxKind, name: string): Promise<FluxResource | undefined>
  /** Waits until these Kustomizations have applied the commit and are ready. Rejects with what they say, and the logs. */
  untilApplied(commit: string, kustomizations: readonly string[]): Promise<void>
  /** Waits until a HelmRelease is released as it is declared now. Rejects as `untilApplied`. */
  untilReleased(release: string): Promise<void>
  /** What `flux reconcile` and the receiver of a webhook do: an annotation. Waits until the controller has obeyed. */
  reconcile(kind: FluxKind, name: string): Promise<void>
  /** What a controller has written so far. */
  log(controller: FluxController): Promise<string>
  /** Safe to call again. */
  stop(): Promise<void>
}

/** Where they run in a real cluster. */
export const FLUX_NAMESPACE = 'flux-system'
const LOG_CHARACTERS = 4_000

/**
 * Starts the controllers, on free ports of 127.0.0.1, with the rights of the administrator as in a real cluster. Their
 * CustomResourceDefinitions have to be there. They end with `stop`, or with this process however this process ends.
 */
export function startFlux(
  plane: ControlPlane,
  { programs }: FluxPrograms,
): Promise<FluxControllers> {
  return onFreePort(async () => {
    const guard = await startGuard('flux')
    try {
      const starts = [...programs].map(
        async ([name, program]) =>
          [name, await startController(plane, guard, name, program)] as const,
      )
      const servers = new Map(await Promise.all(starts))
      guard.unref()
      return new Controllers(plane, servers, guard)
    } catch (error) {
      await guard.stop()
      throw error
    }
  })
}

async function startController(
  plane: ControlPlane,
  guard: Guard,
  name: FluxController,
  program: string,
): Promise<GuardedProcess> {
  const folder = join(guard.directory, name)
  await mkdir(join(folder, 'artifacts'), { recursive: true })
  const [health, artifacts] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const storage = [
    `--storage-path=${join(folder, 'artifacts')}`,
    `--storage-addr=${artifacts}`,
    `--storage-adv-addr=${artifacts}`,
  ]
  const server = await guard.start({
    name,
    command: [
      program,
      '--metrics-addr=0',
      '--events-addr=',
      `--health-addr=${health}`,
      '--enable-leader-election=false',
      '--watch-all-namespaces=true',
      // A Kustomization that waits for another looks again after this time.
      '--requeue-dependency=1s',
      ...(name === 'source-controller' ? storage : []),
    ],
    directory: folder,
    environment: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      TMPDIR: folder,
      KUBECONFIG: plane.kubeconfig,
      RUNTIME_NAMESPACE: FLUX_NAMESPACE,
      GOGC: '400',
    },
  })
  await whileRunning(name, [server], (signal) => untilAnswers(`http://${health}/readyz`, signal))
  return server
}

class Controllers implements FluxControllers {
  private readonly plane: ControlPlane
  private readonly servers: ReadonlyMap<FluxController, GuardedProcess>
  private readonly guard: Guard

  constructor(
    plane: ControlPlane,
    servers: ReadonlyMap<FluxController, GuardedProcess>,
    guard: Guard,
  ) {
    this.plane = plane
    this.servers = servers
    this.guard = guard
  }

  async resource(kind: FluxKind, name: string): Promise<FluxResource | undefined> {
    const { status, body } = await this.plane.request<FluxResource>('GET', pathOf(kind, name))
    if (status !== 200 && status !== 404)
      throw new Error(`${kind} ${name} answers ${status}: ${JSON.stringify(body)}`)
    return status === 200 ? body : undefined
  }

  async untilApplied(commit: string, kustomizations: readonly string[]): Promise<void> {
    for (const name of kustomizations)
      await this.until('Kustomization', name, ({ metadata, status }) => {
        const ready = status?.conditions?.some(
          (one) => one.type === 'Ready' && one.status === 'True',
        )
        const isNew =
          status?.observedGeneration === metadata.generation &&
          status.lastAppliedRevision?.endsWith(`:${commit}`)
        return ready === true && isNew === true
      })
  }

  untilReleased(release: string): Promise<void> {
    return this.until(
      'HelmRelease',
      release,
      ({ metadata, status }) =>
        status?.observedGeneration === metadata.generation &&
        status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true,
    )
  }

  async reconcile(kind: FluxKind, name: string): Promise<void> {
    // Flux compares it and reads no time in it.
    const requestedAt = randomUUID()
    const { status, body } = await this.plane.request(
      'PATCH',
      `${pathOf(kind, name)}?fieldManager=flux`,
      {
        contentType: 'application/merge-patch+json',
        body: { metadata: { annotations: { 'reconcile.fluxcd.io/requestedAt': requestedAt } } },
      },
    )
    if (status !== 200)
      throw new Error(`${kind} ${name} answers ${status}: ${JSON.stringify(body)}`)
    await this.until(kind, name, (found) => found.status?.lastHandledReconcileAt === requestedAt)
  }

  log(controller: FluxController): Promise<string> {
    const server = this.servers.get(controller)
    if (server === undefined) throw new Error(`no ${controller} was started`)
    return readFile(server.log, 'utf8')
  }

  stop(): Promise<void> {
    return this.guard.stop()
  }

  private async until(
    kind: FluxKind,
    name: string,
    isDone: (found: FluxResource) => boolean,
  ): Promise<void> {
    let found: FluxResource | undefined
    const look = async (): Promise<boolean> => {
      found = await this.resource(kind, name)
      return found !== undefined && isDone(found)
    }
    const describe = async (): Promise<string> => {
      const logs = await Promise.all(
        [...this.servers.keys()].map(
          async (one) => `--- ${one}\n${(await this.log(one)).slice(-LOG_CHARACTERS)}`,
        ),
      )
      return `${JSON.stringify(found?.status)}\n${logs.join('\n')}`
    }
    await waitUntil(`${kind} ${name} is done`, look, { describe })
  }
}

function pathOf(kind: FluxKind, name: string): string {
  return `${PATHS[kind].replace('NAMESPACE', FLUX_NAMESPACE)}/${name}`
}

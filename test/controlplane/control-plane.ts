import { createHash, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type WaitOptions, waitUntil } from '../waiting/wait-until.ts'
import { type ApiClient, type ApiRequest, type ApiResponse, apiClient } from './api-request.ts'
import type { ServerName } from './find-control-plane.ts'
import { kubeconfig } from './kubeconfig.ts'
import { type KubectlOptions, type KubectlResult, runKubectl } from './run-kubectl.ts'
import { type AuditLevel, FILES } from './server-flags.ts'
import {
  ADMIN,
  type Credential,
  clientCredential,
  type Identity,
  openTestAuthority,
} from './test-authority.ts'

/** What a process needs to use a control plane that another process runs. Written to a file as JSON. */
export interface ControlPlaneState {
  /** `https://127.0.0.1:<port>` */
  readonly url: string
  /** The control plane's directory: keys, logs, kubeconfigs. Gone when it stops. */
  readonly directory: string
  readonly controllerManager: boolean
  readonly auditLevel: AuditLevel | undefined
  readonly servers: readonly RunningServer[]
  /** Process id of what cleans up. */
  readonly guardPid: number
}

export interface RunningServer {
  readonly name: ServerName
  readonly pid: number
  /** Path of its output. */
  readonly log: string
}

export interface RequestOptions extends ApiRequest {
  /** Defaults to `ADMIN`. */
  readonly as?: Identity
}

/** A real kube-apiserver with its etcd, and perhaps a kube-controller-manager. RBAC is on; there are no nodes. */
export interface ControlPlane {
  readonly state: 'ready'
  readonly url: string
  /** The authority's certificate as in a kubeconfig: PEM in base64. */
  readonly caData: string
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string
  readonly controllerManager: boolean
  /** Path of the audit log (one JSON event a line), when the plane was started with an `auditLevel`. */
  readonly auditLog: string | undefined
  readonly servers: readonly RunningServer[]
  /** Path of the file that lets other processes use this plane; for `BACKPORCH_TEST_CONTROL_PLANE`. */
  readonly stateFile: string

  /** Path of a kubeconfig for any user. The user has no rights until a test binds a role to it or to its groups. */
  kubeconfigFor(user: string, groups?: readonly string[]): Promise<string>
  /** A client certificate for any user. */
  credentialFor(user: string, groups?: readonly string[]): Credential
  /** A request as it is, with any status as answer. Rejects only when there is no answer. */
  request<Body = unknown>(
    method: string,
    path: string,
    options?: RequestOptions,
  ): Promise<ApiResponse<Body>>
  /** Runs the real `kubectl`. Rejects, with its standard error, for an exit code that is not in `exitCodes`. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>
  /**
   * Creates a namespace `<prefix>-<random>` and returns its name. With a controller manager its default service account
   * exists. Nothing deletes it: planes are thrown away whole.
   */
  namespace(prefix: string): Promise<string>
  /** What a server has written so far. Rejects for a server that does not run. */
  logs(name: ServerName): Promise<string>
  /** Ends the plane if this process started it, and otherwise only this process's use of it. Safe to call again. */
  stop(): Promise<void>
}

/** Name of the state file in a control plane's directory. */
export const STATE_FILE = 'control-plane.json'

/**
 * A `ControlPlane` for what `state` describes. Rejects when its directory is gone.
 *
 * @param end what `stop` does.
 */
export async function openControlPlane(
  state: ControlPlaneState,
  end: () => Promise<void>,
): Promise<ControlPlane> {
  const authority = await openTestAuthority(state.directory)
  const clients = new Map<string, ApiClient>()
  const kubeconfigs = new Map<string, Promise<string>>([
    [keyOf(ADMIN), Promise.resolve(adminKubeconfig(state))],
  ])

  const clientOf = (identity: Identity): ApiClient => {
    const known = clients.get(keyOf(identity))
    const client =
      known ?? apiClient(state.url, authority.certificate, clientCredential(authority, identity))
    clients.set(keyOf(identity), client)
    return client
  }
  const kubeconfigOf = (identity: Identity): Promise<string> => {
    const known = kubeconfigs.get(keyOf(identity))
    const path =
      known ??
      writeKubeconfig(state, authority.certificate, identity, clientCredential(authority, identity))
    kubeconfigs.set(keyOf(identity), path)
    return path
  }
  const admin = clientOf(ADMIN)

  return {
    state: 'ready',
    url: state.url,
    caData: Buffer.from(authority.certificate).toString('base64'),
    kubeconfig: adminKubeconfig(state),
    controllerManager: state.controllerManager,
    auditLog: state.auditLevel === undefined ? undefined : join(state.directory, FILES.auditLog),
    servers: state.servers,
    stateFile: join(state.directory, STATE_FILE),
    kubeconfigFor: (user, groups = []) => kubeconfigOf({ user, groups }),
    credentialFor: (user, groups = []) => clientCredential(authority, { user, groups }),
    request: (method, path, { as = ADMIN, ...options } = {}) => clientOf(as)(method, path, options),
    kubectl: async (args, options = {}) =>
      runKubectl(
        await kubeconfigOf(options.as ?? ADMIN),
        join(state.directory, 'kubectl-cache'),
        args,
        options,
      ),
    namespace: (prefix) => createNamespace(admin, prefix, state.controllerManager),
    logs: async (name) => {
      const server = state.servers.find((one) => one.name === name)
      if (server === undefined) throw new Error(`this control plane has no ${name}`)
      return readFile(server.log, 'utf8')
    },
    stop: end,
  }
}

/** Waits until the object at `path` can be read. */
export async function untilExists(
  client: ApiClient,
  path: string,
  options: WaitOptions = {},
): Promise<void> {
  let status = 0
  const isThere = async (): Promise<boolean> => {
    status = (await client('GET', path)).status
    return status === 200
  }
  await waitUntil(`${path} exists`, isThere, { describe: () => `it answers ${status}`, ...options })
}

async function createNamespace(
  admin: ApiClient,
  prefix: string,
  controllerManager: boolean,
): Promise<string> {
  const name = `${prefix}-${randomBytes(4).toString('hex')}`
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  const created = await admin('POST', '/api/v1/namespaces', { body })
  if (created.status !== 201)
    throw new Error(`cannot create namespace ${name}: ${JSON.stringify(created.body)}`)
  // Pods are refused until it exists, and a test that makes one at once would fail now and then.
  if (controllerManager)
    await untilExists(admin, `/api/v1/namespaces/${name}/serviceaccounts/default`)
  return name
}

async function writeKubeconfig(
  state: ControlPlaneState,
  authority: string,
  identity: Identity,
  credential: Credential,
): Promise<string> {
  const id = createHash('sha256').update(keyOf(identity)).digest('hex').slice(0, 16)
  // The process id, because processes that share the plane each issue their own certificate for the same user.
  const path = join(state.directory, `${id}-${process.pid}.kubeconfig`)
  await writeFile(path, kubeconfig(state.url, authority, identity.user, credential), {
    mode: 0o600,
  })
  return path
}

function adminKubeconfig(state: ControlPlaneState): string {
  return join(state.directory, FILES.adminKubeconfig)
}

function keyOf(identity: Identity): string {
  return JSON.stringify([identity.user, ...identity.groups])
}

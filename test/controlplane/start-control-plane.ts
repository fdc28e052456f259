import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type WaitOptions, waitUntil } from '../waiting/wait-until.ts'
import { type ApiClient, apiClient } from './api-request.ts'
import {
  type ControlPlane,
  type ControlPlaneState,
  openControlPlane,
  STATE_FILE,
  untilExists,
} from './control-plane.ts'
import {
  type ControlPlaneBinaries,
  type ControlPlaneUnavailable,
  type FindOptions,
  findControlPlane,
  type ServerName,
  unavailable,
} from './find-control-plane.ts'
import { freePort } from './free-port.ts'
import { kubeconfig } from './kubeconfig.ts'
import {
  type AuditLevel,
  apiServerFlags,
  auditPolicy,
  controllerManagerFlags,
  etcdFlags,
  FILES,
  type ServerSetup,
} from './server-flags.ts'
import { type Guard, type GuardedProcess, startGuard } from './start-guard.ts'
import {
  ADMIN,
  clientCredential,
  createTestAuthority,
  type Identity,
  serviceAccountKeys,
  servingCredential,
  type TestAuthority,
} from './test-authority.ts'
import { onFreePort, whileRunning } from './while-running.ts'

export interface StartOptions extends FindOptions {
  /** Also run kube-controller-manager, with all its default controllers. Defaults to false: it costs a second and CPU. */
  readonly controllerManager?: boolean
  /** Write an audit log with this much in it. Defaults to no log. */
  readonly auditLevel?: AuditLevel
  /** Further kube-apiserver flags. One given here already is replaced, or, if it takes a list, added to. */
  readonly apiServerFlags?: readonly string[]
  /** Chooses kube-apiserver's port on 127.0.0.1. Called again when the port turns out to be taken. Defaults to `freePort`. */
  readonly choosePort?: () => Promise<number>
  /** How long to wait for readiness, in milliseconds, as `hangsAfter` of `waitUntil`; for the test of that. */
  readonly readyWithinMs?: number
}

const WHAT = 'the control plane'
const ANSWER_WITHIN_MS = 5_000
const CONTROLLER_MANAGER: Identity = { user: 'system:kube-controller-manager', groups: [] }

/**
 * Starts a control plane of this process's own, on free ports of 127.0.0.1. It is ready: `/readyz` is ok, the `default`
 * namespace exists, and with a controller manager its `default` service account.
 *
 * It ends with `stop`, or with this process however this process ends. It does not keep this process alive.
 *
 * Rejects when the servers are there but do not become ready; the error has the end of their logs.
 */
export async function startControlPlane(
  options: StartOptions = {},
): Promise<ControlPlane | ControlPlaneUnavailable> {
  const found = await findControlPlane(options)
  if (found.state === 'unavailable') return found
  if (options.controllerManager && !found.commands.has('kube-controller-manager')) {
    return unavailable(
      'KUBEBUILDER_ASSETS has no kube-controller-manager. Add it, or unset KUBEBUILDER_ASSETS.',
    )
  }
  return onFreePort(() => startOnFreePort(found, options))
}

async function startOnFreePort(
  found: ControlPlaneBinaries,
  options: StartOptions,
): Promise<ControlPlane> {
  const guard = await startGuard('control-plane')
  try {
    const setup: ServerSetup = {
      directory: guard.directory,
      port: await (options.choosePort ?? freePort)(),
      controllerManager: options.controllerManager ?? false,
      auditLevel: options.auditLevel,
      apiServerFlags: options.apiServerFlags ?? [],
    }
    const authority = await writeFiles(setup)
    const servers = await startServers(found, setup, authority, guard, options.readyWithinMs)
    const state: ControlPlaneState = {
      url: urlOf(setup),
      directory: guard.directory,
      controllerManager: setup.controllerManager,
      auditLevel: setup.auditLevel,
      servers: servers.map(({ name, pid, log }) => ({ name, pid, log })),
      guardPid: guard.pid,
    }
    await writeState(state)
    guard.unref()
    return await openControlPlane(state, () => guard.stop())
  } catch (error) {
    await guard.stop()
    throw error
  }
}

async function startServers(
  found: ControlPlaneBinaries,
  setup: ServerSetup,
  authority: TestAuthority,
  guard: Guard,
  hangsAfter: number | undefined,
): Promise<readonly StartedServer[]> {
  const client = apiClient(urlOf(setup), authority.certificate, clientCredential(authority, ADMIN))
  const start = (name: ServerName, flags: readonly string[]) =>
    startServer(found, guard, name, flags)

  // kube-apiserver tries etcd until it answers, so the two start together.
  const etcd = await start('etcd', etcdFlags(setup))
  const apiServer = await start('kube-apiserver', apiServerFlags(setup))
  const store = [etcd, apiServer]
  await whileRunning(WHAT, store, async (signal) => {
    await untilReady(client, { signal, hangsAfter })
    await untilExists(client, '/api/v1/namespaces/default', { signal, hangsAfter })
  })
  if (!setup.controllerManager) return store

  // It gives up on a kube-apiserver that is not healthy within 10 seconds, so it starts after.
  const controllers = await start('kube-controller-manager', controllerManagerFlags(setup))
  const all = [...store, controllers]
  const account = '/api/v1/namespaces/default/serviceaccounts/default'
  await whileRunning(WHAT, all, (signal) => untilExists(client, account, { signal, hangsAfter }))
  return all
}

interface StartedServer extends GuardedProcess {
  readonly name: ServerName
}

async function startServer(
  found: ControlPlaneBinaries,
  guard: Guard,
  name: ServerName,
  flags: readonly string[],
): Promise<StartedServer> {
  const command = found.commands.get(name)
  if (command === undefined) throw new Error(`no ${name} was found`)
  const { HOME = guard.directory, PATH = '' } = process.env
  const started = await guard.start({
    name,
    command: [...command, ...flags],
    directory: guard.directory,
    // No other variables: proxies and ETCD_* settings of the developer's shell are not for these servers.
    // Short-lived servers with memory enough: garbage is collected less often.
    environment: {
      HOME,
      PATH,
      TMPDIR: guard.directory,
      GOGC: '400',
      CONTROLPLANE_EXIT_WITH_STDIN: '1',
    },
  })
  return { ...started, name }
}

async function untilReady(client: ApiClient, options: WaitOptions): Promise<void> {
  // Whoever took the port may accept the connection and never answer: it is asked again.
  const answer = () =>
    client('GET', '/readyz', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).then(
      ({ status }) => status === 200,
      () => false, // it does not listen yet
    )
  await waitUntil('the control plane is ready', answer, options)
}

async function writeFiles(setup: ServerSetup): Promise<TestAuthority> {
  const { directory } = setup
  const authority = await createTestAuthority(directory)
  const url = urlOf(setup)
  const serving = servingCredential(authority)
  const accounts = serviceAccountKeys()
  const configOf = (identity: Identity) =>
    kubeconfig(url, authority.certificate, identity.user, clientCredential(authority, identity))
  const contents: readonly (readonly [keyof typeof FILES, string])[] = [
    ['servingCertificate', serving.certificate],
    ['servingKey', serving.key],
    ['serviceAccountPrivateKey', accounts.privateKey],
    ['serviceAccountPublicKey', accounts.publicKey],
    ['adminKubeconfig', configOf(ADMIN)],
    ['controllerManagerKubeconfig', configOf(CONTROLLER_MANAGER)],
    ['auditPolicy', JSON.stringify(auditPolicy(setup.auditLevel ?? 'Metadata'))],
  ]
  await mkdir(join(directory, 'etcd'), { mode: 0o700 })
  await Promise.all(
    contents.map(([name, text]) => writeFile(join(directory, FILES[name]), text, { mode: 0o600 })),
  )
  return authority
}

/** Complete or not at all, because another process may be waiting for it. */
async function writeState(state: ControlPlaneState): Promise<void> {
  const path = join(state.directory, STATE_FILE)
  await writeFile(`${path}.unfinished`, JSON.stringify(state, undefined, 2))
  await rename(`${path}.unfinished`, path)
}

function urlOf(setup: ServerSetup): string {
  return `https://127.0.0.1:${setup.port}`
}

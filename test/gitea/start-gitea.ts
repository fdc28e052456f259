import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../controlplane/free-port.ts'
import { type Guard, type GuardedProcess, startGuard } from '../controlplane/start-guard.ts'
import { onFreePort, PortTaken, whileRunning } from '../controlplane/while-running.ts'
import { type WaitOptions, waitUntil } from '../waiting/wait-until.ts'
import { appIni, type GiteaSetup } from './app-ini.ts'
import {
  type FindOptions,
  findGitea,
  type GiteaBinary,
  type GiteaUnavailable,
} from './find-gitea.ts'
import { type Gitea, type GiteaState, openGitea, STATE_FILE } from './gitea.ts'
import { giteaRequest } from './gitea-request.ts'

export interface StartOptions extends FindOptions {
  /** Chooses the port on 127.0.0.1. Called again when the port turns out to be taken. Defaults to `freePort`. */
  readonly choosePort?: () => Promise<number>
  /** How long to wait for readiness, in milliseconds, as `hangsAfter` of `waitUntil`; for the test of that. */
  readonly readyWithinMs?: number
}

const WHAT = 'Gitea'
const ANSWER_WITHIN_MS = 5_000
const ADMIN = 'operator' // Gitea reserves the name admin

/**
 * Starts a Gitea of this process's own, on a free port of 127.0.0.1, with one user, who is an administrator. It is ready:
 * `/api/v1/version` answers and that user has a token.
 *
 * It ends with `stop`, or with this process however this process ends. It does not keep this process alive.
 *
 * Rejects when Gitea is there but does not become ready; the error has the end of its log.
 */
export async function startGitea(options: StartOptions = {}): Promise<Gitea | GiteaUnavailable> {
  const found = await findGitea(options)
  if (found.state === 'unavailable') return found
  return onFreePort(() => startOnFreePort(found, options))
}

async function startOnFreePort(found: GiteaBinary, options: StartOptions): Promise<Gitea> {
  const guard = await startGuard('gitea')
  try {
    const port = await (options.choosePort ?? freePort)()
    const setup: GiteaSetup = { directory: guard.directory, port, staticRoot: found.staticRoot }
    for (const folder of ['data', 'home', 'custom', 'tmp'])
      await mkdir(join(guard.directory, folder), { mode: 0o700 })
    await writeFile(iniOf(guard), appIni(setup), { mode: 0o600 })
    const url = `http://127.0.0.1:${port}`
    const server = await startProcess(found, guard, 'gitea', ['web'])
    const [version, admin] = await whileRunning(WHAT, [server], async (signal) => [
      await untilReady(url, server, { signal, hangsAfter: options.readyWithinMs }),
      await createAdmin(found, guard, url),
    ])
    const state: GiteaState = {
      url,
      version,
      directory: guard.directory,
      admin,
      server: { pid: server.pid, log: server.log },
      guardPid: guard.pid,
    }
    await writeState(state)
    guard.unref()
    return openGitea(state, () => guard.stop())
  } catch (error) {
    await guard.stop()
    throw error
  }
}

/** The version that it says it is. Rejects with `PortTaken`, after which Gitea only logs that and goes on without a port. */
function untilReady(url: string, server: GuardedProcess, options: WaitOptions): Promise<string> {
  const look = async (): Promise<string | undefined> => {
    if ((await readFile(server.log, 'utf8')).includes('address already in use'))
      throw new PortTaken(`${url} is taken`)
    // Whoever took the port may accept the connection and never answer: it is asked again.
    return versionOf(url, AbortSignal.timeout(ANSWER_WITHIN_MS)).catch(() => undefined)
  }
  return waitUntil('Gitea answers', look, options)
}

async function versionOf(url: string, signal: AbortSignal): Promise<string | undefined> {
  const { status, body } = await giteaRequest<{ version?: unknown }>(
    `${url}/api/v1/version`,
    'GET',
    undefined,
    undefined,
    {},
    signal,
  )
  return status === 200 && typeof body.version === 'string' ? body.version : undefined
}

/** The first user cannot be made through the API, which knows nobody yet. */
async function createAdmin(
  found: GiteaBinary,
  guard: Guard,
  url: string,
): Promise<GiteaState['admin']> {
  const password = randomBytes(12).toString('hex')
  const account = [
    '--username',
    ADMIN,
    '--password',
    password,
    '--email',
    `${ADMIN}@example.invalid`,
  ]
  const program = await startProcess(found, guard, 'create-admin', [
    'admin',
    'user',
    'create',
    '--admin',
    ...account,
  ])
  const how = await program.exit
  if (how !== 'code 0')
    throw new Error(`cannot create the first user: ${how}\n${await readFile(program.log, 'utf8')}`)
  const basic = `Basic ${Buffer.from(`${ADMIN}:${password}`).toString('base64')}`
  const body = { name: 'tests', scopes: ['all'] }
  const created = await giteaRequest<{ sha1: string }>(
    `${url}/api/v1/users/${ADMIN}/tokens`,
    'POST',
    basic,
    body,
  )
  if (created.status !== 201)
    throw new Error(
      `cannot create a token for the first user: ${created.status} ${JSON.stringify(created.body)}`,
    )
  return { name: ADMIN, password, token: created.body.sha1 }
}

function startProcess(
  found: GiteaBinary,
  guard: Guard,
  name: string,
  args: readonly string[],
): Promise<GuardedProcess> {
  const { directory } = guard
  const folders = [
    '--config',
    iniOf(guard),
    '--work-path',
    directory,
    '--custom-path',
    join(directory, 'custom'),
  ]
  return guard.start({
    name,
    command: [found.binary, ...args, ...folders],
    directory,
    // No other variables: proxies and git's settings of the developer's shell are not for this server.
    environment: {
      HOME: join(directory, 'home'),
      PATH: process.env['PATH'] ?? '',
      // For its hooks too, each a start of Gitea: garbage is collected less often.
      GOGC: '400',
      TMPDIR: join(directory, 'tmp'),
      GIT_CONFIG_NOSYSTEM: '1',
      GITEA_EXIT_WITH_STDIN: '1',
    },
  })
}

function iniOf(guard: Guard): string {
  return join(guard.directory, 'app.ini')
}

/** Complete or not at all, because another process may be waiting for it. */
async function writeState(state: GiteaState): Promise<void> {
  const path = join(state.directory, STATE_FILE)
  await writeFile(`${path}.unfinished`, JSON.stringify(state, undefined, 2), { mode: 0o600 })
  await rename(`${path}.unfinished`, path)
}

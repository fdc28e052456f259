/**
 * Only absolute paths that the operator allowed. Contract:
 * https://kubernetes.io/docs/reference/config-api/client-authentication.v1/ (`ExecCredential`).
 */
import { spawn } from 'node:child_process'
import { isAbsolute, parse } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import { getKey, isJsonObject, type JsonObject, parseJson } from '@backporch/kyaml/json'
import { buildChildEnvironment } from '@backporch/system/child-environment'
import { Deadline } from '@backporch/system/deadline'
import { findProgram } from '@backporch/system/find-program'
import type { Environment } from './choose-proxy.ts'
import type { ClusterAccess, ExecPlugin } from './kubeconfig.ts'

interface ExecOptions {
  readonly environment: Environment
  readonly execAllow: readonly string[]
  /** Milliseconds; default 10 s. */
  readonly execTimeout?: number
}

export interface ExecCredential {
  readonly token?: string
  readonly certificate?: string
  readonly key?: string
  readonly expires?: Date
}

const TIME_LIMIT = 10_000
const LARGEST_OUTPUT = 1024 * 1024
const API_VERSION = /^client\.authentication\.k8s\.io\/(v1|v1beta1)$/

/**
 * Never reads standard error, because plugins print secrets there.
 * @throws Failure BP1008 if the command is not allowed or missing, BP3002 if it gives no credential
 */
export async function runExecPlugin(
  plugin: ExecPlugin,
  access: ClusterAccess,
  options: ExecOptions,
  signal: AbortSignal,
): Promise<ExecCredential> {
  const command = resolveAllowedCommand(plugin, access, options)
  if (!API_VERSION.test(plugin.apiVersion)) {
    throw createNoCredentialFailure(
      access,
      command,
      `it has apiVersion ${plugin.apiVersion}, wanted client.authentication.k8s.io/v1 or v1beta1`,
    )
  }
  const run = {
    args: plugin.args,
    env: buildPluginEnvironment(plugin, access, options.environment),
    timeout: options.execTimeout ?? TIME_LIMIT,
  }
  const output = await runCredentialPlugin(
    command,
    run,
    (why) => createNoCredentialFailure(access, command, why),
    signal,
  )
  return readCredential(output, access, command)
}

function resolveAllowedCommand(
  plugin: ExecPlugin,
  access: ClusterAccess,
  { environment, execAllow }: ExecOptions,
): string {
  const path = isAbsolute(plugin.command)
    ? plugin.command
    : findProgram(plugin.command, environment['PATH'] ?? '')
  if (path === undefined) {
    throw createNotAllowedFailure(
      access,
      `the credential plugin ${JSON.stringify(plugin.command)} is not on the PATH`,
      'install it, or use a kubeconfig with a token',
    )
  }
  if (!execAllow.includes(path)) {
    throw createNotAllowedFailure(
      access,
      `the credential plugin ${path} is not on the list of allowed programs`,
      `allow it with --kubeconfig-exec-allow=${path}`,
    )
  }
  return path
}

function buildPluginEnvironment(
  plugin: ExecPlugin,
  access: ClusterAccess,
  environment: Environment,
): NodeJS.ProcessEnv {
  const cluster = {
    server: access.server.href,
    ...(access.serverName === undefined ? {} : { 'tls-server-name': access.serverName }),
  }
  const info = {
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(plugin.provideClusterInfo ? { cluster } : {}) },
  }
  const own = Object.fromEntries(plugin.env.map(({ name, value }) => [name, value]))
  return {
    ...buildChildEnvironment(environment, 'plugin'),
    ...own,
    KUBERNETES_EXEC_INFO: JSON.stringify(info),
  }
}

function runCredentialPlugin(
  command: string,
  {
    args,
    env,
    timeout,
  }: {
    readonly args: readonly string[]
    readonly env: NodeJS.ProcessEnv
    readonly timeout: number
  },
  failure: (why: string) => Failure,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: parse(process.cwd()).root,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
      // Children must end with the plugin.
      detached: process.platform !== 'win32',
    })
    let output = ''
    const end = (why: string): void => {
      stop()
      kill(child.pid)
      reject(failure(why))
    }
    const limit = new Deadline(timeout, () => end(`it did not answer within ${timeout / 1000} s`))
    const abort = (): void => {
      stop()
      kill(child.pid)
      reject(signal.reason)
    }
    const stop = (): void => {
      limit.stop()
      signal.removeEventListener('abort', abort)
      child.stdout.removeAllListeners('data')
      child.removeAllListeners('close')
    }
    signal.addEventListener('abort', abort, { once: true })
    child.on('error', () => end('it could not be started'))
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk: string) => {
      output += chunk
      if (output.length > LARGEST_OUTPUT) end(`it wrote more than ${LARGEST_OUTPUT} bytes`)
    })
    child.on('close', (code) => {
      stop()
      if (code === 0) resolve(output)
      else reject(failure(`it ended with ${code ?? 'a signal'}; run it by hand to see why`))
    })
  })
}

function kill(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // Already ended.
  }
}

function readCredential(output: string, access: ClusterAccess, command: string): ExecCredential {
  let status: JsonObject | undefined
  try {
    const answer = parseJson(output)
    const inner =
      isJsonObject(answer) && getKey(answer, 'kind') === 'ExecCredential'
        ? getKey(answer, 'status')
        : undefined
    status = isJsonObject(inner) ? inner : undefined
  } catch {
    // The failure below does not contain the output.
  }
  if (status === undefined)
    throw createNoCredentialFailure(
      access,
      command,
      'its output is not an ExecCredential with a status',
    )
  const text = (name: string): string | undefined => {
    const value = status === undefined ? undefined : getKey(status, name)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const [token, certificate, key, until] = [
    text('token'),
    text('clientCertificateData'),
    text('clientKeyData'),
    text('expirationTimestamp'),
  ]
  if (token === undefined && (certificate === undefined || key === undefined)) {
    throw createNoCredentialFailure(
      access,
      command,
      'its ExecCredential has neither a token nor a certificate with its key',
    )
  }
  const expires = until === undefined ? undefined : new Date(until)
  return {
    ...(token === undefined ? {} : { token }),
    ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
    ...(expires === undefined || Number.isNaN(expires.getTime()) ? {} : { expires }),
  }
}

function createNotAllowedFailure(access: ClusterAccess, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP1008',
    what: 'the kubeconfig wants to run a program',
    where: access.file,
    why,
    remedy,
  })
}

function createNoCredentialFailure(access: ClusterAccess, command: string, why: string): Failure {
  return new Failure({
    code: 'BP3002',
    what: `the credential plugin ${command} gave no credentials`,
    where: access.file,
    why,
    remedy: 'run the plugin by hand, or log in again',
    retry: 'on-change',
  })
}

/**
 * `git` for a local repository, `ssh` for a remote one. One process for the whole conversation:
 * forges' ssh servers allow exactly `git-upload-pack '<path>'` and `git-receive-pack '<path>'` and
 * no `--stateless-rpc`.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Failure } from '@backporch/kyaml/failure'
import { formatForeignLine } from '@backporch/kyaml/text'
import type { Environment } from '@backporch/system/child-environment'
import {
  createGitNotInstalledFailure,
  createTooManyRefsFailure,
  createUnreachableFailure,
  getSystemCode,
} from '../program/git-failure.ts'
import { findGitFolder } from '../program/git-folder.ts'
import {
  buildGitEnvironment,
  getNeutralFolder,
  NO_HOOKS,
  NO_PROGRAMS,
  OWN_SESSION,
} from '../program/git-program.ts'
import { receiveSettings } from '../program/repository-programs.ts'
import {
  type Advertisement,
  assertReadable,
  buildRefsRequest,
  RefusedService,
  readAdvertisement,
  readRefs,
  TooManyRefs,
} from './advertisement.ts'
import { ByteReader, StreamFault } from './byte-reader.ts'
import type { GitService, GitSession, GitTransport, TransportLimits } from './git-transport.ts'
import { FLUSH } from './pkt-line.ts'
import type { RemoteAddress } from './remote-address.ts'

interface Launch {
  readonly program: string
  readonly args: readonly string[]
}

/** Milliseconds. */
const GRACE = 5000

type ProcessAddress = Extract<RemoteAddress, { kind: 'local' | 'ssh' }>

export class ProcessTransport implements GitTransport {
  readonly secrets: readonly string[] = []
  readonly #address: ProcessAddress
  readonly #environment: Environment
  readonly #limits: TransportLimits
  #gitFolder: string | undefined

  constructor(address: ProcessAddress, environment: Environment, limits: TransportLimits) {
    this.#address = address
    this.#environment = environment
    this.#limits = limits
  }

  async open(service: GitService, signal: AbortSignal, known?: Advertisement): Promise<GitSession> {
    signal.throwIfAborted()
    const launch =
      this.#address.kind === 'ssh'
        ? buildSshLaunch(this.#address, service, this.#environment)
        : await this.#buildLocalLaunch(service, signal)
    signal.throwIfAborted()
    // Only for reading. An ssh server that drops the variable answers in version 0.
    const protocol = service === 'git-upload-pack' ? { GIT_PROTOCOL: 'version=2' } : {}
    const running = new Conversation(
      launch,
      { ...buildGitEnvironment(this.#environment), ...protocol },
      signal,
    )
    const reader = new ByteReader(running.output, this.#limits)
    try {
      const offered = await readAdvertisement(reader, false)
      signal.throwIfAborted()
      assertReadable(offered, this.#address.printed)
      if (offered.version !== 2 || known?.version === 2)
        return running.createSession(known?.version === 2 ? known : offered, reader)
      running.ask(buildRefsRequest(offered))
      return running.createSession(await readRefs(reader, offered), reader)
    } catch (thrown) {
      const ended = await running.end(
        thrown instanceof StreamFault && (thrown.kind === 'silent' || thrown.kind === 'slow'),
      )
      signal.throwIfAborted()
      throw this.#startFailure(thrown, ended, launch.program)
    }
  }

  explain(thrown: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason
    if (thrown instanceof Failure) return thrown
    if (thrown instanceof StreamFault || getSystemCode(thrown) !== undefined) {
      return createUnreachableFailure(
        this.#address.printed,
        thrown instanceof Error ? formatForeignLine(thrown.message) : 'the connection broke',
        thrown,
      )
    }
    return thrown
  }

  #startFailure(thrown: unknown, ended: Ended, program: string): unknown {
    const { printed, kind } = this.#address
    if (thrown instanceof Failure) return thrown
    if (thrown instanceof TooManyRefs) return createTooManyRefsFailure(printed, thrown.message)
    if (ended.missing) {
      return kind === 'local'
        ? createGitNotInstalledFailure(printed)
        : createUnreachableFailure(
            printed,
            `there is no program \`${program}\` on the PATH; install it or use https`,
          )
    }
    if (thrown instanceof RefusedService)
      return createUnreachableFailure(
        printed,
        `the server refuses: ${formatForeignLine(thrown.message)}`,
      )
    if (!(thrown instanceof StreamFault)) return this.explain(thrown, new AbortController().signal)
    const reported = formatForeignLine(ended.stderr)
    return createUnreachableFailure(printed, reported === '' ? thrown.message : reported, thrown)
  }

  /** @throws Failure BP1002, BP4009, BP4010 */
  async getGitFolder(signal: AbortSignal): Promise<string> {
    this.#gitFolder ??= await findGitFolder(this.#address, this.#environment, signal)
    return this.#gitFolder
  }

  async #buildLocalLaunch(service: GitService, signal: AbortSignal): Promise<Launch> {
    const folder = await this.getGitFolder(signal)
    const settings =
      service === 'git-receive-pack'
        ? await receiveSettings(folder, this.#environment, signal)
        : [...NO_PROGRAMS, ...NO_HOOKS]
    return { program: 'git', args: [...settings, service.slice('git-'.length), folder] }
  }
}

/** Like git (git documentation, GIT_SSH_COMMAND): a shell line with these words as arguments. */
function buildSshLaunch(
  address: Extract<RemoteAddress, { kind: 'ssh' }>,
  service: GitService,
  environment: Environment,
): Launch {
  const quoted = `'${address.path.replace(/['!]/g, (character) => `'\\${character}'`)}'`
  const words = [
    ...(address.port === undefined ? [] : ['-p', String(address.port)]),
    address.destination,
    `${service} ${quoted}`,
  ]
  const command = environment['GIT_SSH_COMMAND'] || undefined
  const protocol = service === 'git-upload-pack' ? ['-o', 'SendEnv=GIT_PROTOCOL'] : []
  if (command === undefined)
    return { program: 'ssh', args: ['-o', 'BatchMode=yes', ...protocol, ...words] }
  // Other programs do not know the option (connect.c, determine_ssh_variant).
  const options = /(?:^|\/)ssh(?:\.exe)?$/.test(command.trim().split(/\s+/)[0] ?? '')
    ? protocol
    : []
  return { program: 'sh', args: ['-c', `${command} "$@"`, command, ...options, ...words] }
}

interface Ended {
  readonly stderr: string
  readonly missing: boolean
}

class Conversation {
  readonly output: AsyncIterable<Uint8Array>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #closed: Promise<void>
  #stderr = ''
  #missing = false
  #requested = false

  constructor(launch: Launch, environment: NodeJS.ProcessEnv, signal: AbortSignal) {
    const child = spawn(launch.program, launch.args, {
      cwd: getNeutralFolder(),
      env: environment,
      stdio: 'pipe',
      detached: OWN_SESSION,
    })
    this.#child = child
    this.output = child.stdout
    child.stdin.on('error', () => {}) // the end of the answer reports it
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-4096)
    })
    const onAbort = () => this.#kill()
    signal.addEventListener('abort', onAbort, { once: true })
    this.#closed = new Promise((resolve) => {
      child.on('error', (error) => {
        this.#missing = getSystemCode(error) === 'ENOENT'
        child.stdout.destroy()
        resolve()
      })
      child.on('close', () => resolve())
    })
    void this.#closed.then(() => signal.removeEventListener('abort', onAbort))
  }

  ask(body: readonly Uint8Array[]): void {
    for (const part of body) this.#child.stdin.write(part)
  }

  createSession(advertisement: Advertisement, reader: ByteReader): GitSession {
    return {
      advertisement,
      request: async (body) => {
        this.#requested = true
        this.ask(body)
        this.#child.stdin.end()
        return reader
      },
      close: async () => {
        await this.end(false)
      },
    }
  }

  async end(now: boolean): Promise<Ended> {
    if (now) this.#kill()
    else if (!this.#requested && this.#child.stdin.writable) this.#child.stdin.end(FLUSH)
    this.#child.stdout.destroy()
    const timer = setTimeout(() => this.#kill(), GRACE)
    await this.#closed
    clearTimeout(timer)
    return { stderr: this.#stderr, missing: this.#missing }
  }

  #kill(): void {
    const { pid } = this.#child
    if (pid === undefined || this.#child.exitCode !== null) return
    try {
      process.kill(OWN_SESSION ? -pid : pid, 'SIGKILL')
    } catch {
      // it just ended
    }
  }
}

/** Loaded only if GitHub is the forge, because it loads octokit. */
import type { PackageRepository } from '@backporch/git-store/package-repository'
import type { Clock } from '@backporch/system/clock'
import type { Trace } from '@backporch/system/trace'
import { Octokit } from '@octokit/rest'
import type {
  ConnectOptions,
  CredentialOptions,
  ForgeConnection,
} from '../adapter/forge-adapter.ts'
import { createNoAddressFailure } from '../adapter/forge-address.ts'
import { createCredentialsFailure } from '../adapter/forge-failure.ts'
import { createProxyDispatcher } from '../adapter/proxy-dispatcher.ts'
import { RequestGovernor } from '../adapter/request-governor.ts'
import type { HostedForge } from '../ports/hosted-forge.ts'
import { type GitHubAddress, parseGitHubAddress } from './github-address.ts'
import { GitHubCheckRuns } from './github-check-runs.ts'
import { GitHubClient } from './github-client.ts'
import {
  createAppTokens,
  type GitHubCredential,
  readAppCredential,
  type TokenSource,
} from './github-credentials.ts'
import { answerCache, GitHubFetch } from './github-fetch.ts'
import { createGitHubForge } from './github-forge.ts'
import { probeGitHub } from './probe-github.ts'

interface GitHubOptions {
  readonly address: GitHubAddress
  readonly credential: GitHubCredential
  readonly clock: Clock
  readonly version: string
  readonly governor: RequestGovernor
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly notice?: (text: string) => void
  readonly trace?: Trace
}

export interface OpenedGitHub {
  readonly client: GitHubClient
  granted(): Readonly<Record<string, string>> | undefined
  /** An App's token is valid for at least some minutes. */
  token(signal: AbortSignal): Promise<string>
  forge(repository: PackageRepository): HostedForge
  close(): Promise<void>
}

const MOST_ANSWERS = 512
const MOST_CHARACTERS = 16 * 1024 * 1024
/** docs.github.com, "GitHub's token formats". */
const INSTALLATION_TOKEN = 'ghs_'

/** @param longestWait milliseconds; beyond it, BP5004 says until when */
export function createGitHubGovernor(
  clock: Clock,
  longestWait: number,
  dryRun = false,
): RequestGovernor {
  return new RequestGovernor({
    forge: 'GitHub',
    clock,
    longestWait,
    writesPerMinute: 80,
    writesPerHour: 500,
    dryRun,
  })
}

/**
 * Sends no request yet.
 * @throws Failure BP5002 for an impossible token or key
 */
export async function openGitHub(options: GitHubOptions): Promise<OpenedGitHub> {
  const { address, credential, clock, governor, trace } = options
  const dispatcher = createProxyDispatcher(options.environment ?? {}, { allowH2: false })
  const holder: { client?: GitHubClient; tokens: TokenSource } = { tokens: async () => undefined }
  const transport = new GitHubFetch({
    address,
    dispatcher,
    governor,
    clock,
    cache: answerCache(MOST_ANSWERS, MOST_CHARACTERS),
    agent: `backporch/${options.version}`,
    token: (renewed, signal) => holder.tokens(renewed, signal),
    ...(trace === undefined ? {} : { trace }),
  })
  const octokit = new Octokit({
    baseUrl: address.apiUrl,
    userAgent: `backporch/${options.version}`,
    request: { fetch: transport.fetch.bind(transport) },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  })
  const client = new GitHubClient(address, octokit, options.notice ?? (() => {}))
  let permissions: Readonly<Record<string, string>> | undefined
  if (credential.kind === 'app') {
    const ask = client.ask.bind(client)
    const granted = (given: Readonly<Record<string, string>>): void => {
      permissions = given
    }
    holder.tokens = await createAppTokens(credential, { address, clock, octokit, ask, granted })
  } else {
    const token = checkToken(credential.token, address)
    holder.tokens = async () => token
  }
  const granted = (): Readonly<Record<string, string>> | undefined => permissions
  const isApp = credential.kind === 'app' || credential.token.startsWith(INSTALLATION_TOKEN)
  const checkRuns =
    credential.kind === 'app'
      ? new GitHubCheckRuns(client, { appId: credential.appId, granted })
      : undefined
  return {
    client,
    granted,
    token: async (signal) => (await holder.tokens(false, signal)) ?? '',
    forge: (repository) =>
      createGitHubForge(client, { repository, clock, writeCount: governor, checkRuns, isApp }),
    close: () => dispatcher.close(),
  }
}

/** An error about other characters in a header would repeat the token. */
function checkToken(token: string, address: GitHubAddress): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  const why =
    token === ''
      ? 'the token is empty'
      : 'the token has blanks, line breaks or other characters that no token has'
  throw createCredentialsFailure(
    { address, what: 'use GitHub' },
    why,
    'give the token as GitHub shows it',
  )
}

/** `BACKPORCH_TOKEN` precedes an App. */
export async function connectGitHub(options: ConnectOptions): Promise<ForgeConnection | undefined> {
  const {
    remote,
    environment,
    workingDirectory = '.',
    clock,
    version,
    longestWait,
    dryRun,
    note,
    trace,
  } = options
  const address = parseGitHubAddress(remote)
  if (address === undefined) throw createNoAddressFailure(remote)
  const app = await readAppCredential(address.host, environment, workingDirectory)
  const token = app === undefined ? await options.findToken(address) : undefined
  const credential = app ?? (token === undefined ? undefined : { kind: 'token' as const, token })
  if (credential === undefined) return undefined
  const opened = await openGitHub({
    address,
    credential,
    clock,
    version,
    governor: createGitHubGovernor(clock, longestWait, dryRun),
    environment,
    notice: note,
    ...(trace === undefined ? {} : { trace }),
  })
  return { forge: opened.forge, probe: (refs, signal) => probeGitHub(opened, refs, signal) }
}

export async function createAppToken(
  remote: string,
  { environment, workingDirectory = '.', clock, version, longestWait }: CredentialOptions,
): Promise<((signal: AbortSignal) => Promise<string>) | undefined> {
  const address = parseGitHubAddress(remote)
  const credential =
    address === undefined
      ? undefined
      : await readAppCredential(address.host, environment, workingDirectory)
  if (address === undefined || credential === undefined) return undefined
  const opened = await openGitHub({
    address,
    credential,
    clock,
    version,
    governor: createGitHubGovernor(clock, longestWait),
    environment,
  })
  return opened.token
}

/** Which forge a repository is on: told by its address, asked where that does not say, or given. */
import { EnvHttpProxyAgent } from 'undici'
import { Failure } from '../../failure.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Forge } from '../../ports/hosted-forge.ts'
import type { PackageRepository } from '../../ports/package-repository.ts'
import type { Finding } from '../../ports/probes.ts'
import type { Trace } from '../../ports/trace.ts'
import { tokenFor } from './forge-token.ts'
import { parseGiteaAddress } from './gitea/gitea-address.ts'
import type { GiteaClient } from './gitea/gitea-client.ts'
import type { GitHubAddress } from './github/github-address.ts'
import type { GitHubCredential } from './github/github-credentials.ts'
import type { OpenedGitHub } from './github/open-github.ts'
import { LocalForge } from './local/local-forge.ts'
import { RequestGovernor } from './request-governor.ts'

export const FORGE_KINDS = ['github', 'gitea', 'local'] as const
export type ForgeKind = (typeof FORGE_KINDS)[number]

export interface OpenForgeOptions {
  /** As it was given: a path, https, ssh or `user@host:path`. */
  readonly remote: string
  readonly repository: PackageRepository
  /** Given by hand; undefined: told or asked. */
  readonly kind: ForgeKind | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  /** What a relative path in the environment is relative to; the process's own folder otherwise. */
  readonly workingDirectory?: string
  readonly clock: Clock
  readonly version: string
  /** Milliseconds that a request may wait for the forge's limits. */
  readonly longestWait: number
  /** Whether requests that write are held back. */
  readonly dryRun?: boolean
  /** What git's credential helpers know for a page of the host. */
  readonly findToken: (url: string, signal: AbortSignal) => Promise<string | undefined>
  /** Sentences for people. */
  readonly note: (text: string) => void
  readonly trace?: Trace | undefined
}

type ConnectForgeOptions = Omit<OpenForgeOptions, 'repository'>

/** Milliseconds for the question whether a Gitea answers. */
const PROBE = 10_000

/**
 * A forge without a token is git alone, which is told: proposals are then branches, and nobody is asked for a review.
 * @throws Failure BP1001 where the address does not fit the forge that was given, BP5002 where that one has no token
 */
export async function openForge(options: OpenForgeOptions, signal: AbortSignal): Promise<Forge> {
  const local = new LocalForge(options.repository)
  if (options.kind === 'local') return local
  const kind = options.kind ?? (await kindOf(options, signal))
  if (kind === 'local') return local
  const opened = kind === 'github' ? await openOnGitHub(options, signal) : await openOnGitea(options, signal)
  if (opened !== undefined) return opened
  if (options.kind !== undefined) throw withoutToken(kind, options.remote)
  options.note(`no token for ${NAMES[kind]}: proposals are branches only (set ${kind === 'github' ? 'GITHUB_TOKEN' : 'GITEA_TOKEN'})`)
  return local
}

const NAMES = { github: 'GitHub', gitea: 'Gitea' } as const

/** Only http and https are asked: of an ssh address nobody knows where the pages are. */
async function kindOf(options: ConnectForgeOptions, signal: AbortSignal): Promise<ForgeKind> {
  const address = parseGiteaAddress(options.remote)
  if (address === undefined) return 'local'
  if (address.host === 'github.com' || address.host.endsWith('.ghe.com') || address.host === 'ssh.github.com') return 'github'
  if (await answersLike(`${address.webUrl}/api/v1/version`, 'version', options.environment, signal)) return 'gitea'
  // GitHub Enterprise Server tells its version to anybody who may see it.
  if (await answersLike(`${address.webUrl}/api/v3/meta`, 'installed_version', options.environment, signal)) return 'github'
  return 'local'
}

async function answersLike(url: string, key: string, environment: OpenForgeOptions['environment'], signal: AbortSignal): Promise<boolean> {
  const dispatcher = dispatcherFor(environment)
  try {
    const { origin, pathname } = new URL(url)
    const answer = await dispatcher.request({
      origin,
      path: pathname,
      method: 'GET',
      headers: { accept: 'application/json' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE)]),
    })
    const text = answer.statusCode === 200 ? await answer.body.text() : ''
    await answer.body.dump().catch(() => undefined)
    const value: unknown = text.length > 100_000 || text === '' ? undefined : JSON.parse(text)
    return typeof value === 'object' && value !== null && key in value
  } catch (thrown) {
    // Git tells whether the host can be reached at all; here it is only no forge that we know.
    if (signal.aborted) throw thrown
    return false
  } finally {
    await dispatcher.destroy()
  }
}

/**
 * What the forge says of us, for `check`. No token is a warning: proposals are branches then.
 * @throws Failure as `openForge`, and BP50xx where the forge does not show the repository
 */
export async function probeForge(options: ConnectForgeOptions, refs: readonly string[], signal: AbortSignal): Promise<readonly Finding[]> {
  const kind = options.kind ?? (await kindOf(options, signal))
  if (kind === 'local') return [{ check: 'forge', state: 'passed', message: 'forge: git alone, so proposals are branches' }]
  if (kind === 'gitea') {
    const client = await connectGitea(options, signal)
    if (client !== undefined) return (await import('./gitea/probe-gitea.ts')).probeGitea(client, signal)
  } else {
    const opened = await connectGitHub(options, signal)
    if (opened !== undefined) return (await import('./github/probe-github.ts')).probeGitHub(opened, refs, signal)
  }
  const { why, remedy } = withoutToken(kind, options.remote)
  return [{ check: 'forge', state: 'warning', message: `${NAMES[kind]}: ${why}, so proposals are branches only`, fix: remedy }]
}

async function openOnGitea(options: OpenForgeOptions, signal: AbortSignal): Promise<Forge | undefined> {
  const client = await connectGitea(options, signal)
  if (client === undefined) return undefined
  const { GiteaForge } = await import('./gitea/gitea-forge.ts')
  return new GiteaForge(client, options.repository, options.clock)
}

async function connectGitea(options: ConnectForgeOptions, signal: AbortSignal): Promise<GiteaClient | undefined> {
  const address = parseGiteaAddress(options.remote)
  if (address === undefined) throw noAddress(options.remote)
  const token =
    tokenFor(address.host, options.environment) ??
    (await options.findToken(`${address.webUrl}/${address.owner}/${address.repository}`, signal))
  if (token === undefined) return undefined
  const { GiteaClient } = await import('./gitea/gitea-client.ts')
  const { clock, version, longestWait, environment, trace, dryRun = false } = options
  // Gitea limits nobody by itself; what stands before it may, and a loop of ours should.
  const governor = new RequestGovernor({ forge: 'Gitea', clock, longestWait, writesPerMinute: 600, writesPerHour: 6_000, dryRun })
  const dispatcher = dispatcherFor(environment)
  return new GiteaClient({
    address,
    token,
    dispatcher,
    governor,
    clock,
    userAgent: `backporch/${version}`,
    ...(trace === undefined ? {} : { trace }),
  })
}

async function openOnGitHub(options: OpenForgeOptions, signal: AbortSignal): Promise<Forge | undefined> {
  return (await connectGitHub(options, signal))?.forge(options.repository)
}

async function connectGitHub(options: ConnectForgeOptions, signal: AbortSignal): Promise<OpenedGitHub | undefined> {
  const { parseGitHubAddress } = await import('./github/github-address.ts')
  const address = parseGitHubAddress(options.remote)
  if (address === undefined) throw noAddress(options.remote)
  const credential = await credentialFor(address, options, signal)
  if (credential === undefined) return undefined
  const { githubGovernor, openGitHub } = await import('./github/open-github.ts')
  const { clock, version, longestWait, environment, trace, note } = options
  return openGitHub({
    address,
    credential,
    clock,
    version,
    governor: githubGovernor(clock, longestWait, options.dryRun),
    environment,
    notice: note,
    ...(trace === undefined ? {} : { trace }),
  })
}

/** `BACKPORCH_TOKEN`, an App of the environment, `GITHUB_TOKEN`, git's own helpers: the first that there is. */
async function credentialFor(
  { host, webUrl, owner, repository }: GitHubAddress,
  { environment, workingDirectory = '.', findToken }: ConnectForgeOptions,
  signal: AbortSignal,
): Promise<GitHubCredential | undefined> {
  const { appCredential } = await import('./github/app-credential.ts')
  const app = await appCredential(host, environment, workingDirectory)
  if (app !== undefined) return app
  const token = tokenFor(host, environment) ?? (await findToken(`${webUrl}/${owner}/${repository}`, signal))
  return token === undefined ? undefined : { kind: 'token', token }
}

function dispatcherFor(environment: OpenForgeOptions['environment']): EnvHttpProxyAgent {
  const of = (name: string): string => environment[name.toLowerCase()] || environment[name] || ''
  return new EnvHttpProxyAgent({
    connections: 8,
    connect: { timeout: 10_000 },
    httpProxy: of('HTTP_PROXY'),
    httpsProxy: of('HTTPS_PROXY'),
    noProxy: of('NO_PROXY'),
  })
}

function withoutToken(kind: 'github' | 'gitea', remote: string): Failure {
  return new Failure({
    code: 'BP5002',
    what: `cannot use ${NAMES[kind]}`,
    where: parseGiteaAddress(remote)?.host ?? 'the repository',
    why: 'there is no token',
    remedy: `set BACKPORCH_TOKEN or ${kind === 'github' ? 'GITHUB_TOKEN (or BACKPORCH_APP_ID with its key)' : 'GITEA_TOKEN'}, or keep one in git's credential helper`,
    retry: 'on-change',
  })
}

function noAddress(remote: string): Failure {
  return new Failure({
    code: 'BP1001',
    what: 'the repository is on no such forge',
    where: parseGiteaAddress(remote)?.host ?? 'the repository',
    why: 'its address is not HOST/OWNER/REPOSITORY',
    remedy: 'give the address of the repository with --repo, or --forge local',
  })
}

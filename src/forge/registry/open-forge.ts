import type { PackageRepository } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import type { Finding } from '@backporch/kyaml/note'
import { Deadline } from '@backporch/system/deadline'
import type {
  ConnectOptions,
  Environment,
  ForgeAdapter,
  ForgeConnection,
} from '../adapter/forge-adapter.ts'
import { findRemoteHost, parseForgeAddress } from '../adapter/forge-address.ts'
import { createProxyDispatcher } from '../adapter/proxy-dispatcher.ts'
import { type ForgeKind, type ForgeSetup, GIT_ALONE } from '../ports/forge-setup.ts'
import type { Forge } from '../ports/hosted-forge.ts'
import { findForgeToken } from './forge-token.ts'
import { ALL_FORGES, FORGES } from './forges.ts'

interface OpenForgeOptions extends Omit<ConnectOptions, 'findToken'> {
  readonly kind: ForgeKind | undefined
  readonly findToken: (url: string, signal: AbortSignal) => Promise<string | undefined>
}

/** Milliseconds. */
const PROBE = 10_000

/**
 * Without a token the forge is git alone, with a note: nobody is asked for a review.
 * @throws Failure BP1001 if the address does not fit the given forge, BP5002 if that forge has no
 * token
 */
export async function openForge(
  repository: PackageRepository,
  options: OpenForgeOptions,
  signal: AbortSignal,
): Promise<Forge> {
  const adapter = await findAdapter(options, signal)
  const opened = await connect(adapter, options, signal)
  if (opened !== undefined) return opened.forge(repository)
  const missing = createNoTokenFailure(adapter, options.remote)
  if (options.kind !== undefined) throw missing
  options.note(
    `no token for ${adapter.name}: proposals are branches only (set ${adapter.token?.variable})`,
  )
  return openForge(repository, { ...options, kind: GIT_ALONE }, signal)
}

/** Uses no credential. */
export function findForgeSetup(
  remote: string,
  kind: ForgeKind | undefined,
  environment: Environment,
  signal: AbortSignal,
): Promise<ForgeSetup> {
  return findAdapter({ remote, kind, environment }, signal)
}

/**
 * A missing token is a warning.
 * @throws Failure as `openForge`, and BP50xx if the repository is not visible
 */
export async function probeForge(
  options: OpenForgeOptions,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const adapter = await findAdapter(options, signal)
  const opened = await connect(adapter, options, signal)
  if (opened !== undefined) return opened.probe(refs, signal)
  const { why, remedy } = createNoTokenFailure(adapter, options.remote)
  return [
    {
      check: 'forge',
      state: 'warning',
      message: `${adapter.name}: ${why}, so proposals are branches only`,
      fix: remedy,
    },
  ]
}

function connect(
  adapter: ForgeAdapter,
  options: OpenForgeOptions,
  signal: AbortSignal,
): Promise<ForgeConnection | undefined> {
  const { environment, findToken } = options
  return adapter.connect({
    ...options,
    findToken: async ({ host, webUrl, owner, repository }) =>
      findForgeToken(host, environment) ?? findToken(`${webUrl}/${owner}/${repository}`, signal),
  })
}

async function findAdapter(
  { remote, kind, environment }: Pick<OpenForgeOptions, 'remote' | 'kind' | 'environment'>,
  signal: AbortSignal,
): Promise<ForgeAdapter> {
  if (kind !== undefined) return FORGES[kind]
  const address = parseForgeAddress(remote)
  if (address === undefined) return FORGES[GIT_ALONE]
  // Gitea's runner sets GITHUB_SERVER_URL.
  const named = ALL_FORGES.find((forge) => forge.hasHost(forge.address(remote)?.host ?? '', {}))
  if (named !== undefined) return named
  for (const forge of ALL_FORGES)
    if (
      forge.probe !== undefined &&
      (await hasAnswerKey(
        `${address.webUrl}${forge.probe.path}`,
        forge.probe.key,
        environment,
        signal,
      ))
    )
      return forge
  return FORGES[GIT_ALONE]
}

async function hasAnswerKey(
  url: string,
  key: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<boolean> {
  const dispatcher = createProxyDispatcher(environment)
  const silent = new AbortController()
  const limit = new Deadline(PROBE, () => silent.abort())
  try {
    const { origin, pathname } = new URL(url)
    const answer = await dispatcher.request({
      origin,
      path: pathname,
      method: 'GET',
      headers: { accept: 'application/json' },
      signal: AbortSignal.any([signal, silent.signal]),
    })
    const text = answer.statusCode === 200 ? await answer.body.text() : ''
    await answer.body.dump().catch(() => undefined)
    const value: unknown = text.length > 100_000 || text === '' ? undefined : JSON.parse(text)
    return typeof value === 'object' && value !== null && key in value
  } catch (thrown) {
    // Git reports whether the host is reachable.
    if (signal.aborted) throw thrown
    return false
  } finally {
    limit.stop()
    await dispatcher.destroy()
  }
}

function createNoTokenFailure({ name, token }: ForgeAdapter, remote: string): Failure {
  return new Failure({
    code: 'BP5002',
    what: `cannot use ${name}`,
    where: findRemoteHost(remote) ?? 'the repository',
    why: 'there is no token',
    remedy: `set BACKPORCH_TOKEN or ${token?.variables}, or keep one in git's credential helper`,
    retry: 'on-change',
  })
}

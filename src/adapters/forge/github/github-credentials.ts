/** Our credential on GitHub: a token as it is, or an App's key that creates tokens of an hour for one installation. */

import { createPrivateKey } from 'node:crypto'
import type { Octokit } from '@octokit/rest'
import { Failure } from '../../../failure.ts'
import type { Clock } from '../../../ports/clock.ts'
import { badCredentials } from '../forge-failure.ts'
import { statusOf } from '../refused-answer.ts'
import type { GitHubAddress } from './github-address.ts'

/** The private key is PEM text, PKCS#1 (GitHub's form) or PKCS#8. The installation is looked up where it is not given. */
export type GitHubCredential =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'app'; readonly appId: number; readonly privateKey: string; readonly installationId?: number }

/** The token to send now; `renewed` requests another one where there can be another. */
export type TokenSource = (renewed: boolean, signal: AbortSignal) => Promise<string | undefined>

/** Runs `work` with translated failures. */
type AskGitHub = <Answer>(what: string, work: () => Promise<Answer>) => Promise<Answer>

/** Milliseconds. A token is not used in its last minutes, so that a turn ends with the token that it began with. */
const EARLY = 5 * 60_000

/** @throws Failure BP5002 for a key that is none */
export async function appTokens(
  credential: Extract<GitHubCredential, { kind: 'app' }>,
  parts: {
    readonly address: GitHubAddress
    readonly clock: Clock
    readonly octokit: Octokit
    readonly ask: AskGitHub
    /** Called with the permissions of the installation, with each token. */
    readonly granted?: (permissions: Readonly<Record<string, string>>) => void
  },
): Promise<TokenSource> {
  const { address, clock, octokit, ask } = parts
  const requested = { address, what: 'act as the GitHub App' }
  try {
    createPrivateKey(credential.privateKey)
  } catch {
    // The library's message may quote the key.
    throw badCredentials(requested, 'its private key is not a PEM key', "give the whole text of the App's .pem file")
  }
  const { createAppAuth } = await import('@octokit/auth-app')
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const { appId, privateKey } = credential
  const auth = createAppAuth({ appId, privateKey, request: octokit.request, log: quiet })
  let installation = credential.installationId
  let held: { readonly token: string; readonly createdAt: number; readonly expiresAt: number } | undefined
  let pending: Promise<string> | undefined

  const findInstallation = async (signal: AbortSignal): Promise<number> => {
    const { token } = await auth({ type: 'app' })
    const { owner, repository: repo } = address
    const answer = await octokit.rest.apps.getRepoInstallation({
      owner,
      repo,
      headers: { authorization: `bearer ${token}` },
      request: { signal },
    })
    return answer.data.id
  }
  const make = async (signal: AbortSignal): Promise<string> =>
    ask(requested.what, async () => {
      installation ??= await findInstallation(signal)
      const created = await auth({ type: 'installation', installationId: installation, refresh: true })
      parts.granted?.(created.permissions)
      held = { token: created.token, createdAt: clock.now().getTime(), expiresAt: Date.parse(created.expiresAt) }
      return created.token
    })
  /** An App that was removed and installed again has another installation id. */
  const makeAnew = async (signal: AbortSignal): Promise<string> => {
    const found = installation !== credential.installationId
    try {
      return await make(signal)
    } catch (thrown) {
      if (!found || statusOf(thrown) !== 404) throw thrown
      installation = undefined
      return make(signal)
    }
  }
  const renew = async (signal: AbortSignal): Promise<string> => {
    try {
      return await makeAnew(signal)
    } catch (thrown) {
      const status = statusOf(thrown)
      if (!(thrown instanceof Failure) || (status !== 404 && status !== 403)) throw thrown
      const why = `the App ${appId} is not installed for this repository, or its installation is suspended (${status})`
      throw badCredentials(requested, why, `install the App for ${address.owner}/${address.repository}, or give another credential`)
    }
  }
  return (renewed, signal) => {
    const now = clock.now().getTime()
    // A second new token would be refused alike.
    const fresh = held !== undefined && held.expiresAt - EARLY > now && (!renewed || now - held.createdAt < EARLY)
    if (fresh && held !== undefined) return renewed ? settled(clock, signal, held.token) : Promise.resolve(held.token)
    pending ??= renew(signal).finally(() => {
      pending = undefined
    })
    return pending
  }
}

/** GitHub's own machines know a new token after a moment (octokit's auth-app waits alike). */
async function settled(clock: Clock, signal: AbortSignal, token: string): Promise<string> {
  await clock.sleep(1_000, signal)
  return token
}

/** An App's key creates one-hour tokens for one installation. */
import { createPrivateKey } from 'node:crypto'
import { resolve } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import type { Environment } from '@backporch/system/child-environment'
import type { Clock } from '@backporch/system/clock'
import { getSetting, readKeyFile, restoreLineBreaks } from '@backporch/system/key-setting'
import type { Octokit } from '@octokit/rest'
import { createCredentialsFailure } from '../adapter/forge-failure.ts'
import { findRefusedStatus } from '../adapter/refused-answer.ts'
import { type GitHubAddress, isGitHubHost } from './github-address.ts'

/** PEM, PKCS#1 or PKCS#8. A missing installation is looked up. */
export type GitHubCredential =
  | { readonly kind: 'token'; readonly token: string }
  | {
      readonly kind: 'app'
      readonly appId: number
      readonly privateKey: string
      readonly installationId?: number
    }

type AppCredential = Extract<GitHubCredential, { kind: 'app' }>

export type TokenSource = (renewed: boolean, signal: AbortSignal) => Promise<string | undefined>

type AskGitHub = <Answer>(what: string, work: () => Promise<Answer>) => Promise<Answer>

/** Milliseconds, so that a turn ends with its first token. */
const EARLY = 5 * 60_000

/** @throws Failure BP5002 for an invalid key */
export async function createAppTokens(
  credential: AppCredential,
  parts: {
    readonly address: GitHubAddress
    readonly clock: Clock
    readonly octokit: Octokit
    readonly ask: AskGitHub
    readonly granted?: (permissions: Readonly<Record<string, string>>) => void
  },
): Promise<TokenSource> {
  const { address, clock, octokit, ask } = parts
  const requested = { address, what: 'act as the GitHub App' }
  try {
    createPrivateKey(credential.privateKey)
  } catch {
    // The library's message may quote the key.
    throw createCredentialsFailure(
      requested,
      'its private key is not a PEM key',
      "give the whole text of the App's .pem file",
    )
  }
  const { createAppAuth } = await import('@octokit/auth-app')
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const { appId, privateKey } = credential
  const auth = createAppAuth({ appId, privateKey, request: octokit.request, log: quiet })
  let installation = credential.installationId
  let held:
    | { readonly token: string; readonly createdAt: number; readonly expiresAt: number }
    | undefined
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
      const created = await auth({
        type: 'installation',
        installationId: installation,
        refresh: true,
      })
      parts.granted?.(created.permissions)
      held = {
        token: created.token,
        createdAt: clock.now().getTime(),
        expiresAt: Date.parse(created.expiresAt),
      }
      return created.token
    })
  /** A reinstalled App has another installation id. */
  const makeAnew = async (signal: AbortSignal): Promise<string> => {
    const found = installation !== credential.installationId
    try {
      return await make(signal)
    } catch (thrown) {
      if (!found || findRefusedStatus(thrown) !== 404) throw thrown
      installation = undefined
      return make(signal)
    }
  }
  const renew = async (signal: AbortSignal): Promise<string> => {
    try {
      return await makeAnew(signal)
    } catch (thrown) {
      const status = findRefusedStatus(thrown)
      if (!(thrown instanceof Failure) || (status !== 404 && status !== 403)) throw thrown
      const why = `the App ${appId} is not installed for this repository, or its installation is suspended (${status})`
      throw createCredentialsFailure(
        requested,
        why,
        `install the App for ${address.owner}/${address.repository}, or give another credential`,
      )
    }
  }
  return (renewed, signal) => {
    const now = clock.now().getTime()
    // A second one would be rejected too.
    const fresh =
      held !== undefined &&
      held.expiresAt - EARLY > now &&
      (!renewed || now - held.createdAt < EARLY)
    if (fresh && held !== undefined)
      return renewed ? settleToken(clock, signal, held.token) : Promise.resolve(held.token)
    pending ??= renew(signal).finally(() => {
      pending = undefined
    })
    return pending
  }
}

/** As in octokit's auth-app: GitHub's servers know a new token after a moment. */
async function settleToken(clock: Clock, signal: AbortSignal, token: string): Promise<string> {
  await clock.sleep(1_000, signal)
  return token
}

const ID = 'BACKPORCH_APP_ID'
const KEY = 'BACKPORCH_APP_PRIVATE_KEY'
const KEY_FILE = 'BACKPORCH_APP_PRIVATE_KEY_FILE'
const INSTALLATION = 'BACKPORCH_APP_INSTALLATION_ID'
/** Bytes; a key of 16,384 bits has 13 KB. */
const LARGEST = 64 * 1024

/**
 * Undefined if `BACKPORCH_TOKEN` overrides the App, and for a host that is not GitHub: a signature
 * of the key would let that host act as the App. @param folder base of a relative
 * `BACKPORCH_APP_PRIVATE_KEY_FILE`
 * @throws Failure BP5002 for half a credential or an unreadable file; never with the key in it
 */
export async function readAppCredential(
  host: string,
  environment: Environment,
  folder: string,
): Promise<AppCredential | undefined> {
  const id = getSetting(environment, ID)
  if (getSetting(environment, 'BACKPORCH_TOKEN') !== undefined || !isGitHubHost(host, environment))
    return undefined
  const [text, file] = [getSetting(environment, KEY), getSetting(environment, KEY_FILE)]
  if (id === undefined) {
    const key = text !== undefined ? KEY : file !== undefined ? KEY_FILE : undefined
    if (key === undefined) return undefined
    throw createUnusableFailure(
      `${key} is set, and ${ID} is not`,
      `set ${ID} to the number that the App's settings show, or unset ${key}`,
    )
  }
  if (text !== undefined && file !== undefined)
    throw createUnusableFailure(`both ${KEY} and ${KEY_FILE} are set`, 'unset one of them')
  const path = file === undefined ? undefined : resolve(folder, file)
  const key = path ?? text
  if (key === undefined) {
    throw createUnusableFailure(
      `${ID} is set, and neither ${KEY} nor ${KEY_FILE}`,
      `set ${KEY_FILE} to the path of the App's .pem file`,
    )
  }
  const installation = getSetting(environment, INSTALLATION)
  return {
    kind: 'app',
    appId: parseNumber(ID, id),
    privateKey: path === undefined ? restoreLineBreaks(key) : await readKey(path),
    ...(installation === undefined
      ? {}
      : { installationId: parseNumber(INSTALLATION, installation) }),
  }
}

function parseNumber(name: string, text: string): number {
  const value = Number(text)
  if (/^[1-9][0-9]*$/.test(text) && Number.isSafeInteger(value)) return value
  throw createUnusableFailure(
    `${name} is not a number`,
    `set ${name} to the number that GitHub shows`,
  )
}

async function readKey(path: string): Promise<string> {
  const read = await readKeyFile(path, LARGEST)
  if ('text' in read) return read.text
  if (read.problem === undefined)
    throw createUnusableFailure(
      `${KEY_FILE} names ${path}, which is too large for a key`,
      "name the App's .pem file",
    )
  const remedy = "name the App's .pem file, and let this user read it"
  throw createUnusableFailure(
    `${KEY_FILE} names ${path}, which cannot be read (${read.problem})`,
    remedy,
  )
}

function createUnusableFailure(why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP5002',
    what: 'cannot act as the GitHub App',
    where: 'the environment',
    why,
    remedy,
    retry: 'on-change',
  })
}

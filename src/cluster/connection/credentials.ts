/** Files are read again each time. */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { Failure } from '@backporch/kyaml/failure'
import type { Environment } from './choose-proxy.ts'
import { type ExecCredential, runExecPlugin } from './exec-credential.ts'
import type { ClusterAccess, FileOrData, KubeconfigUser } from './kubeconfig.ts'

/** No code that writes output accepts it. */
export interface Credentials {
  /** PEM. */
  readonly authority: string | undefined
  readonly certificate: string | undefined
  readonly key: string | undefined
  readonly serverName: string | undefined
  readonly skipTlsVerify: boolean
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

export interface CredentialOptions {
  readonly environment: Environment
  readonly execAllow: readonly string[]
  /** Milliseconds; default 10 s. */
  readonly execTimeout?: number
  readonly now: () => Date
}

export interface CredentialSource {
  /**
   * @throws Failure BP1006 for an unusable file or field, BP1008 for a program that is not allowed,
   * BP3002 if there is no credential
   */
  read(signal: AbortSignal): Promise<Credentials>
  /** After the server rejected plugin credentials. */
  forget(): void
}

export function createCredentialSource(
  access: ClusterAccess,
  options: CredentialOptions,
): CredentialSource {
  let granted: ExecCredential | undefined
  let provider: Promise<TokenProvider> | undefined
  return {
    async read(signal) {
      const { user } = access
      const expired = granted?.expires !== undefined && granted.expires <= options.now()
      if (user.exec !== undefined && (granted === undefined || expired))
        granted = await runExecPlugin(user.exec, access, options, signal)
      if (user.authProvider !== undefined) {
        provider ??= createAuthProvider(user, access)
        granted = { token: await (await provider)() }
      }
      return assemble(access, granted)
    },
    forget() {
      granted = undefined
      provider = undefined
    },
  }
}

async function assemble(
  access: ClusterAccess,
  granted: ExecCredential | undefined,
): Promise<Credentials> {
  const { user } = access
  const certificate =
    granted?.certificate ?? (await readPem(user.certificate, access, 'client-certificate'))
  const key = granted?.key ?? (await readPem(user.key, access, 'client-key'))
  const token =
    user.tokenFile === undefined
      ? user.token
      : (await readContents(user.tokenFile, access, 'tokenFile')).trim()
  const authorization = buildAuthorization(granted?.token ?? token, user)
  return {
    authority: await readPem(access.authority, access, 'certificate-authority'),
    certificate,
    key,
    serverName: access.serverName,
    skipTlsVerify: access.skipTlsVerify,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...buildImpersonationHeaders(user),
    },
  }
}

function buildAuthorization(token: string | undefined, user: KubeconfigUser): string | undefined {
  if (token !== undefined && token !== '') return `Bearer ${token}`
  if (user.basic === undefined) return undefined
  return `Basic ${Buffer.from(`${user.basic.username}:${user.basic.password}`).toString('base64')}`
}

function buildImpersonationHeaders({
  impersonate,
}: KubeconfigUser): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {}
  if (impersonate.user !== undefined) headers['impersonate-user'] = impersonate.user
  if (impersonate.uid !== undefined) headers['impersonate-uid'] = impersonate.uid
  if (impersonate.groups.length > 0) headers['impersonate-group'] = impersonate.groups
  for (const [name, value] of Object.entries(impersonate.extra)) {
    headers[`impersonate-extra-${encodeURIComponent(name).toLowerCase()}`] = (
      Array.isArray(value) ? value : [value]
    ).map(String)
  }
  return headers
}

async function readPem(
  source: FileOrData | undefined,
  access: ClusterAccess,
  field: string,
): Promise<string | undefined> {
  if (source === undefined) return undefined
  const text =
    'file' in source
      ? await readContents(source.file, access, field)
      : Buffer.from(source.data, 'base64').toString('utf8')
  if (!text.includes('-----BEGIN '))
    throw createUnusableFailure(
      access,
      `${field} is not PEM`,
      'correct it, or create a new kubeconfig',
    )
  return text
}

async function readContents(file: string, access: ClusterAccess, field: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unreadable'
    throw createUnusableFailure(
      access,
      `${field} names ${file}, which cannot be read (${code})`,
      'correct the path, or create a new kubeconfig',
    )
  }
}

type TokenProvider = () => Promise<string>

/** `auth-provider: oidc`; its libraries are loaded here only. */
async function createAuthProvider(
  user: KubeconfigUser,
  access: ClusterAccess,
): Promise<TokenProvider> {
  const { authProvider: wanted } = user
  if (wanted?.name !== 'oidc') {
    // The gcp and azure providers run `cmd-path` through a shell; kubectl removed them in 1.26.
    throw new Failure({
      code: 'BP1008',
      what: `the kubeconfig wants the credential provider ${JSON.stringify(wanted?.name ?? '')}`,
      where: access.file,
      why: 'only oidc is supported; the others run programs that the kubeconfig names',
      remedy: 'replace auth-provider by an exec plugin or a token',
    })
  }
  const { createOidcTokenSource } = await import('./oidc-token.ts')
  const tokenOf = createOidcTokenSource(user.name, wanted.config)
  return async () => {
    const token = await tokenOf().catch((thrown: unknown) => {
      throw createNoCredentialFailure(access, 'the OpenID Connect provider gave no token', thrown)
    })
    if (token !== undefined) return token
    throw createNoCredentialFailure(
      access,
      'the OpenID Connect token has expired and cannot be refreshed',
      undefined,
    )
  }
}

function createNoCredentialFailure(access: ClusterAccess, why: string, cause: unknown): Failure {
  return new Failure({
    code: 'BP3002',
    what: `there are no credentials for cluster ${access.context}`,
    where: access.file,
    why,
    remedy: 'log in again with the tool that made the kubeconfig',
    retry: 'on-change',
    // The message may quote the provider's answer.
    cause: cause instanceof Error ? cause.name : cause,
  })
}

interface TlsOptions {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly rejectUnauthorized: boolean
  readonly servername?: string
  readonly minVersion: 'TLSv1.2'
}

export function buildTlsOptions(server: URL, credentials: Credentials): TlsOptions {
  const name = credentials.serverName ?? server.hostname.replace(/^\[|\]$/g, '')
  return {
    ...(credentials.authority === undefined ? {} : { ca: credentials.authority }),
    ...(credentials.certificate === undefined ? {} : { cert: credentials.certificate }),
    ...(credentials.key === undefined ? {} : { key: credentials.key }),
    rejectUnauthorized: !credentials.skipTlsVerify,
    // RFC 6066 §3: an IP address is not a server name; the certificate is still checked against it.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    minVersion: 'TLSv1.2',
  }
}

/** RFC 3339. */
export function findCertificateExpiry(credentials: Credentials, now: Date): string | undefined {
  if (credentials.certificate === undefined) return undefined
  try {
    const end = new X509Certificate(credentials.certificate).validToDate
    return end <= now ? `${end.toISOString().slice(0, 19)}Z` : undefined
  } catch {
    return undefined
  }
}

function createUnusableFailure(access: ClusterAccess, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP1006',
    what: 'the kubeconfig cannot be used',
    where: access.file,
    why,
    remedy,
  })
}

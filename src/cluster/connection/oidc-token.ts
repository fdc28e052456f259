/**
 * `auth-provider: oidc` of a kubeconfig. client-node decides when a token is over; the refresh is a conversation of openid-client, because that of
 * client-node 2.0.1 fails (docs/facts/client-node-oidc.md). Loaded only for such a user.
 */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { OpenIDConnectAuth } from '@kubernetes/client-node/dist/oidc_auth.js'
import { type Configuration, customFetch, discovery, refreshTokenGrant } from 'openid-client'

type Config = Readonly<Record<string, unknown>>

/** Bytes of an answer of a provider. */
const MOST_BYTES = 1024 * 1024

/**
 * @param config of the kubeconfig, by the names that client-go gives it
 * @returns gives a token that is valid now; undefined where it has expired and cannot be refreshed. Rejects with errors of the library
 */
export function createOidcTokenSource(
  user: string,
  config: Config,
): () => Promise<string | undefined> {
  const provider = new OpenIDConnectAuth()
  // A new token and a new refresh token are kept in it.
  const holder = { name: user, authProvider: { name: 'oidc', config: { ...config } } }
  let configuration: Configuration | undefined
  const client = {
    async refresh(refreshToken: string) {
      configuration ??= await discoverProvider(config)
      const granted = await refreshTokenGrant(configuration, refreshToken)
      const { id_token, refresh_token = refreshToken } = granted
      if (id_token === undefined) throw new Error('the provider gave no ID token')
      return {
        id_token,
        refresh_token,
        expires_at: OpenIDConnectAuth.expirationFromToken(id_token),
      }
    },
  }
  return async () => {
    const headers: Record<string, string> = {}
    await provider.applyAuthentication(holder, { headers }, client)
    return headers['Authorization']?.replace(/^Bearer /, '')
  }
}

async function discoverProvider(config: Config): Promise<Configuration> {
  const text = (name: string): string => String(config[name] ?? '')
  const file = text('idp-certificate-authority') || undefined
  const data = text('idp-certificate-authority-data')
  const ca = file === undefined ? Buffer.from(data, 'base64') : await readFile(file)
  const ask = fetchTrusting(ca.length === 0 ? undefined : ca)
  const secret = text('client-secret') || undefined
  const options = { [customFetch]: ask }
  return discovery(new URL(text('idp-issuer-url')), text('client-id'), secret, undefined, options)
}

interface Asked {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** The `fetch` of Node takes no authority, and follows no `agent`. Redirects are answers here, as the library wants them. */
function fetchTrusting(ca: Buffer | undefined): (url: string, asked: Asked) => Promise<Response> {
  return async (url, { method, headers, body, signal }) => {
    const outgoing = request(url, {
      method,
      headers,
      ...(ca === undefined ? {} : { ca }),
      ...(signal === undefined ? {} : { signal }),
    })
    outgoing.end(body === undefined || body === null ? undefined : String(body))
    const [incoming] = await once(outgoing, 'response')
    const parts: Buffer[] = []
    let length = 0
    for await (const part of incoming) {
      length += part.length
      if (length > MOST_BYTES) throw new Error(`the answer has more than ${MOST_BYTES} bytes`)
      parts.push(part)
    }
    return new Response(Buffer.concat(parts), {
      status: incoming.statusCode,
      headers: { 'content-type': incoming.headers['content-type'] ?? '' },
    })
  }
}

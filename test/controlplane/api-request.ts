import { Agent, request } from 'node:https'
import { setImmediate } from 'node:timers/promises'
import { hangLimit } from '../waiting/wait-until.ts'
import type { Credential } from './test-authority.ts'

/** An answer of kube-apiserver, whatever its status. */
export interface ApiResponse<Body> {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Parsed when the server says it is JSON, else the text. `Body` is the caller's expectation; nothing checks it. */
  readonly body: Body
}

export interface ApiRequest {
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown
  /** Defaults to `application/json`. Sent only with a body. */
  readonly contentType?: string
  /** Defaults to `hangLimit`. */
  readonly signal?: AbortSignal
}

/** One user's way to one kube-apiserver. */
export type ApiClient = <Body = unknown>(
  method: string,
  path: string,
  options?: ApiRequest,
) => Promise<ApiResponse<Body>>

/**
 * A client that is `credential`'s user. It resolves for every HTTP status and rejects only when there is no answer.
 * Idle connections do not keep the process alive.
 */
export function apiClient(url: string, authority: string, credential: Credential): ApiClient {
  const agent = new Agent({
    keepAlive: true,
    ca: authority,
    cert: credential.certificate,
    key: credential.key,
  })
  return async (method, path, options = {}) => {
    // A test that kept the event loop busy has not seen yet that the server closed an idle connection.
    await setImmediate()
    return send(agent, new URL(path, url), method, options)
  }
}

function send<Body>(
  agent: Agent,
  url: URL,
  method: string,
  options: ApiRequest,
): Promise<ApiResponse<Body>> {
  const { body } = options
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const headers: Record<string, string> = { accept: 'application/json' }
  if (sent !== undefined) headers['content-type'] = options.contentType ?? 'application/json'
  const signal = options.signal ?? hangLimit(`${method} ${url.href}`)
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent, headers, signal }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        const isJson = incoming.headers['content-type']?.startsWith('application/json') === true
        const answer: Body = JSON.parse(isJson ? text : JSON.stringify(text))
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: answer })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(sent)
  })
}

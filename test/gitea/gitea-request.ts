import { hangLimit } from '../waiting/wait-until.ts'

/** An answer of Gitea, whatever its status. */
export interface GiteaResponse<Body> {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Parsed when the server says it is JSON, else the text. `Body` is the caller's expectation; nothing checks it. */
  readonly body: Body
}

/**
 * One request as it is. Redirects are answers. Rejects only when there is no answer.
 *
 * @param authorization the header's value; without it nobody is asking
 * @param body a string is sent as it is, anything else as JSON
 * @param signal defaults to `hangLimit`
 */
export async function giteaRequest<Body = unknown>(
  url: string,
  method: string,
  authorization: string | undefined,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal: AbortSignal = hangLimit(`${method} ${url}`),
): Promise<GiteaResponse<Body>> {
  const answer = await fetch(url, {
    method,
    redirect: 'manual',
    signal,
    headers: {
      accept: 'application/json',
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson =
    text !== '' && answer.headers.get('content-type')?.startsWith('application/json') === true
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: JSON.parse(isJson ? text : JSON.stringify(text)),
  }
}

/**
 * The real `git http-backend` behind a small server on the loopback address, for tests. It checks a token as forges do
 * (any user, token as password), notes every request, and can misbehave on purpose.
 */
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface GitHttpBackendOptions {
  /** Folder that holds the repositories; the path of the URL is looked up in it. */
  readonly root: string
  /** Environment for git: identity and configuration. */
  readonly environment: NodeJS.ProcessEnv
  /** Asked of every request when given; undefined lets everybody in. */
  readonly token?: string
  /** Answers instead of git where it returns true. `after` runs git first, and its answer is thrown away. */
  readonly fault?: (
    request: IncomingMessage,
    response: ServerResponse,
    moment: 'before' | 'after',
  ) => boolean
}

export interface GitHttpBackend {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** `GET /repo.git/info/refs?service=git-upload-pack`, in order. */
  readonly requests: string[]
  close(): Promise<void>
}

export async function startGitHttpBackend(options: GitHttpBackendOptions): Promise<GitHttpBackend> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    void answer(options, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function answer(
  options: GitHttpBackendOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const user = authenticate(options.token, request)
  if (user === undefined) {
    response
      .writeHead(401, { 'www-authenticate': 'Basic realm="git"', 'content-type': 'text/plain' })
      .end('who are you?\n')
    return
  }
  if (options.fault?.(request, response, 'before') === true) return
  const output = await runBackend(options, request, user)
  if (options.fault?.(request, response, 'after') === true) return
  const cut = output.indexOf('\r\n\r\n')
  const headers = output.subarray(0, cut).toString('latin1').split('\r\n')
  for (const header of headers) {
    const at = header.indexOf(':')
    const name = header.slice(0, at)
    const value = header.slice(at + 1).trim()
    if (name.toLowerCase() === 'status') response.statusCode = Number(value.split(' ')[0])
    else response.setHeader(name, value)
  }
  response.end(output.subarray(cut + 4))
}

function authenticate(token: string | undefined, request: IncomingMessage): string | undefined {
  if (token === undefined) return 'anybody'
  const [scheme, encoded = ''] = (request.headers.authorization ?? '').split(' ')
  const [user = '', ...password] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return scheme === 'Basic' && password.join(':') === token ? user : undefined
}

async function runBackend(
  options: GitHttpBackendOptions,
  request: IncomingMessage,
  user: string,
): Promise<Buffer> {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const child = spawn('git', ['-c', 'http.receivepack=true', 'http-backend'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...options.environment,
      GIT_PROJECT_ROOT: options.root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: request.headers['content-length'] ?? '',
      // What a web server passes to a CGI program of the headers (RFC 3875, 4.1.18), as far as git reads it.
      HTTP_GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      REMOTE_USER: user,
      REMOTE_ADDR: '127.0.0.1',
    },
  })
  child.stdin.on('error', () => {}) // git does not read what it refuses
  request.pipe(child.stdin)
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject))
  return Buffer.concat(chunks)
}

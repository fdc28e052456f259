/** One origin, as GitHub's own machines are: git over http by the real `git http-backend`, everything else by the emulator. */
import { createServer, type Server, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type GitHttpBackend, startGitHttpBackend } from '../../contract/git-http-backend.ts'
import type { EmulatedLimit } from './emulated-limits.ts'
import type { GitHubEmulator } from './github-emulator.ts'

export interface GitHubServerOptions {
  /** Folder that holds `OWNER/REPOSITORY.git`. */
  readonly root: string
  readonly environment: NodeJS.ProcessEnv
  readonly emulator: GitHubEmulator
  /** A push beyond it is refused with 429; undefined takes all. */
  readonly pushes?: EmulatedLimit
  /** Tokens without `contents: write`: a push is refused before it begins. */
  readonly readOnly?: ReadonlySet<string>
}

export class GitHubServer {
  readonly #options: GitHubServerOptions
  readonly #server: Server
  #backend: GitHttpBackend | undefined

  constructor(options: GitHubServerOptions) {
    this.#options = options
    const { owner, repo } = options.emulator.state
    const git = `/${owner}/${repo}.git/`
    this.#server = createServer((request, response) => {
      const { method, headers, url = '/' } = request
      const ofGit = url.startsWith(git)
      if (ofGit && !this.#known(headers.authorization)) {
        request.resume()
        response
          .writeHead(401, {
            'www-authenticate': 'Basic realm="GitHub"',
            'content-type': 'text/plain',
          })
          .end('who are you?\n')
        return
      }
      if (
        ofGit &&
        url.includes('git-receive-pack') &&
        options.readOnly?.has(tokenIn(headers.authorization)) === true
      ) {
        request.resume()
        response
          .writeHead(403, { 'content-type': 'text/plain' })
          .end(`Permission to ${owner}/${repo}.git denied.\n`)
        return
      }
      const wait =
        method === 'POST' && url.endsWith('/git-receive-pack') ? options.pushes?.take() : undefined
      if (wait !== undefined) {
        request.resume()
        response
          .writeHead(429, { 'content-type': 'text/plain', 'retry-after': String(wait) })
          .end('too many pushes\n')
        return
      }
      const target = `${ofGit ? this.#backend?.url : options.emulator.origin}${url}`
      const onward = sendRequest(target, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      onward.on('error', () => response.destroy())
      request.pipe(onward)
    })
  }

  /** `http://127.0.0.1:PORT` */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get remote(): string {
    const { owner, repo } = this.#options.emulator.state
    return `${this.origin}/${owner}/${repo}.git`
  }

  async start(): Promise<void> {
    const { root, environment, emulator } = this.#options
    await emulator.start()
    this.#backend = await startGitHttpBackend({ root, environment })
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    await this.#backend?.close()
    await this.#options.emulator.stop()
  }

  #known(authorization: string | undefined): boolean {
    return this.#options.emulator.tokens.has(tokenIn(authorization))
  }
}

/** Any user, a token as the password. */
function tokenIn(authorization: string | undefined): string {
  const [, encoded = ''] = (authorization ?? '').split(' ')
  const [, ...password] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return password.join(':')
}

import type { IncomingMessage, ServerResponse } from 'node:http'

type Headers = Readonly<Record<string, string>>

export class PlainExchange {
  readonly method: string
  /** Without the query. */
  readonly path: string
  private readonly request: IncomingMessage
  private readonly response: ServerResponse
  private readonly linger: number

  /**
   * @param linger milliseconds in which bytes of a rejected sender are dropped, so that it reads
   * the answer
   */
  constructor(request: IncomingMessage, response: ServerResponse, linger: number) {
    this.request = request
    this.response = response
    this.linger = linger
    this.method = request.method ?? ''
    this.path = request.url?.split('?', 1)[0] ?? ''
    // Nothing was promised before the answer.
    request.on('error', () => undefined)
    response.on('error', () => undefined)
  }

  answer(status: number, text: string, headers: Headers = {}): void {
    this.writeResponseHead(status, text, headers)
    this.response.end(this.method === 'HEAD' ? undefined : `${text}\n`)
  }

  /**
   * A connection closed with unread bytes is reset, and the sender would not see the answer. So
   * they are read and dropped for a moment before the close.
   */
  turnAway(status: number, text: string, headers: Headers = {}): void {
    const { request, response } = this
    if (request.complete) {
      this.answer(status, text, { ...headers, connection: 'close' })
      return
    }
    this.writeResponseHead(status, text, { ...headers, connection: 'close' })
    if (this.method !== 'HEAD') response.write(`${text}\n`)
    else response.flushHeaders()
    const close = (): void => {
      clearTimeout(late)
      response.end()
    }
    const late = setTimeout(() => {
      close()
      request.socket.destroy()
    }, this.linger)
    request.once('end', close).once('close', close).resume()
  }

  private writeResponseHead(status: number, text: string, headers: Headers): void {
    this.response.writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(Buffer.byteLength(text) + 1),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    })
  }
}

/** A collector on loopback that keeps what it got. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export interface OtlpReceiver {
  readonly url: string
  readonly got: {
    readonly path: string
    readonly headers: IncomingHttpHeaders
    readonly body: string
  }[]
  /** `undefined` never answers. */
  status: number | undefined
}

export async function otlpReceiver(t: TestContext): Promise<OtlpReceiver> {
  const got: OtlpReceiver['got'] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      got.push({ path: request.url ?? '', headers: request.headers, body })
      if (receiver.status === undefined) return
      response
        .writeHead(receiver.status, { 'content-type': 'application/json' })
        .end('{"partialSuccess":{}}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    status: 200,
  }
  return receiver
}

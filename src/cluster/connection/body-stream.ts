import type { Readable } from 'node:stream'
import {
  type ApiStream,
  convertToTransportFault,
  type StreamSink,
  TransportFault,
} from './transport.ts'

interface BodyParts {
  readonly headers: ReadonlyMap<string, string>
  readonly provenAt: () => number | undefined
  readonly faultAtEnd: () => TransportFault | undefined
  readonly close: () => void
}

export function createBodyStream(
  body: Readable,
  { headers, provenAt, faultAtEnd, close }: BodyParts,
): ApiStream {
  let error: unknown
  let complete = false
  let sink: StreamSink | undefined
  const ended = (): void => {
    const reader = sink
    sink = undefined
    reader?.end(
      error !== undefined
        ? convertToTransportFault(error)
        : complete
          ? faultAtEnd()
          : new TransportFault('broken', 'the connection ended'),
    )
  }
  // An error without a listener ends the process.
  body.on('error', (thrown) => {
    error ??= thrown
  })
  body.once('end', () => {
    complete = true
  })
  body.once('close', ended)
  return {
    status: 200,
    headers,
    get provenAt() {
      return provenAt()
    },
    listen(reader) {
      sink = reader
      if (body.closed) return ended()
      body.on('data', (chunk: Buffer) => sink?.data(chunk))
    },
    close() {
      sink = undefined
      close()
    },
  }
}

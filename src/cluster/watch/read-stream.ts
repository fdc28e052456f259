import { convertToFailure, type Failure } from '@backporch/kyaml/failure'
import { Deadline } from '@backporch/system/deadline'
import {
  createFaultFailure,
  createNotKubernetesFailure,
  type RequestDescription,
} from '../connection/kubernetes-failure.ts'
import { type ApiStream, TransportFault } from '../connection/transport.ts'
import { type FrameMemory, FrameOverflow, FrameReader } from './frame-reader.ts'
import { readEvent, type WatchEvent } from './watch-event.ts'

export type StreamEnd =
  | { readonly end: 'closed' }
  | { readonly end: 'expired'; readonly failure: Failure }
  | { readonly end: 'unstreamed'; readonly failure: Failure }
  | { readonly end: 'unparsed'; readonly failure: Failure }
  | { readonly end: 'silent'; readonly failure: Failure }
  | { readonly end: 'too-large'; readonly failure: Failure }
  | { readonly end: 'failed'; readonly failure: Failure; readonly retryAfter?: number | undefined }

interface StreamParts {
  readonly requested: RequestDescription
  readonly largestEvent: number
  readonly memory: FrameMemory
  /** Milliseconds. */
  readonly lasts: number
  /** Milliseconds without a byte; Infinity: no limit. May grow. */
  readonly silence: () => number
  /** A returned value ends the stream. `read`: `performance.now()` */
  readonly take: (event: WatchEvent, read: number) => StreamEnd | undefined
}

/** @throws only the reason of `signal` */
export function readStream(
  stream: ApiStream,
  parts: StreamParts,
  signal: AbortSignal,
): Promise<StreamEnd> {
  const { requested, take } = parts
  return new Promise((resolve, reject) => {
    const reader = new FrameReader(parts.largestEvent, parts.memory)
    let heard = performance.now()
    let over = false
    let quiet: Deadline | undefined
    const release = (): void => {
      over = true
      reader.close()
      stream.close()
      deadline.stop()
      quiet?.stop()
      signal.removeEventListener('abort', abort)
    }
    const finish = (end: StreamEnd): void => {
      if (over) return
      release()
      resolve(end)
    }
    const abort = (): void => {
      release()
      reject(signal.reason)
    }
    const late = (end: 'failed' | 'silent', detail: string): void =>
      finish({ end, failure: createFaultFailure(new TransportFault('timeout', detail), requested) })
    const deadline = new Deadline(parts.lasts, () =>
      late('failed', 'the server did not end the watch in time'),
    )
    const listen = (): void => {
      const left = heard + parts.silence() - performance.now()
      if (left <= 0) late('silent', 'the watch is silent')
      else if (!over && left !== Number.POSITIVE_INFINITY) quiet = new Deadline(left, listen)
    }
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) return abort()
    listen()
    const takeLine = (line: string): void => {
      const event = readEvent(line)
      const unparsed = (): StreamEnd => ({
        end: 'unparsed',
        failure: createNotKubernetesFailure(requested, 'an event is not whole JSON'),
      })
      const end = event === undefined ? unparsed() : take(event, heard)
      if (end !== undefined) finish(end)
    }
    stream.listen({
      data(chunk) {
        heard = performance.now()
        try {
          reader.read(chunk, takeLine)
        } catch (thrown) {
          finish(getEnd(thrown, requested))
        }
      },
      end: (fault) =>
        finish(
          fault === undefined
            ? { end: 'closed' }
            : { end: 'failed', failure: createFaultFailure(fault, requested) },
        ),
    })
  })
}

function getEnd(thrown: unknown, requested: RequestDescription): StreamEnd {
  // An exception in a stream listener would end the process.
  if (!(thrown instanceof FrameOverflow))
    return { end: 'failed', failure: convertToFailure(thrown) }
  if (thrown.what === 'frame') {
    return {
      end: 'too-large',
      failure: createFaultFailure(
        new TransportFault('too-large', `an event of ${thrown.message}`),
        requested,
      ),
    }
  }
  const why = `unfinished events of the cluster have ${thrown.message}`
  return {
    end: 'failed',
    failure: createFaultFailure(new TransportFault('broken', why), requested),
  }
}

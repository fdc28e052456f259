/** A connection to one repository: three transports (https, ssh, the `git` on this machine) give the same two steps. */
import type { Advertisement } from './advertisement.ts'
import type { ByteReader } from './byte-reader.ts'

/** `git-upload-pack` is read, `git-receive-pack` is written. */
export type GitService = 'git-upload-pack' | 'git-receive-pack'

/** One conversation. `close` must be called, whatever happened; after `request` it waits for the end. */
export interface GitSession {
  readonly advertisement: Advertisement
  /** Sends the request, once, and gives the answer to read. @throws Failure BP40xx */
  request(body: readonly Uint8Array[]): Promise<ByteReader>
  close(): Promise<void>
}

export interface GitTransport {
  /** Text that must not be printed: tokens and passwords in use. */
  readonly secrets: readonly string[]
  /**
   * Connects and reads the advertisement. `known` is one that this transport gave before: where the server need not be asked
   * for it again, it is used instead.
   * @throws Failure BP1002, BP4001, BP4005, BP4009, BP4010; the signal's reason when it is aborted
   */
  open(service: GitService, signal: AbortSignal, known?: Advertisement): Promise<GitSession>
  /** A thrown fault of the stream as the failure to show; our own failures and the signal's reason as they are. */
  explain(thrown: unknown, signal: AbortSignal): unknown
}

export interface TransportLimits {
  /** Longest time without a byte from the other side. Milliseconds. */
  readonly silence: number
  /** Most bytes of one answer. */
  readonly bytes: number
}

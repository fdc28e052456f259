/** A connection to one repository: three transports (https, ssh, the `git` on this machine) with the same two steps. */
import type { Advertisement } from './advertisement.ts'
import type { ByteReader } from './byte-reader.ts'

/** `git-upload-pack` reads, `git-receive-pack` writes. */
export type GitService = 'git-upload-pack' | 'git-receive-pack'

/** One conversation. `close` must be called in any case; after `request` it waits for the end. */
export interface GitSession {
  readonly advertisement: Advertisement
  /** Sends the request, once, and returns the answer to read. @throws Failure BP40xx */
  request(body: readonly Uint8Array[]): Promise<ByteReader>
  close(): Promise<void>
}

export interface GitTransport {
  /** Text that must not be printed: tokens and passwords in use. */
  readonly secrets: readonly string[]
  /**
   * Connects and reads the advertisement. `known` is an earlier one of this transport, which replaces the request where the protocol allows.
   * @throws Failure BP1002, BP4001, BP4005, BP4009, BP4010; the signal's reason when it is aborted
   */
  open(service: GitService, signal: AbortSignal, known?: Advertisement): Promise<GitSession>
  /** Translates a thrown fault of the stream; our own failures and the signal's reason stay as they are. */
  explain(thrown: unknown, signal: AbortSignal): unknown
}

export interface TransportLimits {
  /** Longest time without a byte from the other side. Milliseconds. */
  readonly silence: number
  /** Bytes of one answer. */
  readonly bytes: number
  /** Milliseconds that an answer may be waited for, by the bytes that came; `answerDeadline` unless given. */
  readonly deadline?: (received: number) => number
}

import type { Advertisement } from './advertisement.ts'
import type { ByteReader } from './byte-reader.ts'

export type GitService = 'git-upload-pack' | 'git-receive-pack'

/** Always call `close`; after `request` it waits for the end. */
export interface GitSession {
  readonly advertisement: Advertisement
  /**
   * Once.
   * @throws Failure BP40xx
   */
  request(body: readonly Uint8Array[]): Promise<ByteReader>
  close(): Promise<void>
}

export interface GitTransport {
  /** Tokens and passwords in use, which must not be printed. */
  readonly secrets: readonly string[]
  /**
   * @param known an earlier advertisement, which replaces the request if the protocol allows
   * @throws Failure BP1002, BP4001, BP4005, BP4009, BP4010; the signal's reason when it is aborted
   */
  open(service: GitService, signal: AbortSignal, known?: Advertisement): Promise<GitSession>
  explain(thrown: unknown, signal: AbortSignal): unknown
}

export interface TransportLimits {
  /** Milliseconds without a byte. */
  readonly silence: number
  readonly bytes: number
  /** Milliseconds by received bytes. Default: `answerDeadline`. */
  readonly deadline?: (received: number) => number
}

/** What was asked of the world outside and how long it took, for `--verbose`. */

export interface TracedRequest {
  /** `GET /api/v1/namespaces/shop/pods`, `git-upload-pack https://host/deploy`: never a credential, a header or a body. */
  readonly what: string
  /** Status, size or class of error: never text from the other side. */
  readonly outcome: string
  readonly milliseconds: number
}

/** Told about each request when it has ended. Must not throw. */
export type Trace = (request: TracedRequest) => void

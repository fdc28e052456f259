/** Requests to external systems and how long they took, for `--verbose`. */

export interface TracedRequest {
  /** `GET /api/v1/namespaces/shop/pods`, `git-upload-pack https://host/deploy`: never a credential, a header or a body. */
  readonly what: string
  /** Status, size or class of error: never text from the other side. */
  readonly outcome: string
  readonly milliseconds: number
}

/** Called after each request has ended. Must not throw. */
export type Trace = (request: TracedRequest) => void

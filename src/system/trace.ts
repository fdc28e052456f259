/** Requests to external systems and how long they took, for `--verbose`, the log and the metrics. */

/** The other side of a request. `name`: of the cluster; the kind of the forge; of git what is done: `fetch`, `push`. */
export interface RequestTarget {
  readonly system: 'cluster' | 'git' | 'forge'
  readonly name: string
}

export interface TracedRequest {
  readonly to: RequestTarget
  /** `GET /api/v1/namespaces/shop/pods`, `git-upload-pack https://host/deploy`: never a credential, a header or a body. */
  readonly what: string
  /** Status, size or class of error: never text from the other side. */
  readonly outcome: string
  readonly milliseconds: number
  /** What the forge says is left of its limit, and the name of that limit. */
  readonly budget?: { readonly name: string; readonly remaining: number }
}

/** Called after each request has ended. Must not throw. */
export type Trace = (request: TracedRequest) => void

/** `name`: the cluster's; the forge's kind; for git `fetch` or `push`. */
export interface RequestTarget {
  readonly system: 'cluster' | 'git' | 'forge'
  readonly name: string
}

export interface TracedRequest {
  readonly to: RequestTarget
  /** Never a credential, header or body. */
  readonly what: string
  /** Never text from the other side. */
  readonly outcome: string
  readonly milliseconds: number
  readonly budget?: { readonly name: string; readonly remaining: number }
}

/** Must not throw. */
export type Trace = (request: TracedRequest) => void

/** `name`: the cluster's; the forge's kind; for git `fetch` or `push`. */
export interface RequestTarget {
  readonly system: 'cluster' | 'git' | 'forge'
  readonly name: string
}

/** What the authoriser of an API server decides about. */
export interface TracedResource {
  readonly verb: string
  readonly group: string
  readonly kind: string
  readonly plural: string
  /** Empty for cluster-scoped kinds and for all namespaces. */
  readonly namespace: string
  /** Empty for all names. */
  readonly name: string
}

export interface TracedRequest {
  readonly to: RequestTarget
  /** Of a cluster; absent for its discovery and version. */
  readonly resource?: TracedResource
  /** Never a credential, header or body. */
  readonly what: string
  /** Never text from the other side. */
  readonly outcome: string
  readonly milliseconds: number
  readonly budget?: { readonly name: string; readonly remaining: number }
}

/** Must not throw. */
export type Trace = (request: TracedRequest) => void

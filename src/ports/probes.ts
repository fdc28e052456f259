/** To test permissions without using them. */
import type { ClusterAccessAnswer } from '@backporch/cluster/cluster'
import type { ForgeKind } from '@backporch/forge/forge-setup'
import type { PushAnswer } from '@backporch/git-store/package-repository'
import type { Finding } from '@backporch/kyaml/note'

export interface Probes {
  /**
   * Each push claims a commit that the ref does not have: rules and hooks of the server see it, but
   * no ref moves.
   * @throws Failure BP40xx if no such exchange was possible
   */
  push(
    remote: string,
    baseBranch: string,
    refs: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly PushAnswer[]>
  /** @throws Failure BP50xx */
  forge(
    remote: string,
    kind: ForgeKind | undefined,
    refs: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Finding[]>
  /** @throws Failure BP30xx */
  access(
    target: ProbedCluster,
    namespace: string,
    signal: AbortSignal,
  ): Promise<ClusterAccessAnswer>
  /** Creates none. */
  keySource(): Promise<{ readonly from: 'environment' | 'file' | 'nowhere'; readonly path: string }>
  /**
   * Undefined if none was given.
   * @throws Failure BP1012
   */
  signingKey(): Promise<
    { readonly from: string; readonly fingerprint: string; readonly readByAll: boolean } | undefined
  >
  hasGitIdentity(): Promise<boolean>
}

interface ProbedCluster {
  readonly context: string | undefined
  readonly kubeconfig: string | undefined
  readonly cluster: string | undefined
  readonly live: string | undefined
  readonly execAllow: readonly string[]
  readonly insecureSkipTlsVerify: boolean
  readonly timeout: number | undefined
}

/** Requests that only `check` makes: what we could do, without doing it. */
import type { ClusterAccessAnswer } from '@backporch/cluster/cluster'
import type { ForgeKind } from '@backporch/forge/forge-setup'
import type { PushAnswer } from '@backporch/git-store/package-repository'
import type { Finding } from '@backporch/kyaml/note'

export interface Probes {
  /**
   * Offers the refs in pushes that no server can carry out: each claims a commit that the ref does not have. Rules and hooks of
   * the server see them, no ref moves. @throws Failure BP40xx where no such conversation was possible
   */
  push(
    remote: string,
    baseBranch: string,
    refs: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly PushAnswer[]>
  /** What the forge reports about us and the repository. @throws Failure BP50xx */
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
  /** Where the installation key comes from. Makes none. */
  keySource(): Promise<{ readonly from: 'environment' | 'file' | 'nowhere'; readonly path: string }>
  /** The key that signs commits; undefined where none was given. @throws Failure BP1012 */
  signingKey(): Promise<
    { readonly from: string; readonly fingerprint: string; readonly readByAll: boolean } | undefined
  >
  /** Whether git on this machine knows who sits here. */
  hasGitIdentity(): Promise<boolean>
}

/** As `ClusterTarget` of the command line. */
interface ProbedCluster {
  readonly context: string | undefined
  readonly kubeconfig: string | undefined
  readonly cluster: string | undefined
  readonly live: string | undefined
  readonly execAllow: readonly string[]
  readonly insecureSkipTlsVerify: boolean
  readonly timeout: number | undefined
}

/** Questions that only `check` asks: what we could do, without doing it. */
import type { FailureCode } from '../failure.ts'
import type { ForgeKind } from './forge-setup.ts'

/** One line of `check`. */
export interface Finding {
  /** Word of ours for what was looked at: `git-push`. */
  readonly check: string
  /** `skipped`: it could not be proven either way, which the message says; it is no fault. */
  readonly state: 'passed' | 'warning' | 'failed' | 'skipped'
  readonly code?: FailureCode | undefined
  readonly message: string
  /** The one thing to do; always there with `warning` and `failed`. */
  readonly fix?: string | undefined
}

/** What a server said to a push that could not move anything. */
export interface PushAnswer {
  /** Full ref name. */
  readonly ref: string
  /** `let-through`: its rules said nothing against it. `unclear`: nobody can say. */
  readonly answer: 'let-through' | 'refused' | 'unclear'
  /** What the server said, one line; empty where it was let through. */
  readonly why: string
}

/** One rule of the cluster's authorisation, as `SelfSubjectRulesReview` lists it. */
export interface AccessRule {
  readonly verbs: readonly string[]
  readonly groups: readonly string[]
  readonly resources: readonly string[]
  /** Only objects of these names; empty for all. */
  readonly names: readonly string[]
}

export interface ClusterAccessAnswer {
  readonly rules: readonly AccessRule[]
  /** The authoriser could not list all of them. */
  readonly incomplete: boolean
  /** Time of the server's answer in milliseconds since 1970; undefined where it sent none. */
  readonly serverTime: number | undefined
}

export interface Probes {
  /**
   * Offers the refs in pushes that no server can carry out: each claims that the ref stands where it does not. Rules and hooks of
   * the server see them, no ref moves. @throws Failure BP40xx where no such conversation was possible
   */
  push(remote: string, baseBranch: string, refs: readonly string[], signal: AbortSignal): Promise<readonly PushAnswer[]>
  /** What the forge says of us and of the repository. @throws Failure BP50xx */
  forge(remote: string, kind: ForgeKind | undefined, refs: readonly string[], signal: AbortSignal): Promise<readonly Finding[]>
  /** @throws Failure BP30xx */
  access(target: ProbedCluster, namespace: string, signal: AbortSignal): Promise<ClusterAccessAnswer>
  /** Where the installation key comes from. Makes none. */
  keySource(): Promise<{ readonly from: 'environment' | 'file' | 'nowhere'; readonly path: string }>
  /** The key that signs commits; undefined where none was given. @throws Failure BP1012 */
  signingKey(): Promise<{ readonly from: string; readonly fingerprint: string; readonly readByAll: boolean } | undefined>
  /** Whether git on this machine knows who sits here. */
  hasGitIdentity(): Promise<boolean>
}

/** As `ClusterTarget` of the command line. */
export interface ProbedCluster {
  readonly context: string | undefined
  readonly kubeconfig: string | undefined
  readonly cluster: string | undefined
  readonly live: string | undefined
  readonly execAllow: readonly string[]
  readonly insecureSkipTlsVerify: boolean
  readonly timeout: number | undefined
}

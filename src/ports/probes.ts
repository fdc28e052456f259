/** Requests that only `check` makes: what we could do, without doing it. */
import type { FailureCode } from '@backporch/kyaml/failure'
import type { ForgeKind } from './forge-setup.ts'

/** One line of `check`. */
export interface Finding {
  /** Our name of the check: `git-push`. */
  readonly check: string
  /** `skipped`: it could not be proven either way, as the message explains; it is no fault. */
  readonly state: 'passed' | 'warning' | 'failed' | 'skipped'
  readonly code?: FailureCode | undefined
  readonly message: string
  /** The one thing to do; always there with `warning` and `failed`. */
  readonly fix?: string | undefined
}

/** The server's answer to a push that could not move anything. */
export interface PushAnswer {
  /** Full ref name. */
  readonly ref: string
  /** `let-through`: its rules did not object. `unclear`: this is unknown. */
  readonly answer: 'let-through' | 'refused' | 'unclear'
  /** The server's message, one line; empty where it was let through. */
  readonly why: string
}

/**
 * The reports of a git server that is not git's own. Its other texts mean nothing that is known.
 */
export interface PushTexts {
  /** Of its advertisement. */
  readonly agent: RegExp
  /** The ref is not where the push claims. */
  readonly stale: RegExp
  /** A rule refused the push. */
  readonly refused: RegExp
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
   * Offers the refs in pushes that no server can carry out: each claims a commit that the ref does not have. Rules and hooks of
   * the server see them, no ref moves. @throws Failure BP40xx where no such conversation was possible
   */
  push(remote: string, baseBranch: string, refs: readonly string[], signal: AbortSignal): Promise<readonly PushAnswer[]>
  /** What the forge reports about us and the repository. @throws Failure BP50xx */
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
interface ProbedCluster {
  readonly context: string | undefined
  readonly kubeconfig: string | undefined
  readonly cluster: string | undefined
  readonly live: string | undefined
  readonly execAllow: readonly string[]
  readonly insecureSkipTlsVerify: boolean
  readonly timeout: number | undefined
}

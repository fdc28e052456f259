/**
 * Only some forges have it, and only for some credentials: `HostedForge.checkRuns` is else
 * undefined.
 */
import type { ObjectId } from '@backporch/kyaml/files'

/** Plain text, no Markdown. */
export interface CheckAnnotation {
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly level: 'notice' | 'warning' | 'failure'
  /** At most 255 characters. */
  readonly title: string
  readonly message: string
}

export interface CheckButton {
  /** At most 20 characters. */
  readonly id: string
  /** At most 20 characters. */
  readonly label: string
  /** At most 40 characters. */
  readonly description: string
}

export interface CheckRun {
  /** 16 hex digits. A requested action carries it: the commit may change. */
  readonly key: string
  /**
   * `unsure`: live may differ from the report. `failed`: merged, and the cluster does not match.
   * `closed`: decided by a close, or nothing is left to decide.
   */
  readonly state: 'undecided' | 'unsure' | 'merged' | 'failed' | 'closed'
  readonly title: string
  /** Markdown, at most 65,535 bytes. */
  readonly summary: string
  readonly url: string
  /** A forge never removes them: those of another state of the commit stay. */
  readonly annotations: readonly CheckAnnotation[]
  /** At most three. */
  readonly buttons: readonly CheckButton[]
}

export interface ForgeCheckRuns {
  /**
   * An existing equal check is not sent again.
   * @throws Failure BP50xx
   */
  ensureCheckRun(commit: ObjectId, run: CheckRun, signal: AbortSignal): Promise<void>
}

/** From a signed delivery. A lost delivery cannot be read again. */
export interface RequestedAction {
  /** Equal for repeated deliveries: at most 60 letters, digits, `-` and `_`. */
  readonly id: string
  readonly key: string
  readonly commit: string
  readonly button: string
  readonly login: string
  readonly bot: boolean
  /** RFC 3339 UTC: time of arrival. */
  readonly at: string
}

export interface RequestedActionSource {
  listWaiting(): readonly RequestedAction[]
  removeAnswered(requestedAction: RequestedAction): void
}

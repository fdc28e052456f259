/**
 * A check on the commit of a proposal: what differs at the lines that declare it, and buttons. Only some forges have it, and only for
 * some credentials: where `HostedForge.checkRuns` is undefined, nothing else is another.
 */
import type { ObjectId } from '@backporch/kyaml/files'

/** A location in a file as the commit has it, with the text of the annotation. Plain text, no Markdown. */
export interface CheckAnnotation {
  /** From the root of the repository. */
  readonly path: string
  /** Counts from 1. */
  readonly line: number
  readonly level: 'notice' | 'warning' | 'failure'
  /** At most 255 characters. */
  readonly title: string
  readonly message: string
}

export interface CheckButton {
  /** A word of ours, at most 20 characters: a requested action names it. */
  readonly id: string
  /** At most 20 characters. */
  readonly label: string
  /** At most 40 characters. */
  readonly description: string
}

export interface CheckRun {
  /** Of the proposal: 16 hex digits. A requested action carries it, so that the proposal is found when its commit is another one. */
  readonly key: string
  /**
   * `undecided`: a person has to decide, and sees the changes. `unsure`: live may differ from what is reported. `merged`: decided,
   * and `failed` where the cluster does not agree. `closed`: decided by a close, or nothing is left to decide.
   */
  readonly state: 'undecided' | 'unsure' | 'merged' | 'failed' | 'closed'
  /** Plain text. */
  readonly title: string
  /** Markdown, at most 65,535 bytes. */
  readonly summary: string
  /** Page with more; empty where there is none. */
  readonly url: string
  /** A forge takes them back from no commit: those of another state of the same commit stay. */
  readonly annotations: readonly CheckAnnotation[]
  /** At most three. */
  readonly buttons: readonly CheckButton[]
}

export interface ForgeCheckRuns {
  /** Makes the commit have this check, once; one that is there already is not sent again. @throws Failure BP50xx */
  ensureCheckRun(commit: ObjectId, run: CheckRun, signal: AbortSignal): Promise<void>
}

/** A person clicked a button, as a signed delivery of the forge reports. Nothing else reports it: a lost delivery cannot be read again. */
export interface RequestedAction {
  /** The same for the same delivery, however often it comes: at most 60 letters, digits, `-` and `_`. */
  readonly id: string
  /** `CheckRun.key` of the check that has the button. */
  readonly key: string
  /** The commit that the check is on: 40 hex digits. */
  readonly commit: string
  /** `CheckButton.id`; not checked. */
  readonly button: string
  readonly login: string
  /** Who clicked is no person. */
  readonly bot: boolean
  /** RFC 3339 UTC: when it came. */
  readonly at: string
}

/** Requested actions that wait for a turn. */
export interface RequestedActionSource {
  /** Oldest first. */
  waiting(): readonly RequestedAction[]
  /** It is done, refused or not for us: it is not returned again. */
  answered(requestedAction: RequestedAction): void
}

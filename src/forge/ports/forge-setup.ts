/** The forges that there are, and what an account needs on one before anything is opened. */

/** As `--forge` names them. A forge is a folder of this library, a word here and a line in the registry. */
export const FORGE_KINDS = ['github', 'gitea', 'local'] as const
export type ForgeKind = (typeof FORGE_KINDS)[number]
/** Git alone: proposals are branches. */
export const GIT_ALONE: ForgeKind = 'local'

interface NeededRight {
  /** As the forge calls it: `Contents: read and write`. */
  readonly name: string
  readonly why: string
}

/** One request that sets up protection. */
export interface ProtectionRequest {
  /** For people. */
  readonly what: string
  readonly method: 'POST'
  /** Below the address of the forge's API. */
  readonly path: string
  readonly body: object
}

export interface ProtectionSubject {
  /** Address of the repository, for git. */
  readonly remote: string
  readonly baseBranch: string
  /** Of the account, as the forge identifies it: the id of its App, or its login; undefined leaves out what has to name it. */
  readonly bot: string | undefined
}

interface Protection {
  readonly requests: readonly ProtectionRequest[]
  /** Commands for a POSIX shell that send the requests: comments, commands and JSON only. */
  readonly commands: string
}

export interface ForgeSetup {
  /** What the account of Backporch needs. */
  readonly rights: readonly NeededRight[]
  /** The rules that keep a review a review. */
  protection(subject: ProtectionSubject): Protection
}

/** As `--forge` names them; each has a folder and a line in the registry. */
export const FORGE_KINDS = ['github', 'gitea', 'local'] as const
export type ForgeKind = (typeof FORGE_KINDS)[number]
export const GIT_ALONE: ForgeKind = 'local'

interface NeededRight {
  readonly name: string
  readonly why: string
}

export interface ProtectionRequest {
  readonly what: string
  readonly method: 'POST'
  readonly path: string
  readonly body: object
}

export interface ProtectionSubject {
  readonly remote: string
  readonly baseBranch: string
  readonly bot: string | undefined
}

interface Protection {
  readonly requests: readonly ProtectionRequest[]
  readonly commands: string
}

export interface ForgeSetup {
  readonly rights: readonly NeededRight[]
  protection(subject: ProtectionSubject): Protection
}

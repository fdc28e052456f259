/** What a forge is to the rest of the program: one value in its folder, and one line in the registry. */
import type { Clock } from '../../ports/clock.ts'
import type { ForgeKind, ForgeSetup } from '../../ports/forge-setup.ts'
import type { Forge } from '../../ports/hosted-forge.ts'
import type { PackageRepository } from '../../ports/package-repository.ts'
import type { Finding, PushTexts } from '../../ports/probes.ts'
import type { Trace } from '../../ports/trace.ts'
import type { ForgeAddress } from './forge-address.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What a request needs besides its address. */
export interface CredentialOptions {
  readonly environment: Environment
  /** What a relative path in the environment is relative to; the process's own folder otherwise. */
  readonly workingDirectory?: string
  readonly clock: Clock
  readonly version: string
  /** Milliseconds that a request may wait for the forge's limits. */
  readonly longestWait: number
}

export interface ConnectOptions extends CredentialOptions {
  /** As it was given: a path, https, ssh or `user@host:path`. */
  readonly remote: string
  /** Whether requests that write are held back. */
  readonly dryRun?: boolean
  /** A token of the environment for the host, or what git's credential helpers know for the page. */
  readonly findToken: (address: ForgeAddress) => Promise<string | undefined>
  /** Sentences for people. */
  readonly note: (text: string) => void
  readonly trace?: Trace | undefined
}

export interface ForgeConnection {
  /** @param repository the same repository, for what belongs to a decision */
  forge(repository: PackageRepository): Forge
  /** What the forge says of us, for `check`. @param refs full names of branches that we push @throws Failure BP50xx */
  probe(refs: readonly string[], signal: AbortSignal): Promise<readonly Finding[]>
}

/** Header and what stands before the hex of an HMAC-SHA256. */
export type SignatureHeader = readonly [name: string, prefix: string]

export interface ForgeAdapter extends ForgeSetup {
  readonly kind: ForgeKind
  /** As people call it. */
  readonly name: string
  /** Undefined where the remote is no address of a repository on such a forge. Whether one answers there is not checked. */
  address(remote: string): ForgeAddress | undefined
  /** Whether a host, with its port, is known to be such a forge by its name, or by the server that the environment names. */
  hasHost(host: string, environment: Environment): boolean
  /** Below the address of the pages: what anybody may read on such a forge alone, and a key of its JSON. Undefined: it is never guessed. */
  readonly probe: { readonly path: string; readonly key: string } | undefined
  /** Undefined where no token is needed. */
  readonly token:
    | {
        readonly variable: string
        /** Every variable that may hold a credential, for people. */
        readonly variables: string
        /** Whether it is for each host that no forge has by its name. */
        readonly anyHost: boolean
      }
    | undefined
  /** Headers in lower case, as node:http gives them. */
  readonly webhook: {
    readonly signatures: readonly SignatureHeader[]
    readonly events: readonly string[]
    readonly deliveries: readonly string[]
  }
  /** Committers of what people merge in the forge's pages, by address: no persons. */
  readonly committers: readonly string[]
  /** Undefined where the git server of the forge reports pushes as git does. */
  readonly pushTexts: PushTexts | undefined
  /** Pushes to one repository that the forge takes in a minute; undefined where it names no limit. */
  readonly pushesPerMinute: number | undefined
  /**
   * Sends no request yet. Undefined where there is no credential.
   * @throws Failure BP1001 where the remote does not fit, BP5002 for a credential that cannot be one
   */
  connect(options: ConnectOptions): Promise<ForgeConnection | undefined>
  /** What git pushes with over https, where that is no token of the environment. */
  gitToken(remote: string, options: CredentialOptions): Promise<((signal: AbortSignal) => Promise<string>) | undefined>
}

/** Everything that the rest of the program knows of a forge: one value in its folder, and one line in the registry. */
import type { PackageRepository, PushTexts } from '@backporch/git-store/package-repository'
import type { Finding } from '@backporch/kyaml/note'
import type { Clock } from '@backporch/system/clock'
import type { Trace } from '@backporch/system/trace'
import type { ForgeKind, ForgeSetup } from '../ports/forge-setup.ts'
import type { Forge } from '../ports/hosted-forge.ts'
import type { ForgeAddress } from './forge-address.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface CredentialOptions {
  readonly environment: Environment
  /** The base of a relative path in the environment; the process's own folder by default. */
  readonly workingDirectory?: string
  readonly clock: Clock
  readonly version: string
  /** Milliseconds that a request may wait for the forge's limits. */
  readonly longestWait: number
}

export interface ConnectOptions extends CredentialOptions {
  /** A path, an https or ssh address, or `user@host:path`. */
  readonly remote: string
  /** A dry run holds back requests that write. */
  readonly dryRun?: boolean
  /** A token of the environment for the host, or the answer of git's credential helpers for the page. */
  readonly findToken: (address: ForgeAddress) => Promise<string | undefined>
  /** Sentences for people. */
  readonly note: (text: string) => void
  readonly trace?: Trace | undefined
}

export interface ForgeConnection {
  /** @param repository the same repository, for what belongs to a decision */
  forge(repository: PackageRepository): Forge
  /** Findings for `check`. @param refs full names of branches that we push @throws Failure BP50xx */
  probe(refs: readonly string[], signal: AbortSignal): Promise<readonly Finding[]>
}

/** Header, and the text before the hex of an HMAC-SHA256. */
type SignatureHeader = readonly [name: string, prefix: string]

export interface ForgeAdapter extends ForgeSetup {
  readonly kind: ForgeKind
  /** The name that people use. */
  readonly name: string
  /** Undefined where the remote is no address of a repository on such a forge. It is not checked that one answers there. */
  address(remote: string): ForgeAddress | undefined
  /** A host (with its port) is known by its name, or because the environment names it as the server. */
  hasHost(host: string, environment: Environment): boolean
  /** A path below the address of the pages that only such a forge answers to anybody, and a key of its JSON. Undefined: it is never guessed. */
  readonly probe: { readonly path: string; readonly key: string } | undefined
  /** Undefined where no token is needed. */
  readonly token:
    | {
        readonly variable: string
        /** Every variable that may hold a credential, for people. */
        readonly variables: string
        /** It is for each host that no forge knows by its name. */
        readonly anyHost: boolean
      }
    | undefined
  /** Headers in lower case, as node:http gives them. */
  readonly webhook: {
    readonly signatures: readonly SignatureHeader[]
    readonly events: readonly string[]
    readonly deliveries: readonly string[]
  }
  /** Addresses of the committers of what people merge in the forge's pages. They are no persons. */
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
  /** The credential for git over https, where it is no token of the environment. */
  gitToken(
    remote: string,
    options: CredentialOptions,
  ): Promise<((signal: AbortSignal) => Promise<string>) | undefined>
}

/** One value in its folder, and one line in the registry. */
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
  readonly workingDirectory?: string
  readonly clock: Clock
  readonly version: string
  /** Milliseconds. */
  readonly longestWait: number
}

export interface ConnectOptions extends CredentialOptions {
  /** A path, an https or ssh address, or `user@host:path`. */
  readonly remote: string
  readonly dryRun?: boolean
  /** From the environment, or git's credential helpers for the page. */
  readonly findToken: (address: ForgeAddress) => Promise<string | undefined>
  readonly note: (text: string) => void
  readonly trace?: Trace | undefined
}

export interface ForgeConnection {
  forge(repository: PackageRepository): Forge
  /**
   * @param refs full names of branches that Backporch pushes
   * @throws Failure BP50xx
   */
  probe(refs: readonly string[], signal: AbortSignal): Promise<readonly Finding[]>
}

/** Text before the hex of an HMAC-SHA256. */
type SignatureHeader = readonly [name: string, prefix: string]

export interface ForgeAdapter extends ForgeSetup {
  readonly kind: ForgeKind
  readonly name: string
  /** Does not check that such a forge answers there. */
  address(remote: string): ForgeAddress | undefined
  /** Known by name, or named by the environment. */
  hasHost(host: string, environment: Environment): boolean
  /** Only such a forge serves the path without login, with this key. Undefined: never guess. */
  readonly probe: { readonly path: string; readonly key: string } | undefined
  readonly token:
    | {
        readonly variable: string
        readonly variables: string
        /** Applies to each host that no forge knows by name. */
        readonly anyHost: boolean
      }
    | undefined
  readonly webhook: {
    readonly signatures: readonly SignatureHeader[]
    readonly events: readonly string[]
    readonly deliveries: readonly string[]
  }
  /** Merges in the forge's pages. They are not persons. */
  readonly committers: readonly string[]
  /** Undefined if pushes are reported as by git. */
  readonly pushTexts: PushTexts | undefined
  /** To one repository; undefined if the forge names no limit. */
  readonly pushesPerMinute: number | undefined
  /**
   * Sends no request yet. Undefined without a credential.
   * @throws Failure BP1001 if the remote does not fit, BP5002 for an impossible credential
   */
  connect(options: ConnectOptions): Promise<ForgeConnection | undefined>
  gitToken(
    remote: string,
    options: CredentialOptions,
  ): Promise<((signal: AbortSignal) => Promise<string>) | undefined>
}

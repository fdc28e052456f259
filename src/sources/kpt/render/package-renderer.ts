import type { FunctionCall, FunctionLibrary } from '@backporch/kpt/function'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { PackageBuilder } from '../../programs/package-builder.ts'
import type { ValueDecryptor } from '../../programs/value-decryptor.ts'
import type { RenderedPackage, Rendering } from './render-package.ts'

/** Without the function run: an edit renders the package again. */
export type RenderedForTurn = Pick<RenderedPackage, 'desired' | 'kptfile' | 'unread'>

export type TurnRendering = RenderedForTurn | Extract<Rendering, { readonly failures: unknown }>

export interface PackageRenderer {
  /**
   * Equal files are rendered once while the result is cached.
   * @throws Failure BP9001 if the renderer itself fails, and the signal's reason when it is aborted
   */
  render(packagePath: string, files: PackageFiles, signal: AbortSignal): Promise<TurnRendering>
  /** kpt's `KPT_DISABLE_ATTRIBUTION` is not set. */
  readonly attributed: boolean
  /**
   * Answers at once: runs built-in functions, and has the stored answers of others.
   * @throws Unanswered for a call that `fetch` has to run
   */
  readonly library: FunctionLibrary
  /** @throws Failure BP1201 or BP1203 if the function has no answer to cache */
  fetch(call: FunctionCall, signal: AbortSignal): Promise<void>
  /** For tools other than kpt; undefined if no program may run. */
  readonly builder?: PackageBuilder | undefined
  /** For SOPS; undefined if nothing may be decrypted. */
  readonly decryptor?: ValueDecryptor | undefined
}

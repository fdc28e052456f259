/** Renders packages for a turn. */
import type { FunctionCall, FunctionLibrary } from '@backporch/kpt/function'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { PackageBuilder } from '../../programs/package-builder.ts'
import type { ValueDecryptor } from '../../programs/value-decryptor.ts'
import type { RenderedPackage, Rendering } from './render-package.ts'

/** The parts of a rendering that a turn needs. The run of the functions stays where it happened: an edit renders the package again. */
export type RenderedForTurn = Pick<RenderedPackage, 'desired' | 'kptfile' | 'unread'>

export type TurnRendering = RenderedForTurn | Extract<Rendering, { readonly failures: unknown }>

export interface PackageRenderer {
  /**
   * As `renderPackage`, with every function that the operator allows. Equal files give equal renderings, each rendered once while it is
   * stored.
   * @throws Failure BP9001 where the renderer itself fails, and the signal's reason when it is aborted
   */
  render(packagePath: string, files: PackageFiles, signal: AbortSignal): Promise<TurnRendering>
  /** Whether a render is recorded on objects of Config Connector: kpt's `KPT_DISABLE_ATTRIBUTION` is not set. */
  readonly attributed: boolean
  /**
   * Answers at once: runs built-in functions, and has the stored answers of others.
   * @throws Unanswered for a call that `fetch` has to run
   */
  readonly library: FunctionLibrary
  /**
   * Runs the function of a call, so that `library` can answer it.
   * @throws Failure BP1201 or BP1203 where the function has no answer to store
   */
  fetch(call: FunctionCall, signal: AbortSignal): Promise<void>
  /** For units that another tool than kpt renders; undefined where no program may run. */
  readonly builder?: PackageBuilder | undefined
  /** For values that SOPS encrypted; undefined where nothing may be decrypted. */
  readonly decryptor?: ValueDecryptor | undefined
}

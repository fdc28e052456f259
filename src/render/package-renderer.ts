/** Whoever renders packages for a turn. */
import type { PackageFiles } from '../package/package-files.ts'
import type { FunctionLibrary } from './answer-calls.ts'
import type { PackageBuilder } from './package-builder.ts'
import type { RenderedPackage, Rendering } from './render-package.ts'

/** What a turn asks of a rendering. How its functions came to it stays where they ran: whoever edits a package renders it anew. */
export type RenderedForTurn = Pick<RenderedPackage, 'desired' | 'kptfile' | 'unread'>

export type TurnRendering = RenderedForTurn | Extract<Rendering, { readonly failures: unknown }>

export interface PackageRenderer {
  /**
   * As `renderPackage`, with every function that the operator allows. Equal files give equal renderings, each made once while
   * it is remembered.
   * @throws Failure BP9001 where the renderer itself broke, and the signal's reason when it is aborted
   */
  render(packagePath: string, files: PackageFiles, signal: AbortSignal): Promise<TurnRendering>
  /**
   * Answers at once: built-in functions by running them, others with what they answered before.
   * @throws MissingAnswer for a call that somebody has to wait for
   */
  readonly library: FunctionLibrary
  /**
   * Runs the function of a call that `library` could not answer, so that it can.
   * @throws Failure BP1201 or BP1203 where the function has no answer that could be kept
   */
  fetch(call: MissingAnswer['call'], signal: AbortSignal): Promise<void>
  /** For units that another tool than kpt renders; undefined where no program may run. */
  readonly builder?: PackageBuilder | undefined
}

/** Thrown by a library in the middle of a computation, which is done again once the answer is there. */
export class MissingAnswer extends Error {
  readonly call: Parameters<FunctionLibrary['answer']>[0]

  constructor(call: MissingAnswer['call']) {
    super('the function has to run first')
    this.name = 'MissingAnswer'
    this.call = call
  }
}

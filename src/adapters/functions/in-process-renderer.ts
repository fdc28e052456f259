/** Renders with the built-in functions, here and now: for tests, and where packages and their authors are trusted. */

import { builtInFunctions } from '../../../functions/built-in-functions.ts'
import type { PackageFiles } from '../../package/package-files.ts'
import { answerCalls, type FunctionLibrary } from '../../render/answer-calls.ts'
import type { PackageRenderer } from '../../render/package-renderer.ts'
import { type Rendering, renderPackage } from '../../render/render-package.ts'

export class InProcessRenderer implements PackageRenderer {
  readonly library: FunctionLibrary = builtInFunctions

  async render(packagePath: string, files: PackageFiles): Promise<Rendering> {
    return answerCalls(renderPackage(packagePath, files), this.library)
  }

  async fetch(): Promise<void> {
    throw new TypeError('every call is answered at once')
  }
}

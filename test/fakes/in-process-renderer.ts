/** Renders with the built-in functions in this process, without workers. */
import { answerCalls, type FunctionLibrary } from '@backporch/kpt/function'
import type { PackageFiles } from '@backporch/kyaml/files'
import { builtInFunctions } from '../../functions/built-in-functions.ts'
import type { PackageRenderer } from '../../src/sources/kpt/render/package-renderer.ts'
import { type Rendering, renderPackage } from '../../src/sources/kpt/render/render-package.ts'

export class InProcessRenderer implements PackageRenderer {
  readonly attributed = true
  readonly library: FunctionLibrary = builtInFunctions

  async render(packagePath: string, files: PackageFiles): Promise<Rendering> {
    return answerCalls(renderPackage(packagePath, files), this.library)
  }

  async fetch(): Promise<void> {
    throw new TypeError('every call is answered at once')
  }
}

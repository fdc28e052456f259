/** In place, byte for byte (test/render-corpus compares it with kpt). */
import { Failure, Failures, listFailures } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import { removeDocumentComments, type YamlMap } from '@backporch/kyaml/yaml'
import type { FunctionLibrary } from '../function/answer-calls.ts'
import { getItemFile } from '../function/item-annotations.ts'
import type { PipelineStep, RenderProcess } from '../function/pipeline-step.ts'
import {
  FUNCTION_TEXT,
  formatFunctionInput,
  formatFunctionOutput,
  readFunctionInput,
  readFunctionOutput,
} from '../function/resource-list.ts'
import { isKptfile, PackageSources } from '../package/package-sources.ts'
import { attributeRender } from './attribution.ts'
import { readPipelinePackage } from './pipeline-package.ts'
import { type PipelineRun, runPipeline } from './run-pipeline.ts'
import { createBadOutputFailure } from './run-step.ts'
import { writeItems } from './write-items.ts'

interface RenderedFiles {
  /** kpt writes all files, changed or not. */
  readonly written: ReadonlyMap<string, string>
  readonly removed: readonly string[]
  readonly runs: PipelineRun['runs']
  /** Subpackages first, in kpt's order. */
  readonly items: readonly YamlMap[]
  /** With function configs, without Kptfiles. */
  readonly resources: number
}

export type FilesRendering = RenderedFiles | { readonly failures: readonly [Failure, ...Failure[]] }

/**
 * Never throws for bad input. With `passThroughText` the bytes are exactly kpt's. @param attributed not
 * with `KPT_DISABLE_ATTRIBUTION`
 */
export function* renderFiles(
  packagePath: string,
  files: PackageFiles,
  attributed = true,
): RenderProcess<FilesRendering> {
  const sources = new PackageSources(packagePath, files)
  const failures = [
    ...sources.listPackageFailures(),
    ...[...sources.files.keys()].flatMap((path) => sources.listFailuresOf(path)),
  ]
  const root = failures.length > 0 ? undefined : readPipelinePackage(sources, failures)
  failures.push(...sources.listConfigFailures())
  const [first, ...others] = failures
  if (first !== undefined || root === undefined) return { failures: [first as Failure, ...others] }
  try {
    const { items, runs, read } = yield* runPipeline(root, packagePath)
    if (attributed) attributeRender(items)
    const written = writeItems(items)
    sources.assertNoFolder(written.keys())
    return {
      written,
      removed: [...read].filter((path) => !written.has(path)),
      runs,
      items,
      resources: items.filter((item) => !isKptfile(getItemFile(item).path)).length,
    }
  } catch (thrown) {
    if (thrown instanceof Failure || thrown instanceof Failures)
      return { failures: listFailures(thrown) }
    throw thrown
  }
}

/** kpt then moved the document's comments to the object. */
export type PassedItems = (item: YamlMap) => boolean

/** go-yaml finds some comments elsewhere in its own text, so their position depends on this. */
export function passThroughText(
  library: FunctionLibrary,
): FunctionLibrary & { readonly passed: PassedItems } {
  const given = new WeakSet<YamlMap>()
  return {
    answer: ({ step, input }) => {
      // The first program does not get document comments, and kpt restores them.
      const items = input.items.map((item) =>
        given.has(item) ? item : removeDocumentComments(item),
      )
      const read = readOr(step, () =>
        readFunctionInput(formatFunctionInput({ ...input, items }), FUNCTION_TEXT),
      )
      if ('failure' in read) return read
      const answer = library.answer({ step, input: read })
      if ('failure' in answer || answer.exitCode !== 0) return answer
      const output = readOr(step, () =>
        readFunctionOutput(formatFunctionOutput(answer, input.config), FUNCTION_TEXT),
      )
      if ('failure' in output) return output
      for (const item of output.items) given.add(item)
      return { ...answer, ...output }
    },
    passed: (item) => given.has(item),
  }
}

/** kpt stops there with `MalformedYAMLError`. */
function readOr<T>(step: PipelineStep, read: () => T): T | { readonly failure: Failure } {
  try {
    return read()
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return { failure: createBadOutputFailure(step, `${thrown.what}: ${thrown.why}`) }
  }
}

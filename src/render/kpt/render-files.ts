/** `kpt fn render` in place: the files of a package as they are afterwards, byte for byte (test/render-corpus holds it against kpt). */
import { Failure, Failures, failuresOf } from '../../failure.ts'
import type { PackageFiles } from '../../package/package-files.ts'
import type { YamlMap } from '../../yaml/yaml-node.ts'
import { withoutDocumentComments } from '../../yaml/yaml-resource-list.ts'
import type { FunctionLibrary } from '../answer-calls.ts'
import { isKptfile, PackageSources } from '../package-sources.ts'
import { fileOf } from './item-annotations.ts'
import { type PipelinePackage, readPipelinePackage } from './pipeline-package.ts'
import type { RenderProcess } from './pipeline-step.ts'
import { FUNCTION_TEXT, formatFunctionInput, formatFunctionOutput, readFunctionInput, readFunctionOutput } from './resource-list.ts'
import { type PipelineRun, runPipeline } from './run-pipeline.ts'
import { writeItems } from './write-items.ts'

export interface RenderedFiles {
  /** Every file with a resource in it, by path in the package: kpt writes all of them anew, changed or not. */
  readonly written: ReadonlyMap<string, string>
  /** Files whose every resource is gone. */
  readonly removed: readonly string[]
  readonly runs: PipelineRun['runs']
  /** What came out of the pipeline, subpackages first, as kpt would print it. */
  readonly items: readonly YamlMap[]
  /** Resources in the written files, function configs among them; Kptfiles are none. */
  readonly resources: number
}

export type FilesRendering = RenderedFiles | { readonly failures: readonly [Failure, ...Failure[]] }

/** Never throws for bad input; the failures are those of `renderPackage`. Use `throughText` for the very bytes of kpt. */
export function* renderFiles(packagePath: string, files: PackageFiles): RenderProcess<FilesRendering> {
  const sources = new PackageSources(packagePath, files)
  const failures = [...sources.packageFailures(), ...[...sources.files.keys()].flatMap((path) => sources.failuresOf(path))]
  const root = failures.length > 0 ? undefined : readPipelinePackage(sources, failures)
  failures.push(...sources.configFailures())
  const [first, ...others] = failures
  if (first !== undefined || root === undefined) return { failures: [first as Failure, ...others] }
  const read = new Set(pathsOf(root))
  try {
    const { items, runs } = yield* runPipeline(root, packagePath)
    const written = writeItems(items)
    sources.assertNoFolder(written.keys())
    return {
      written,
      removed: [...read].filter((path) => !written.has(path)),
      runs,
      items,
      resources: items.filter((item) => !isKptfile(fileOf(item).path)).length,
    }
  } catch (thrown) {
    if (thrown instanceof Failure || thrown instanceof Failures) return { failures: failuresOf(thrown) }
    throw thrown
  }
}

function pathsOf({ folder, items, subpackages }: PipelinePackage): readonly string[] {
  const own = items.map((item) => (folder === '' ? fileOf(item).path : `${folder}/${fileOf(item).path}`))
  return [...own, ...subpackages.flatMap(pathsOf)]
}

/** Whether a function gave the item back: kpt has put the comments of its document on the object then. */
export type PassedItems = (item: YamlMap) => boolean

/**
 * Gives functions their input as text and takes their output as text, as kpt does with programs. Where a comment stands
 * after a render depends on that: go-yaml finds some comments in another place in the text that it wrote itself.
 */
export function throughText(library: FunctionLibrary): FunctionLibrary & { readonly passed: PassedItems } {
  const given = new WeakSet<YamlMap>()
  return {
    answer: ({ step, input }) => {
      // Comments of a document are none of its object: the first program does not see them, and kpt puts them back afterwards.
      const items = input.items.map((item) => (given.has(item) ? item : withoutDocumentComments(item)))
      const answer = library.answer({ step, input: readFunctionInput(formatFunctionInput({ ...input, items }), FUNCTION_TEXT) })
      if ('failure' in answer || answer.exitCode !== 0) return answer
      const output = readFunctionOutput(formatFunctionOutput(answer, input.config), FUNCTION_TEXT)
      for (const item of output.items) given.add(item)
      return { ...answer, ...output }
    },
    passed: (item) => given.has(item),
  }
}

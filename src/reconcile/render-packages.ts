/** What `kpt fn render` would make of packages of the base branch; reads git alone. */
import { Failure, Failures, failuresOf } from '../failure.ts'
import { type FoundPackage, selectPackages } from '../package/find-packages.ts'
import type { PackageFiles } from '../package/package-files.ts'
import { rendersOf } from '../policy/effective-policy.ts'
import type { PackageRepository } from '../ports/package-repository.ts'
import { answerCalls } from '../render/answer-calls.ts'
import type { PackageRenderer } from '../render/package-renderer.ts'
import type { RenderChoice } from '../render/render-choice.ts'
import { type FilesRendering, type PassedItems, renderFiles, throughText } from '../render/render-files.ts'
import { formatApplied, formatResourceList, outputFiles } from '../render/rendered-output.ts'
import { readAhead, readFolder, readRepository } from './repository-view.ts'
import { withAnswers } from './with-answers.ts'

/** A file that a render changes; undefined on the side where it is not there. */
export interface RenderedChange {
  /** From the root of the repository. */
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

export type PackageRender =
  | {
      readonly path: string
      readonly functions: number
      readonly resources: number
      readonly changes: readonly RenderedChange[]
      /** With what policies render it instead, in some cluster or all of them. */
      readonly otherwise: readonly RenderChoice[]
      /** What `kpt fn render -o` prints and writes of it. */
      readonly output: RenderedOutput
    }
  | { readonly path: string; readonly failures: readonly [Failure, ...Failure[]] }

export interface RenderedOutput {
  /** As one ResourceList. */
  list(): string
  /** The documents that are applied. */
  applied(): string
  /** By path in the package. */
  files(): ReadonlyMap<string, string>
}

interface RenderRequest {
  /** Base branch, short; undefined takes the remote's default. */
  readonly branch: string | undefined
  /** As named on the command line; none means all. */
  readonly packages: readonly string[]
  readonly renderer: PackageRenderer
}

/** @throws Failure BP1003, BP1004 or BP40xx; what is wrong with one package is in its result */
export async function renderPackages(
  repository: PackageRepository,
  { branch, packages, renderer }: RenderRequest,
  signal: AbortSignal,
): Promise<readonly PackageRender[]> {
  const view = await readRepository(repository, branch, signal)
  const renders: PackageRender[] = []
  const selected = selectPackages(view.packages, packages)
  await readAhead(view, selected, [], signal)
  for (const found of selected) renders.push(await renderOne(found))
  return renders

  async function renderOne({ path }: FoundPackage): Promise<PackageRender> {
    const { files } = await readFolder(view, path, signal)
    const { rendering, passed } = await filesRendering(path, files)
    if ('failures' in rendering) return { path, failures: rendering.failures }
    const { items } = rendering
    const texts = new Map(files.map((file) => [file.path, new TextDecoder('utf-8', { ignoreBOM: true }).decode(file.content)]))
    const where = (file: string): string => (path === '' ? file : `${path}/${file}`)
    const written = [...rendering.written].map(([file, after]) => ({ path: where(file), before: texts.get(file), after }))
    const removed = rendering.removed.map((file) => ({ path: where(file), before: texts.get(file), after: undefined }))
    const changes = [...written, ...removed].filter(({ before, after }) => before !== after)
    const otherwise = rendersOf(view.policies, path).filter(({ tool }) => tool !== 'kpt')
    const output = {
      list: () => formatResourceList(items, passed),
      applied: () => formatApplied(items, passed),
      files: () => outputFiles(items, passed),
    }
    return { path, functions: rendering.runs.length, resources: rendering.resources, changes, otherwise, output }
  }

  /** A function without an answer is the failure of its package alone: what the others would change is told all the same. */
  async function filesRendering(
    path: string,
    files: PackageFiles,
  ): Promise<{ readonly rendering: FilesRendering; readonly passed: PassedItems }> {
    try {
      return await withAnswers(renderer, signal, ({ functions }) => {
        const library = throughText(functions)
        return { rendering: answerCalls(renderFiles(path, files), library), passed: library.passed }
      })
    } catch (thrown) {
      signal.throwIfAborted()
      if (thrown instanceof Failure || thrown instanceof Failures)
        return { rendering: { failures: failuresOf(thrown) }, passed: () => false }
      throw thrown
    }
  }
}

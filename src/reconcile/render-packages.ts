/** What `kpt fn render` would make of packages of the base branch; reads git alone. */
import type { Failure } from '../failure.ts'
import { type FoundPackage, selectPackages } from '../package/find-packages.ts'
import type { PackageRepository } from '../ports/package-repository.ts'
import { answerCalls } from '../render/answer-calls.ts'
import type { PackageRenderer } from '../render/package-renderer.ts'
import { renderFiles, throughText } from '../render/render-files.ts'
import { readFolder, readRepository } from './repository-view.ts'
import { withAnswers } from './with-answers.ts'

/** A file that a render changes; undefined on the side where it is not there. */
export interface RenderedChange {
  /** From the root of the repository. */
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

export type PackageRender =
  | { readonly path: string; readonly functions: number; readonly resources: number; readonly changes: readonly RenderedChange[] }
  | { readonly path: string; readonly failures: readonly [Failure, ...Failure[]] }

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
  for (const found of selectPackages(view.packages, packages)) renders.push(await renderOne(found))
  return renders

  async function renderOne({ path }: FoundPackage): Promise<PackageRender> {
    const { files } = await readFolder(view, path, signal)
    const rendering = await withAnswers(renderer, signal, ({ functions }) => answerCalls(renderFiles(path, files), throughText(functions)))
    if ('failures' in rendering) return { path, failures: rendering.failures }
    const texts = new Map(files.map((file) => [file.path, new TextDecoder('utf-8', { ignoreBOM: true }).decode(file.content)]))
    const where = (file: string): string => (path === '' ? file : `${path}/${file}`)
    const written = [...rendering.written].map(([file, after]) => ({ path: where(file), before: texts.get(file), after }))
    const removed = rendering.removed.map((file) => ({ path: where(file), before: texts.get(file), after: undefined }))
    const changes = [...written, ...removed].filter(({ before, after }) => before !== after)
    return { path, functions: rendering.runs.length, resources: rendering.resources, changes }
  }
}

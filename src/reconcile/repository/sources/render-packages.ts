import type { PackageRepository } from '@backporch/git-store/package-repository'
import { answerCalls } from '@backporch/kpt/function'
import type { FoundPackage } from '@backporch/kpt/package'
import {
  type FilesRendering,
  formatApplied,
  formatObjects,
  formatResourceList,
  type PassedItems,
  passThroughText,
  renderFiles,
  writeOutputFiles,
} from '@backporch/kpt/render'
import { listNotRunNotes } from '@backporch/kpt/runtime'
import { Failure, Failures, listFailures } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { Note } from '@backporch/kyaml/note'
import { deriveEffectivePolicy, readRenders } from '../../../policy/effective-policy.ts'
import {
  AS_FILES,
  RENDERED_BY_KPT,
  type RenderChoice,
} from '../../../sources/build/render-choice.ts'
import type { PackageRenderer } from '../../../sources/kpt/render/package-renderer.ts'
import { joinFolderPath } from '../../../sources/kustomize/files/kustomization-walk.ts'
import { describeChoice, isSameChoice } from '../../../sources/registry.ts'
import { choosePackages } from '../manifest-folders.ts'
import { assertPlainFolder, holdsNothing } from '../plain-folder.ts'
import { readAhead, readFolder, readRepository } from '../repository-view.ts'
import { computeWithAnswers } from '../with-answers.ts'
import { getViewFiles } from './shared-sources.ts'
import { renderUnit } from './unit-source.ts'

export interface RenderedChange {
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
      readonly notes: readonly Note[]
      readonly otherwise: readonly RenderChoice[]
      /** What `kpt fn render -o` prints and writes. */
      readonly output: RenderedOutput
    }
  | BuiltUnit
  | { readonly path: string; readonly failures: readonly [Failure, ...Failure[]] }

/** A folder without a Kptfile, and, if the output is requested, a package with another renderer. */
export interface BuiltUnit {
  readonly path: string
  readonly built: RenderChoice
  readonly resources: number
  applied(): string
}

interface RenderedOutput {
  list(): string
  applied(): string
  files(): ReadonlyMap<string, string>
}

interface RenderRequest {
  /** Undefined means the remote's default. */
  readonly branch: string | undefined
  readonly packages: readonly string[]
  readonly folders: readonly string[]
  readonly applied: boolean
  /** Undefined: only what is equal for all clusters. */
  readonly cluster: string | undefined
  readonly renderer: PackageRenderer
  readonly onNote?: (note: Note) => void
}

function expectOversizedFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure && thrown.code === 'BP1111') return thrown
  throw thrown
}

/** @throws Failure BP1003, BP1004 or BP40xx; not for one package */
export async function renderPackages(
  repository: PackageRepository,
  { branch, packages, folders, applied, cluster, renderer, onNote }: RenderRequest,
  signal: AbortSignal,
): Promise<readonly PackageRender[]> {
  const view = await readRepository(repository, branch, signal, { folders, packages })
  for (const note of view.problems) onNote?.(note)
  const renders: PackageRender[] = []
  const selected = await choosePackages(view, [...packages, ...folders], signal)
  await readAhead(view, selected, [], signal)
  for (const found of selected) renders.push(await renderOne(found))
  return renders

  async function renderOne(found: FoundPackage): Promise<PackageRender> {
    const { path, source } = found
    const read = await readFolder(view, path, signal).catch(expectOversizedFailure)
    if (read instanceof Failure) return { path, failures: [read] }
    const { files } = read
    const choices =
      cluster === undefined
        ? readRenders(view.policies, path)
        : [deriveEffectivePolicy(view.policies, cluster, path).render]
    const [choice = RENDERED_BY_KPT, another] = choices
    if (
      source === 'folder' ||
      (applied && (!isSameChoice(choice, RENDERED_BY_KPT) || another !== undefined))
    ) {
      if (another !== undefined)
        return { path, failures: [createSeveralRendersFailure(path, choices)] }
      return build(found, files, choice)
    }
    const { rendering, passed } = await filesRendering(path, files)
    if ('failures' in rendering) return { path, failures: rendering.failures }
    const { items } = rendering
    const texts = new Map(
      files.map((file) => [
        file.path,
        new TextDecoder('utf-8', { ignoreBOM: true }).decode(file.content),
      ]),
    )
    const where = (file: string): string => joinFolderPath(path, file)
    const written = [...rendering.written].map(([file, after]) => ({
      path: where(file),
      before: texts.get(file),
      after,
    }))
    const removed = rendering.removed.map((file) => ({
      path: where(file),
      before: texts.get(file),
      after: undefined,
    }))
    const changes = [...written, ...removed].filter(({ before, after }) => before !== after)
    const otherwise = readRenders(view.policies, path).filter(
      (each) => !isSameChoice(each, RENDERED_BY_KPT),
    )
    const output = {
      list: () => formatResourceList(items, passed),
      applied: () => formatApplied(items, passed),
      files: () => writeOutputFiles(items, passed),
    }
    const notes = listNotRunNotes(rendering.runs)
    return {
      path,
      notes,
      functions: rendering.runs.length,
      resources: rendering.resources,
      changes,
      otherwise,
      output,
    }
  }

  function ofPackage(thrown: unknown): readonly [Failure, ...Failure[]] {
    signal.throwIfAborted()
    if (thrown instanceof Failure || thrown instanceof Failures) return listFailures(thrown)
    throw thrown
  }

  async function build(
    found: FoundPackage,
    files: PackageFiles,
    choice: RenderChoice,
  ): Promise<PackageRender> {
    const { path } = found
    try {
      if (found.source === 'folder' && isSameChoice(choice, AS_FILES))
        assertPlainFolder(found, files)
      const { rendering } = await renderUnit(
        getViewFiles(view),
        renderer,
        { packagePath: path, files, choice },
        signal,
      )
      if ('failures' in rendering) return { path, failures: rendering.failures }
      const { resources } = rendering.desired
      if (found.source === 'folder' && resources.length === 0)
        return { path, failures: [holdsNothing(path)] }
      return {
        path,
        built: choice,
        resources: resources.length,
        applied: () => formatObjects(resources.map(({ object }) => object)),
      }
    } catch (thrown) {
      return { path, failures: ofPackage(thrown) }
    }
  }

  /** It fails only its package. */
  async function filesRendering(
    path: string,
    files: PackageFiles,
  ): Promise<{ readonly rendering: FilesRendering; readonly passed: PassedItems }> {
    try {
      return await computeWithAnswers(renderer, signal, ({ functions }) => {
        const library = passThroughText(functions)
        return {
          rendering: answerCalls(renderFiles(path, files, renderer.attributed), library),
          passed: library.passed,
        }
      })
    } catch (thrown) {
      return { rendering: { failures: ofPackage(thrown) }, passed: () => false }
    }
  }
}

function createSeveralRendersFailure(path: string, choices: readonly RenderChoice[]): Failure {
  return new Failure({
    code: 'BP1001',
    what: `${path || '.'} is rendered in several ways`,
    why: `clusters differ in it, as the policies say: ${choices.map((each) => describeChoice(each).title).join(', ')}`,
    remedy: 'name the cluster with --cluster, as placements and policies do',
  })
}

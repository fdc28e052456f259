/** Renders a unit from its package and from the files that its build reads outside of the package. */
import type { TreeFile } from '@backporch/git-store/package-repository'
import { isReadOf } from '@backporch/kpt/package'
import type { Failure } from '@backporch/kyaml/failure'
import type { PackageFile, PackageFiles } from '@backporch/kyaml/files'
import type { BuiltSource } from '../../../sources/build/built-source.ts'
import { answerOf, buildOf, readBuilt } from '../../../sources/build/read-built.ts'
import type { RenderChoice } from '../../../sources/build/render-choice.ts'
import { COMMAND_TOOL } from '../../../sources/command/command-tool.ts'
import { plainChart } from '../../../sources/helm/chart/plain-chart.ts'
import type { PackageRenderer, TurnRendering } from '../../../sources/kpt/render/package-renderer.ts'
import { renderAsFiles } from '../../../sources/kpt/render/render-package.ts'
import { KUSTOMIZE_TOOL } from '../../../sources/kustomize/kustomize-tool.ts'
import { type BuildAnswer, buildKey, MissingBuilds, NO_BUILDS } from '../../../sources/programs/package-builder.ts'
import { below } from '../repository-view.ts'
import { type CommitFiles, readKustomization } from './read-kustomization.ts'
import { readSyncedSource } from './read-synced.ts'

interface RenderedUnit {
  readonly rendering: TurnRendering
  /** Undefined where kpt renders the unit, or its files are applied as they are. */
  readonly source: BuiltSource | undefined
  /** Paths of what is read outside of the package, from the root of the repository, sorted. */
  readonly outside: readonly string[]
}

/** @param files of the package's folder. @throws Failure BP40xx when git fails, BP9001 where the renderer broke */
export async function renderUnit(
  commit: CommitFiles,
  renderer: PackageRenderer,
  { packagePath, files, choice }: { readonly packagePath: string; readonly files: PackageFiles; readonly choice: RenderChoice },
  signal: AbortSignal,
): Promise<RenderedUnit> {
  if (choice.tool === 'kpt') return { rendering: await renderer.render(packagePath, files, signal), source: undefined, outside: [] }
  if (choice.tool === 'files') return { rendering: renderAsFiles(packagePath, files), source: undefined, outside: [] }
  const read = await sourceOf(commit, { packagePath, files }, choice, signal)
  const outside = [...read.source.files.keys()].filter((path) => !isInside(path, packagePath)).sort()
  const [first, ...others] = read.failures
  if (first !== undefined) return { rendering: { failures: [first, ...others] }, source: read.source, outside }
  return { rendering: readBuilt(read.source, await builtBy(renderer, read.source, signal)), source: read.source, outside }
}

/** With the builds that have to run first: those of the unit above, and of Helm before a post-renderer. */
export async function builtBy({ builder }: PackageRenderer, source: BuiltSource, signal: AbortSignal): Promise<BuildAnswer> {
  if (builder === undefined) return answerOf(source, NO_BUILDS)
  const before = new Set<string>()
  for (;;) {
    try {
      const build = buildOf(source, builder.library)
      return 'tool' in build ? await builder.build(build, signal) : build
    } catch (thrown) {
      // An answer that is not stored would be asked for without an end.
      if (!(thrown instanceof MissingBuilds) || thrown.builds.every((build) => before.has(buildKey(build)))) throw thrown
      for (const build of thrown.builds) before.add(buildKey(build))
      const answers = await Promise.all(thrown.builds.map((build) => builder.build(build, signal)))
      const failed = answers.find((answer) => 'failure' in answer)
      if (failed !== undefined) return failed
    }
  }
}

/** Paths of the files that the unit is built from, from the root of the repository. Runs nothing. @throws Failure BP40xx when git fails */
export async function filesOfUnit(
  commit: CommitFiles,
  { packagePath, files, choice }: { readonly packagePath: string; readonly files: PackageFiles; readonly choice: RenderChoice },
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (choice.tool === 'kpt' || choice.tool === 'files')
    return new Set(files.filter(({ path }) => isReadOf(path)).map(({ path }) => kustomizationFolder(packagePath, path)))
  return new Set((await sourceOf(commit, { packagePath, files }, choice, signal)).source.files.keys())
}

export function isInside(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`)
}

/** The folder that kustomize is given, from the root of the repository. */
export function kustomizationFolder(packagePath: string, path: string): string {
  return [packagePath, path].filter((part) => part !== '').join('/')
}

async function sourceOf(
  commit: CommitFiles,
  { packagePath, files }: { readonly packagePath: string; readonly files: PackageFiles },
  choice: Exclude<RenderChoice, { tool: 'kpt' | 'files' }>,
  signal: AbortSignal,
): Promise<{ readonly source: BuiltSource; readonly failures: readonly Failure[] }> {
  if (choice.tool === 'syncer') return readSyncedSource(commit, { packagePath, files }, choice.build, signal)
  if (choice.tool === 'helm') return readSyncedSource(commit, { packagePath, files }, plainChart(choice, packagePath), signal)
  if (choice.tool === 'kustomize') {
    const folder = kustomizationFolder(packagePath, choice.path)
    const walked = await readKustomization(commit, folder, signal)
    const source = { packagePath, package: files, tool: KUSTOMIZE_TOOL, folder, files: walked.files, command: [] }
    return { source, failures: walked.failures }
  }
  const own = files.map((file): PackageFile => ({ ...file, path: kustomizationFolder(packagePath, file.path) }))
  const byPath = new Map(own.filter(({ mode }) => mode === '100644' || mode === '100755').map((file) => [file.path, file]))
  return {
    source: { packagePath, package: files, tool: COMMAND_TOOL, folder: packagePath, files: byPath, command: choice.command },
    failures: [],
  }
}

/** The files of a unit: paths in its package, and for files outside of it `/` and the path from the root. */
export function unitTree(tree: readonly TreeFile[], packagePath: string, outside: readonly string[]): readonly TreeFile[] {
  const own = below(tree, packagePath)
  if (outside.length === 0) return own
  const byPath = new Map(tree.map((file) => [file.path, file]))
  return [...own, ...outside.flatMap((path) => byPath.get(path) ?? []).map((file) => ({ ...file, path: `/${file.path}` }))]
}

/** Renders a unit from its package and from the files that its build reads outside of the package. */
import type { TreeFile } from '@backporch/git-store/package-repository'
import type { BuiltSource } from '../../../sources/build/built-source.ts'
import type { RenderChoice } from '../../../sources/build/render-choice.ts'
import type { UnitFiles } from '../../../sources/build/source.ts'
import type { CommitFiles } from '../../../sources/commit/commit-files.ts'
import type {
  PackageRenderer,
  TurnRendering,
} from '../../../sources/kpt/render/package-renderer.ts'
import { sourceOf } from '../../../sources/registry.ts'
import { below } from '../repository-view.ts'

interface RenderedUnit {
  readonly rendering: TurnRendering
  /** Undefined where kpt renders the unit, or its files are applied as they are. */
  readonly source: BuiltSource | undefined
  /** Paths of what is read outside of the package, from the root of the repository, sorted. */
  readonly outside: readonly string[]
}

/** @throws Failure BP40xx when git fails, BP9001 where the renderer broke */
export async function renderUnit(
  commit: CommitFiles,
  renderer: PackageRenderer,
  unit: UnitFiles<RenderChoice>,
  signal: AbortSignal,
): Promise<RenderedUnit> {
  const source = sourceOf(unit.choice)
  const read = await source.filesRead(commit, unit, signal)
  const outside = [...read.paths].filter((path) => !isInside(path, unit.packagePath)).sort()
  return {
    rendering: await source.build(renderer, unit, read, signal),
    source: read.source,
    outside,
  }
}

export function isInside(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`)
}

/** The files of a unit: paths in its package, and for files outside of it `/` and the path from the root. */
export function unitTree(
  tree: readonly TreeFile[],
  packagePath: string,
  outside: readonly string[],
): readonly TreeFile[] {
  const own = below(tree, packagePath)
  if (outside.length === 0) return own
  const byPath = new Map(tree.map((file) => [file.path, file]))
  return [
    ...own,
    ...outside
      .flatMap((path) => byPath.get(path) ?? [])
      .map((file) => ({ ...file, path: `/${file.path}` })),
  ]
}

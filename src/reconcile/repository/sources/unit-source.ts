import type { TreeFile } from '@backporch/git-store/package-repository'
import type { BuiltSource } from '../../../sources/build/built-source.ts'
import type { RenderChoice } from '../../../sources/build/render-choice.ts'
import type { UnitFiles } from '../../../sources/build/source.ts'
import type { CommitFiles } from '../../../sources/commit/commit-files.ts'
import type {
  PackageRenderer,
  TurnRendering,
} from '../../../sources/kpt/render/package-renderer.ts'
import { getSource } from '../../../sources/registry.ts'
import { listFilesBelow } from '../repository-view.ts'

interface RenderedUnit {
  readonly rendering: TurnRendering
  /** Undefined if kpt renders the unit, or its files are applied unchanged. */
  readonly source: BuiltSource | undefined
  /** Outside of the package, from the repository root, sorted. */
  readonly outside: readonly string[]
}

/** @throws Failure BP40xx if git fails, BP9001 if the renderer broke */
export async function renderUnit(
  commit: CommitFiles,
  renderer: PackageRenderer,
  unit: UnitFiles<RenderChoice>,
  signal: AbortSignal,
): Promise<RenderedUnit> {
  const source = getSource(unit.choice)
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

/** Paths in the package, and for files outside of it `/` plus the path from the root. */
export function selectUnitTree(
  tree: readonly TreeFile[],
  packagePath: string,
  outside: readonly string[],
): readonly TreeFile[] {
  const own = listFilesBelow(tree, packagePath)
  if (outside.length === 0) return own
  const byPath = new Map(tree.map((file) => [file.path, file]))
  return [
    ...own,
    ...outside
      .flatMap((path) => byPath.get(path) ?? [])
      .map((file) => ({ ...file, path: `/${file.path}` })),
  ]
}

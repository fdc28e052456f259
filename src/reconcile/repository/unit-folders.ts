/**
 * Lists the folders without a Kptfile that are units: those named on the command line, in a
 * Placement, or recorded earlier.
 */
import type { TreeFile } from '@backporch/git-store/package-repository'
import { parseWorkspaceBranch } from '@backporch/git-store/ref-name'
import {
  type FoundPackage,
  KUSTOMIZATION_NAMES,
  normalizePackagePath,
  ROOT_FOLDER,
} from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { matchesPath } from '../../policy/effective-policy.ts'
import type { PolicySet } from '../../policy/parse-policy.ts'
import type { RenderChoice } from '../../sources/build/render-choice.ts'
import {
  getParentFolder,
  joinFolderPath,
} from '../../sources/kustomize/files/kustomization-walk.ts'

export interface WantedUnits {
  readonly folders?: readonly string[]
  readonly packages?: readonly string[]
  /** In addition to the repository's policies. */
  readonly operator?: PolicySet | undefined
}

export interface RecordedUnit {
  readonly cluster: string
  /** From the repository root. */
  readonly path: string
  /** A package that lost its Kptfile does not become a folder. */
  readonly isFolder: boolean
  /** Set if found through a syncer resource. */
  readonly appliedBy: string | undefined
}

interface FolderSources {
  readonly refs: ReadonlyMap<string, ObjectId>
  readonly placements: PolicySet['placements']
  readonly recorded: readonly RecordedUnit[]
  readonly wanted: WantedUnits
}

/**
 * By path from the repository root.
 * @throws Failure BP1004 if a folder named on the command line does not exist
 */
export function listUnitFolders(
  tree: readonly TreeFile[],
  { refs, placements, recorded, wanted }: FolderSources,
): readonly string[] {
  const folders = new Map(indexFolders(tree))
  // Of several units in one folder, the later ones have a name below it.
  for (const { path, appliedBy } of recorded)
    if (appliedBy !== undefined && !folders.has(path)) folders.set(path, false)
  const named = (wanted.folders ?? []).map((name) => resolveExistingFolder(name, folders))
  const globs = placements.flatMap(({ spec }) => spec.paths ?? [])
  const placed =
    globs.length === 0
      ? []
      : [...folders].filter(
          ([path, holds]) => (holds || isLiteral(globs, path)) && matchesPath(globs, path),
        )
  const names = new Set((wanted.packages ?? []).map(normalizePackagePath))
  const open = [...refs.keys()]
    .map((ref) => findRecordedFolder(ref, folders))
    .filter((path) => path !== undefined && names.has(path))
  const known = recorded
    .filter(
      ({ path, isFolder, appliedBy }) =>
        folders.has(path) &&
        (names.has(path) || (isFolder && placements.length === 0) || appliedBy !== undefined),
    )
    .map(({ path }) => path)
  const found = [...named, ...placed.map(([path]) => path), ...open, ...known].filter(
    (path) => path !== undefined,
  )
  return [...new Set(found)].filter((path) => folders.has(path))
}

/** If no policy has one: its kustomization, or none for plain files. */
export function mapFolderRenders(
  tree: readonly TreeFile[],
  packages: readonly FoundPackage[],
): ReadonlyMap<string, RenderChoice> {
  const paths = new Set(tree.map(({ path }) => path))
  const folders = packages.filter(({ source }) => source === 'folder')
  return new Map(
    folders.map(({ path }): [string, RenderChoice] => {
      const hasKustomization = KUSTOMIZATION_NAMES.some((name) =>
        paths.has(joinFolderPath(path, name)),
      )
      return [path, hasKustomization ? { tool: 'kustomize', path: '' } : { tool: 'files' }]
    }),
  )
}

function indexFolders(tree: readonly TreeFile[]): ReadonlyMap<string, boolean> {
  const folders = new Map<string, boolean>([['', false]])
  for (const { path } of tree) {
    if (path.startsWith('.') || path.includes('/.')) continue
    const parent = getParentFolder(path)
    if (/\.(?:ya?ml|json)$/.test(path)) folders.set(parent, true)
    for (let folder = parent; folder !== ''; folder = getParentFolder(folder))
      if (!folders.has(folder)) folders.set(folder, false)
  }
  return folders
}

function isLiteral(globs: readonly string[], path: string): boolean {
  return globs.some((glob) => !glob.includes('*') && normalizePackagePath(glob) === path)
}

function findRecordedFolder(
  ref: string,
  folders: ReadonlyMap<string, boolean>,
): string | undefined {
  const found = /^refs\/heads\/((?:drafts|proposed)\/.+\/drift-[^/]+)$/.exec(ref)?.[1]
  const path = found === undefined ? undefined : parseWorkspaceBranch(found)?.packagePath
  return path === ROOT_FOLDER && !folders.has(ROOT_FOLDER) ? '' : path
}

function resolveExistingFolder(name: string, folders: ReadonlyMap<string, boolean>): string {
  const path = normalizePackagePath(name)
  if (path !== undefined && folders.has(path)) return path
  throw new Failure({
    code: 'BP1004',
    what: `there is no folder ${JSON.stringify(name.slice(0, 300))}`,
    why: 'no file of the commit is below it',
    remedy:
      'name a folder of the base branch, from the root of the repository; commits are read, not the work tree',
    retry: 'on-change',
  })
}

import { createHash } from 'node:crypto'
import { Failure } from '@backporch/kyaml/failure'
import type { FileMode } from '@backporch/kyaml/files'
import { findNearestNames } from '@backporch/kyaml/text'
import { PACKAGE_FILE } from './walk-package.ts'

/** For a unit without a Kptfile. */
export const ROOT_FOLDER = 'root'
const MOST_OF_LABEL = 63

/**
 * The Kptfile's name may be a path, and becomes part of branches and files: `Web Shop` becomes
 * `web-shop`.
 */
export function deriveRootPackageName(kptfileName: string | undefined): string {
  const last = kptfileName?.slice(kptfileName.lastIndexOf('/') + 1) ?? ''
  const label = last
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .slice(0, MOST_OF_LABEL)
    .replace(/^-+|-+$/g, '')
  return label === '' ? ROOT_FOLDER : label
}

export interface FoundPackage {
  /** From the root of the repository; '' for the root. */
  readonly path: string
  /** A Porch server cannot list such a package. */
  readonly rootPackage: boolean
  /** With a Kptfile, sorted. They belong to this package. */
  readonly subpackages: readonly string[]
  /**
   * A named folder needs no Kptfile; Porch lists only packages, and a proposal edits their Kptfile.
   */
  readonly source: 'kpt' | 'folder'
}

const NEVER_A_PACKAGE = new Set(['.drift', '.git'])

/**
 * As Porch finds them: a regular file `Kptfile`. Sorted by code unit.
 * @param named of `normalizePackagePath`; one within a package means that package
 */
export function findPackages(
  files: Iterable<{ readonly path: string; readonly mode: FileMode }>,
  named: readonly string[] = [],
): readonly FoundPackage[] {
  const folders = new Set<string>()
  for (const { path, mode } of files) {
    const segments = path.split('/')
    if (segments.pop() !== PACKAGE_FILE || (mode !== '100644' && mode !== '100755')) continue
    if (segments.some((segment) => segment === '.git') || NEVER_A_PACKAGE.has(segments[0] ?? ''))
      continue
    folders.add(segments.join('/'))
  }
  const outermost = [...folders]
    .filter((path) => !listParents(path).some((parent) => folders.has(parent)))
    .sort()
  const plain = named.filter(
    (path) => !outermost.some((owner) => owner === path || isBelow(path, owner)),
  )
  return [...new Set([...outermost, ...plain])].sort().map((path) => ({
    path,
    rootPackage: path === '' && folders.has(''),
    subpackages: [...folders].filter((folder) => folder !== path && isBelow(folder, path)).sort(),
    source: folders.has(path) ? 'kpt' : 'folder',
  }))
}

/**
 * By path, by a folder with packages below it, or by a path inside one. Each once, in package
 * order. Without names, all.
 * @throws Failure BP1004 for the first name that is in no package, and if there is no package
 */
export function selectPackages(
  packages: readonly FoundPackage[],
  names: readonly string[],
): readonly FoundPackage[] {
  if (packages.length === 0) {
    throw new Failure({
      code: 'BP1004',
      what: 'there is no package in the repository',
      why: 'no folder of the commit has a file named Kptfile',
      remedy: 'run "kpt pkg init" in the folder of the manifests and commit the Kptfile',
    })
  }
  const selected = new Set(names.flatMap((name) => findPackagesByName(packages, name)))
  return names.length === 0 ? packages : packages.filter((found) => selected.has(found))
}

function findPackagesByName(
  packages: readonly FoundPackage[],
  name: string,
): readonly FoundPackage[] {
  const path = normalizePackagePath(name)
  const exact = packages.filter((found) => found.path === path)
  if (exact.length > 0) return exact
  const below = path === undefined ? [] : packages.filter((found) => isBelow(found.path, path))
  if (below.length > 0) return below
  const owners = path === undefined ? [] : packages.filter((found) => isBelow(path, found.path))
  // A named folder may contain packages.
  const owner = owners.toSorted((one, other) => other.path.length - one.path.length)[0]
  if (owner !== undefined) return [owner]
  const near = [...new Set(listNearestPaths(path ?? name, packages))].slice(0, 5)
  throw new Failure({
    code: 'BP1004',
    what: `there is no package ${JSON.stringify(name.slice(0, 300))}`,
    why: 'neither it nor a folder above it has a Kptfile, and no package is below it',
    remedy:
      near.length > 0
        ? `name one of: ${near.join(', ')}`
        : packages.length === 1
          ? `name the only package, ${packages[0]?.path || '.'}`
          : `name one of the ${packages.length} packages; "backporch get packages" lists them`,
  })
}

function listNearestPaths(wanted: string, packages: readonly FoundPackage[]): readonly string[] {
  const paths = packages.map(({ path }) => path)
  const whole = findNearestNames(wanted, paths)
  const last = wanted.split('/').at(-1) ?? ''
  const similar = new Set(findNearestNames(last, paths.map(getLastSegment)))
  return [...whole, ...paths.filter((path) => similar.has(getLastSegment(path)))]
}

/** Undefined if the path leaves the root. */
export function normalizePackagePath(name: string): string | undefined {
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  return name.startsWith('/') || segments.includes('..') ? undefined : segments.join('/')
}

function getLastSegment(path: string): string {
  return path.split('/').at(-1) ?? ''
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && (folder === '' || path.startsWith(`${folder}/`))
}

function listParents(path: string): readonly string[] {
  if (path === '') return []
  const segments = path.split('/')
  return segments.map((_, index) => segments.slice(0, index).join('/'))
}

/**
 * `apps--web`; for the root package the Kptfile's name. Unique in the repository: an ambiguous slug
 * gets the first 8 hex digits of the path's hash.
 */
export function derivePackageSlug(path: string, kptfileName: string): string {
  if (path === '') return kptfileName
  const segments = path.split('/')
  const ambiguous = segments.some(
    (segment) => segment.includes('--') || segment.startsWith('-') || segment.endsWith('-'),
  )
  const slug = segments.join('--')
  return ambiguous ? `${slug}-${createHash('sha256').update(path).digest('hex').slice(0, 8)}` : slug
}

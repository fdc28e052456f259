import type { TreeFile } from '@backporch/git-store/package-repository'
import {
  type FoundPackage,
  isKustomizationFile,
  normalizePackagePath,
  selectPackages,
} from '@backporch/kpt/package'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import { formatNoteSentence } from '@backporch/kyaml/note'
import { findNearestNames, quoteShellWord } from '@backporch/kyaml/text'
import { readTexts } from '../../sources/commit/commit-files.ts'
import { getParentFolder, resolvePath } from '../../sources/kustomize/files/kustomization-walk.ts'
import type { RepositoryView } from './repository-view.ts'
import { listPathsByResource } from './unit-names.ts'

const MOST_FILES = 1_000
const MOST_TOLD = 8

/**
 * @throws Failure BP1004 that names the folders with manifests, where a name or the repository has
 * no Kptfile
 */
export async function choosePackages(
  view: RepositoryView,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly FoundPackage[]> {
  try {
    return selectPackages(
      view.packages,
      names.flatMap((name) => listNamedPaths(view, name)),
    )
  } catch (thrown) {
    const failure = convertToFailure(thrown)
    if (failure.code !== 'BP1004') throw thrown
    throw addSourceNotes(await addFolderHint(failure, view, names, signal), view)
  }
}

/** A path precedes a resource name. */
function listNamedPaths(view: RepositoryView, name: string): readonly string[] {
  const path = normalizePackagePath(name)
  if (
    path !== undefined &&
    view.packages.some((found) => found.path === path || found.path.startsWith(`${path}/`))
  )
    return [name]
  const paths = listPathsByResource(view, name)
  return paths.length === 0 ? [name] : paths
}

function addSourceNotes(failure: Failure, { problems }: RepositoryView): Failure {
  const notes = problems.filter(({ cause }) => cause === 'source-not-compared').slice(0, MOST_TOLD)
  return notes.length === 0
    ? failure
    : failure.replaceReason([failure.why, ...notes.map(formatNoteSentence)].join('\n'))
}

async function addFolderHint(
  failure: Failure,
  view: RepositoryView,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Failure> {
  const named = names.map(normalizePackagePath).filter((path) => path !== undefined)
  const within = named.some((folder) => folder === '')
    ? []
    : view.tree.filter(({ path }) => named.some((folder) => path.startsWith(`${folder}/`)))
  // A wrong name may mean one of the packages, or without packages any folder.
  if (within.length === 0 && view.packages.length > 0) return failure
  const { folders, isWhole } = await listManifestFolders(
    view,
    within.length === 0 ? view.tree : within,
    signal,
  )
  const { code, what, why, retry } = failure
  const reported = folders.slice(0, MOST_TOLD).map(describe)
  const more =
    folders.length > reported.length ? `, and ${folders.length - reported.length} more` : ''
  const some = isWhole ? '' : `; only the first ${MOST_FILES} files were read`
  const found =
    reported.length === 0
      ? 'no file of the commit is a manifest'
      : `manifests are in ${reported.join(', ')}${more}`
  return new Failure({
    code,
    what,
    why: `${why}; ${found}${some}`,
    remedy: formatRemedy(formatExample(folders, named)),
    retry,
  })
}

function formatRemedy(example: string): string {
  return [
    'name the folders to compare, in one of three ways:',
    'by the resource of a syncer: give the cluster, or a recording, with the Flux Kustomization, Argo CD Application, RootSync or RepoSync that applies this repository ("backporch check" says which are found)',
    `by its folder: --path ${example}, or paths of a Placement in .drift/`,
    'as a package of kpt: run "kpt pkg init" in the folder, and commit the Kptfile',
  ].join('\n')
}

/** Near a wrong name, else the first one that no other kustomization reads. */
function formatExample(folders: readonly ManifestFolder[], [named]: readonly string[]): string {
  const comparable = folders.filter(({ isChart }) => !isChart)
  const paths = comparable.map(({ path }) => path)
  const near = named === undefined ? [] : findNearestNames(named, paths)
  const path = near[0] ?? comparable.find(({ isUsed }) => !isUsed)?.path ?? paths[0]
  return path === undefined ? 'FOLDER' : quoteShellWord(path || '.')
}

interface ManifestFolder {
  readonly path: string
  readonly objects: number
  readonly kustomization: boolean
  readonly isUsed: boolean
  readonly isChart: boolean
}

/** Biggest first, charts last. Files below a Helm chart are templates. */
async function listManifestFolders(
  view: RepositoryView,
  tree: readonly TreeFile[],
  signal: AbortSignal,
): Promise<{ readonly folders: readonly ManifestFolder[]; readonly isWhole: boolean }> {
  const charts = tree.flatMap(({ path }) =>
    /(^|\/)Chart\.yaml$/.test(path) ? [getParentFolder(path)] : [],
  )
  const candidates = tree.filter(
    ({ path, mode }) =>
      (mode === '100644' || mode === '100755') &&
      /\.(?:ya?ml|json)$/.test(path) &&
      !path.startsWith('.') &&
      !charts.some((chart) => chart === '' || path.startsWith(`${chart}/`)),
  )
  const read = candidates.slice(0, MOST_FILES)
  const texts = await readTexts(view.repository, read, signal, () => undefined)
  const counts = new Map<string, number>()
  for (const [path, text] of texts) {
    const count = isKustomizationFile(path) ? 0 : countObjects(text, path.endsWith('.json'))
    if (count > 0)
      counts.set(getParentFolder(path), (counts.get(getParentFolder(path)) ?? 0) + count)
  }
  const built = new Set(
    tree.flatMap(({ path }) => (isKustomizationFile(path) ? [getParentFolder(path)] : [])),
  )
  const used = new Set(
    [...texts].flatMap(([path, text]) =>
      isKustomizationFile(path) ? listNamedFolders(text, getParentFolder(path)) : [],
    ),
  )
  const folders = [...new Set([...counts.keys(), ...built, ...charts])].map((path) => ({
    path,
    objects: counts.get(path) ?? 0,
    kustomization: built.has(path),
    isUsed: used.has(path),
    isChart: charts.includes(path),
  }))
  const order = folders.toSorted(
    (one, other) =>
      Number(one.isChart) - Number(other.isChart) ||
      other.objects - one.objects ||
      (one.path < other.path ? -1 : 1),
  )
  return { folders: order, isWhole: read.length === candidates.length }
}

function listNamedFolders(text: string, folder: string): readonly string[] {
  return [...text.matchAll(/(?:^\s*-\s+|[[,]\s*)([\w./-]+)/gm)].flatMap(
    ([, path = '']) => resolvePath(folder, path) ?? [],
  )
}

function countObjects(text: string, isJson: boolean): number {
  if (isJson) return /"apiVersion"\s*:/.test(text) && /"kind"\s*:/.test(text) ? 1 : 0
  return text
    .split(/^---.*$/m)
    .filter((document) => /^apiVersion:\s*\S/m.test(document) && /^kind:\s*\S/m.test(document))
    .length
}

function describe({ path, objects, kustomization, isChart }: ManifestFolder): string {
  if (isChart) return `${path || '.'} (a Helm chart)`
  const count = objects === 0 ? '' : `${objects} ${objects === 1 ? 'object' : 'objects'}`
  const what = [count, kustomization ? 'a kustomization' : '']
    .filter((text) => text !== '')
    .join(' and ')
  return `${path || '.'} (${what})`
}

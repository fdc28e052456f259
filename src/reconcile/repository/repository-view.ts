/** The repository at one point in time. A turn reads it once, and all its units share it. */
import type { KnownProposal } from '@backporch/forge/hosted-forge'
import {
  MOST_FILE_BYTES,
  type PackageRepository,
  type RepositoryRefs,
  type TreeFile,
} from '@backporch/git-store/package-repository'
import { LEDGER_BRANCH, shortenBranch } from '@backporch/git-store/ref-name'
import {
  derivePackageSlug,
  type FoundPackage,
  findPackages,
  isReadOf,
} from '@backporch/kpt/package'
import { convertToFailure, type Failure } from '@backporch/kyaml/failure'
import type { ObjectId, PackageFiles } from '@backporch/kyaml/files'
import type { Note } from '@backporch/kyaml/note'
import type { LedgerContent } from '../../plan/observation/ledger-after.ts'
import type { EpisodeIds } from '../../plan/observation/observation.ts'
import { listPlacedPackages, readRenders } from '../../policy/effective-policy.ts'
import { createLastGoodNotes } from '../../policy/last-good-policy.ts'
import { addOperatorPolicies, type PolicySet } from '../../policy/parse-policy.ts'
import { type ClosedEpisode, closedEpisodeSchema } from '../../record/documents/closed-episode.ts'
import {
  type ClusterObservation,
  clusterObservationSchema,
} from '../../record/documents/cluster-observation.ts'
import { type DriftReport, driftReportSchema } from '../../record/documents/drift-report.ts'
import {
  formatPushedPath,
  type PushedBranch,
  pushedBranchSchema,
} from '../../record/pushed-branch.ts'
import { DRIFT_FOLDER, TRAVELLING_RECORD } from '../../record/record-paths.ts'
import { parseDocument } from '../../record/write-document.ts'
import type { RenderChoice } from '../../sources/build/render-choice.ts'
import { MOST_PACKAGE_BYTES, readBlobs, readTexts } from '../../sources/commit/commit-files.ts'
import { describeChoice } from '../../sources/registry.ts'
import { createHeadNotes, resolveBase } from './base-branch.ts'
import { ReadBudget } from './read-budget.ts'
import { readPolicies } from './read-policies.ts'
import {
  listUnitFolders,
  mapFolderRenders,
  type RecordedUnit,
  type WantedUnits,
} from './unit-folders.ts'
import type { KnownGoodPolicies } from './usable-policies.ts'

export interface RepositoryView {
  readonly repository: PackageRepository
  /** Of the remote's address, without `.git`. */
  readonly name: string
  readonly baseBranch: string
  readonly base: ObjectId
  readonly tree: readonly TreeFile[]
  readonly refs: ReadonlyMap<string, ObjectId>
  readonly packages: readonly FoundPackage[]
  readonly policies: PolicySet
  /** Null before the first commit. */
  readonly ledger: ObjectId | null
  readonly ledgerTree: readonly TreeFile[]
  /** Currently not kpt packages. */
  readonly recorded: readonly RecordedUnit[]
  readonly reports: ReadonlyMap<string, DriftReport>
  readonly clusters: ReadonlyMap<string, ClusterObservation>
  /** Of every unit, in the order of their outcomes. */
  readonly closed: readonly ClosedEpisode[]
  readonly episodes: EpisodeIds
  /** By full ref name; empty if not read. */
  readonly proposals: ReadonlyMap<string, KnownProposal>
  /** By full ref name. */
  readonly pushed: ReadonlyMap<string, PushedBranch>
  /** One broken file stops nothing else. */
  readonly problems: readonly Note[]
  readonly budget: ReadBudget
}

/**
 * @param branch undefined means the remote's default
 * @throws Failure BP1003 if the branch does not exist, BP1004 if a named folder does not exist,
 * BP1005 if no policy is usable, BP40xx if git fails
 */
export async function readRepository(
  repository: PackageRepository,
  branch: string | undefined,
  signal: AbortSignal,
  wanted: WantedUnits & {
    readonly takeRefs?: () => RepositoryRefs | undefined
    readonly goodPolicies?: KnownGoodPolicies | undefined
  } = {},
): Promise<RepositoryView> {
  const read = wanted.takeRefs?.() ?? (await repository.listRefs(signal))
  const { refs } = read
  const { baseBranch, base } = resolveBase(repository, read, branch)
  const tree = await repository.list(base, '', signal)
  const own = await readPolicies(repository, { base, tree, known: wanted.goodPolicies }, signal)
  const policies = wanted.operator === undefined ? own : addOperatorPolicies(own, wanted.operator)
  const ledger = refs.get(`refs/heads/${LEDGER_BRANCH}`) ?? null
  const ledgerTree = ledger === null ? [] : await repository.list(ledger, '', signal)
  const documents = await readLedger(repository, ledgerTree, signal)
  const recorded = listRecordedUnits(tree, documents.reports)
  const { placements } = policies
  const packages = findPackages(tree, listUnitFolders(tree, { refs, placements, recorded, wanted }))
  const pushed = await readPushed({ repository, ledgerTree }, [...refs.keys()], signal)
  const notes = createHeadNotes(read, branch)
  return {
    repository,
    name:
      repository.remote
        .replace(/\/+$/, '')
        .split(/[/:]/)
        .at(-1)
        ?.replace(/\.git$/, '') ?? 'repository',
    baseBranch,
    base,
    tree,
    refs,
    packages,
    policies: { ...policies, folders: mapFolderRenders(tree, packages) },
    ledger,
    ledgerTree,
    recorded,
    ...documents,
    problems: [...notes, ...createLastGoodNotes(policies), ...documents.problems],
    proposals: new Map(),
    pushed,
    budget: new ReadBudget(),
    episodes: {
      closed: listClosedIds(ledgerTree),
      open: openIds(refs),
      pushed: listPushedIds(ledgerTree),
    },
  }
}

/**
 * Without names: what the placements put there; without any placement, every package with a
 * Kptfile, and the folders that were recorded in this cluster or in none.
 */
export function listClusterPackages(
  { packages, policies, recorded }: Pick<RepositoryView, 'packages' | 'policies' | 'recorded'>,
  cluster: string,
): readonly FoundPackage[] {
  const placed = listPlacedPackages(
    policies,
    cluster,
    packages.map(({ path }) => path),
  )
  if (placed !== undefined) return packages.filter(({ path }) => placed.includes(path))
  const { synced = new Map<string, ReadonlyMap<string, RenderChoice>>() } = policies
  const elsewhere = new Set([...synced.values()].flatMap((renders) => [...renders.keys()]))
  return packages.filter(({ path, source }) => {
    const units = source === 'kpt' ? [] : recorded.filter((unit) => unit.path === path)
    const here = units.filter((unit) => unit.cluster === cluster)
    const isOfSyncer =
      source === 'folder' &&
      (elsewhere.has(path) || here.some(({ appliedBy }) => appliedBy !== undefined))
    if (isOfSyncer && synced.has(cluster)) return synced.get(cluster)?.has(path) === true
    return here.length > 0 || (units.length === 0 && !isOfSyncer)
  })
}

/** By file names: an unreadable file must not be overwritten. */
function listClosedIds(tree: readonly TreeFile[]): ReadonlySet<string> {
  return new Set(
    tree.flatMap(({ path }) =>
      CLOSED_FILE.test(path) ? [path.slice(path.lastIndexOf('/') + 1, -'.yaml'.length)] : [],
    ),
  )
}

function openIds(refs: ReadonlyMap<string, ObjectId>): ReadonlySet<string> {
  const ids = [...refs.keys()].map(
    (ref) => /^refs\/heads\/(?:drafts|proposed)\/.+\/drift-([^/]+)$/.exec(ref)?.[1],
  )
  return new Set(ids.filter((id) => id !== undefined))
}

function listPushedIds(tree: readonly TreeFile[]): ReadonlySet<string> {
  const ids = tree.map(
    ({ path }) => /^pushed\/(?:drafts|proposed)\/.+\/drift-([^/]+)\.yaml$/.exec(path)?.[1],
  )
  return new Set(ids.filter((id) => id !== undefined))
}

const CLOSED_FILE = /^closed\/\d{4}\/\d{2}\/[^/]+\.yaml$/

type LedgerDocuments = Pick<RepositoryView, 'reports' | 'clusters' | 'closed' | 'problems'>

export async function readLedger(
  repository: PackageRepository,
  tree: readonly TreeFile[],
  signal: AbortSignal,
): Promise<LedgerDocuments> {
  const problems: Note[] = []
  const notRead = (path: string, thrown: unknown): void => {
    const text = `the file cannot be read: ${convertToFailure(thrown).why}`
    problems.push({ cause: 'ledger-not-read', subject: `drift-ledger:${path}`, text })
  }
  const files = tree.filter(
    ({ path }) => CLOSED_FILE.test(path) || /\/(?:report|observation)\.yaml$/.test(path),
  )
  const texts = await readTexts(repository, files, signal, notRead)
  const [reports, clusters, closed] = [
    new Map<string, DriftReport>(),
    new Map<string, ClusterObservation>(),
    [] as ClosedEpisode[],
  ]
  for (const [path, text] of texts) {
    const where = `drift-ledger:${path}`
    try {
      if (path.endsWith('/report.yaml'))
        reports.set(
          path.slice(0, -'/report.yaml'.length),
          parseDocument(text, driftReportSchema, where),
        )
      else if (path.endsWith('/observation.yaml')) {
        const observation = parseDocument(text, clusterObservationSchema, where)
        clusters.set(observation.metadata.name, observation)
      } else closed.push(parseDocument(text, closedEpisodeSchema, where))
    } catch (thrown) {
      notRead(path, thrown)
    }
  }
  closed.sort((left, right) =>
    left.status.at < right.status.at ? -1 : left.status.at > right.status.at ? 1 : 0,
  )
  return { reports, clusters, closed, problems }
}

function listRecordedUnits(
  tree: readonly TreeFile[],
  reports: LedgerDocuments['reports'],
): readonly RecordedUnit[] {
  const slugs = new Set(findPackages(tree).map(({ path }) => derivePackageSlug(path, '')))
  return [...reports].flatMap(
    ([
      folder,
      {
        spec: { unit },
      },
    ]) =>
      slugs.has(folder.slice(folder.lastIndexOf('/') + 1))
        ? []
        : [
            {
              cluster: unit.cluster,
              path: unit.package,
              isFolder: unit.source === 'folder',
              appliedBy: unit.appliedBy,
            },
          ],
  )
}

export function isUnreadable({ code }: Failure): boolean {
  return code === 'BP1110' || code === 'BP1111' || code === 'BP1112'
}

/** By full ref name; commits of a branch without a readable file are compared by content. */
export async function readPushed(
  { repository, ledgerTree }: Pick<RepositoryView, 'repository' | 'ledgerTree'>,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PushedBranch>> {
  const byPath = new Map(refs.map((ref) => [formatPushedPath(shortenBranch(ref)), ref]))
  const files = ledgerTree.filter(({ path }) => byPath.has(path))
  const texts = await readTexts(repository, files, signal)
  const pushed = new Map<string, PushedBranch>()
  for (const [path, text] of texts) {
    const ref = byPath.get(path) ?? ''
    try {
      pushed.set(ref, parseDocument(text, pushedBranchSchema, `drift-ledger:${path}`))
    } catch (thrown) {
      if (!isUnreadable(convertToFailure(thrown))) throw thrown
    }
  }
  return pushed
}

/**
 * By relative path; content is empty for files that cannot be manifests. Links and submodules have
 * no content.
 * @throws OversizedRead; Failure BP1111 if the turn has no room for it
 */
export async function readFolder(
  view: RepositoryView,
  folder: string,
  signal: AbortSignal,
): Promise<{ files: PackageFiles; tree: TreeFile[] }> {
  const tree = listFilesBelow(view.tree, folder)
  view.budget.assertRoom(folder)
  const files = await readPackageFiles(view.repository, tree, signal, {
    folder,
    all: readsAll(view, folder),
  })
  view.budget.take(
    folder,
    files.reduce((sum, { content }) => sum + content.length, 0),
  )
  view.budget.assertRoom(folder)
  return { files, tree }
}

/**
 * @param tree by paths relative to the package
 * @param of `all`: a program receives every file
 * @throws OversizedRead
 */
export async function readPackageFiles(
  repository: PackageRepository,
  tree: readonly TreeFile[],
  signal: AbortSignal,
  of: { readonly folder: string; readonly all: boolean },
): Promise<PackageFiles> {
  const read = of.all ? tree : tree.filter(({ path }) => isReadOf(path))
  const blobs = await readBlobs(repository, read, signal, {
    folder: of.folder,
    most: MOST_PACKAGE_BYTES,
  })
  return tree.map(({ path, mode, id }) => ({
    path,
    mode,
    content: (of.all || isReadOf(path) ? blobs.get(id) : undefined) ?? new Uint8Array(),
  }))
}

function readsAll({ policies }: RepositoryView, packagePath: string): boolean {
  return readRenders(policies, packagePath).some(
    (choice) => describeChoice(choice).reads === 'every file',
  )
}

/**
 * One request to the remote for all files. The package that needs an unreadable file reports it.
 * @param others further folders, from the root
 */
export async function readAhead(
  view: RepositoryView,
  packages: readonly FoundPackage[],
  others: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const inside = (folder: string): readonly TreeFile[] =>
    (folder === ''
      ? view.tree
      : view.tree.filter(({ path }) => path.startsWith(`${folder}/`))
    ).filter(({ mode }) => mode !== '160000')
  const wanted = packages.map(({ path }) => ({
    path,
    ids: inside(path)
      .filter((file) => readsAll(view, path) || isReadOf(file.path))
      .map(({ id }) => id),
  }))
  const ids = [
    ...wanted.flatMap((each) => each.ids),
    ...others.flatMap((folder) => inside(folder).map(({ id }) => id)),
  ]
  const sizes = await view.repository.prepare(ids, signal).catch(() => {
    signal.throwIfAborted()
    return new Map<ObjectId, number>()
  })
  // The order of reads must not decide which packages get room.
  for (const { path, ids: own } of wanted) {
    const bytes = own.map((id) => sizes.get(id) ?? Number.POSITIVE_INFINITY)
    const sum = bytes.reduce((total, each) => total + each, 0)
    // A package that is too large is not read, and needs no room.
    if (sum <= MOST_PACKAGE_BYTES && bytes.every((each) => each <= MOST_FILE_BYTES))
      view.budget.take(path, sum)
  }
}

/** Relative paths, without records. */
export function listFilesBelow(tree: readonly TreeFile[], folder: string): TreeFile[] {
  if (folder === '')
    return omitRecords(tree.filter(({ path }) => !path.startsWith(`${DRIFT_FOLDER}/`)))
  const prefix = `${folder}/`
  return omitRecords(
    tree
      .filter(({ path }) => path.startsWith(prefix))
      .map((file) => ({ ...file, path: file.path.slice(prefix.length) })),
  )
}

export function omitRecords(tree: readonly TreeFile[]): TreeFile[] {
  return tree.filter(
    ({ path }) => path !== TRAVELLING_RECORD && !path.endsWith(`/${TRAVELLING_RECORD}`),
  )
}

/** What the ledger says, as plans read it. */
export function getLedgerContent({ reports, clusters, closed }: RepositoryView): LedgerContent {
  return {
    reports,
    clusters,
    closed: new Map(closed.map((episode) => [episode.metadata.name, episode])),
  }
}

import type { TreeFile } from '@backporch/git-store/package-repository'
import { computeNextRevision, parseRevisionTag } from '@backporch/git-store/ref-name'
import { findAnnotatedWorkspace, parseKptAnnotations } from '@backporch/kpt/kptfile'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import type { ObjectId, PackageFiles } from '@backporch/kyaml/files'
import { isMergeKnown } from '../../../plan/observation/closed-episode.ts'
import type {
  GitState,
  LedgerState,
  MergeCommit,
  OpenBranch,
  SiblingBranch,
  Unit,
  UnreadableRecord,
} from '../../../plan/observation/observation.ts'
import { hashContent } from '../../../plan/observation/unit-git.ts'
import type { DriftRecord } from '../../../record/documents/drift-record.ts'
import {
  convertToPresentPath,
  formatLedgerObservationPath,
  formatLedgerUnitFolder,
  formatTravellingRecordPath,
  isRecordPath,
  RECORD_FILE,
  recordFolder,
} from '../../../record/record-paths.ts'
import { readTexts } from '../../../sources/commit/commit-files.ts'
import { explainAltered } from '../as-proposed.ts'
import type { BotIdentity } from '../bot-identity.ts'
import { findMergeCommit } from '../find-merge-commit.ts'
import { buildRecord, matchesReport } from '../ledger-record.ts'
import { type PackageBranch, readBranches, readEndedHeads, readRecord } from '../read-branches.ts'
import { readPublished } from '../read-published.ts'
import type { RepositoryView } from '../repository-view.ts'
import { selectUnitTree } from './unit-source.ts'

export interface UnitFiles {
  readonly files: PackageFiles
  /** With what its rendering reads outside of the package, as in `selectUnitTree`. */
  readonly tree: readonly TreeFile[]
  /** From the repository root. */
  readonly outside?: readonly string[]
}

interface GitStateOptions {
  readonly bot: BotIdentity
  /** Otherwise data that only writes need may be unavailable. */
  readonly writes: boolean
}

interface UnitView {
  readonly view: RepositoryView
  readonly unit: Unit
}

export async function readGitState(
  { view, unit }: UnitView,
  own: UnitFiles,
  options: GitStateOptions,
  signal: AbortSignal,
): Promise<GitState> {
  const { bot } = options
  const ledger = await readLedger(view, unit, signal)
  const {
    branches,
    siblings,
    unreadable: ofBranches,
  } = await openBranches(view, unit, { bot, report: ledger.report }, signal)
  const { merged, unreadable: ofBase } = await readMergedRecords(view, unit, signal)
  const heads = await readEndedHeads(view, unit, signal)
  const baseTrees = new Map<ObjectId, readonly TreeFile[]>()
  for (const { base } of branches) {
    if (baseTrees.has(base)) continue
    const tree = base === view.base ? view.tree : await view.repository.list(base, '', signal)
    baseTrees.set(base, selectUnitTree(tree, unit.packagePath, own.outside ?? []))
  }
  const revision = computeNextRevision(view.refs.keys(), unit.packageName) - 1
  return {
    baseBranch: view.baseBranch,
    base: view.base,
    files: own.files,
    tree: own.tree,
    treeHash: hashContent(own.tree),
    baseTrees,
    refs: view.refs,
    branches,
    siblings,
    merged: merged.map(({ record }) => record),
    earlierNamed: listEarlierNamed(merged),
    unreadable: [...ofBranches, ...ofBase],
    published: await readPublished({ view, unit, bot, ledger, branches }, signal),
    decidedCommits: new Map(),
    travellingRecord: view.tree.some(
      ({ path }) => path === formatTravellingRecordPath(unit.packagePath),
    ),
    undone: [],
    revision,
    publishedName: await findPublishedName(view, unit, revision, signal),
    episodes: view.episodes,
    heads,
    mergeCommits: await readMergeCommits(
      { view, unit },
      { merged: listPendingRecords(merged, ledger), branches, report: ledger.report },
      options,
      signal,
    ),
    ledger,
  }
}

/**
 * As Porch forms it: by the workspace of the tagged commit's `kpt:` line, by the tag if it has
 * none.
 */
async function findPublishedName(
  view: RepositoryView,
  unit: Unit,
  revision: number,
  signal: AbortSignal,
): Promise<string> {
  for (const [ref, commit] of view.refs) {
    const tag = ref.startsWith('refs/tags/') ? parseRevisionTag(ref) : undefined
    if (tag === undefined || tag.packagePath !== unit.packageName || tag.revision !== revision)
      continue
    const { message } = await view.repository.commit(commit, signal)
    const workspace =
      findAnnotatedWorkspace(parseKptAnnotations(message).annotations, unit.packageName) ??
      ref.slice(ref.lastIndexOf('/') + 1)
    return `${view.name}.${unit.packageName.replaceAll('/', '.')}.${workspace}`
  }
  return ''
}

interface OpenBranches {
  readonly branches: readonly OpenBranch[]
  readonly siblings: readonly SiblingBranch[]
  readonly unreadable: readonly UnreadableRecord[]
}

const MOVED = 'backporch did not push this commit, which has no record of the package and cluster'

function shortenRef(ref: string): string {
  return ref.replace(/^refs\/heads\//, '')
}

/** Full ref name. */
function openInLedger({ packageName }: Unit, report: LedgerState['report']): string | undefined {
  const { lifecycle = '', episode = '', branch } = report?.status ?? {}
  if (lifecycle !== 'Proposed' && lifecycle !== 'Draft') return undefined
  return `refs/heads/${branch ?? `${lifecycle === 'Draft' ? 'drafts' : 'proposed'}/${packageName}/drift-${episode}`}`
}

async function openBranches(
  view: RepositoryView,
  unit: Unit,
  { bot, report }: { readonly bot: BotIdentity; readonly report: LedgerState['report'] },
  signal: AbortSignal,
): Promise<OpenBranches> {
  const branches: OpenBranch[] = []
  const siblings: SiblingBranch[] = []
  const unreadable: UnreadableRecord[] = []
  const folder = `${recordFolder(unit.cluster, unit.slug)}/`
  const landed = new Set(view.tree.map(({ path }) => convertToPresentPath(path)))
  const open = openInLedger(unit, report)
  for (const found of await readBranches(view, unit, bot, signal)) {
    const { records, moved: _moved, renderedBy: _rendered, ...branch } = found
    const episode = branch.workspace.slice('drift-'.length)
    const own = records.filter(({ path }) => path.startsWith(folder))
    // The base may have older records.
    const mine = own.find((file) => file.episode === episode) ?? own.find(({ isNew }) => isNew)
    const others = records
      .filter(({ path, isNew }) => isNew && !path.startsWith(folder))
      .map(({ path, record }) => ({
        path: convertToPresentPath(path),
        record: record instanceof Failure ? undefined : record,
      }))
    const earlierName = records.some(
      ({ path, isNew }) => isNew && path !== convertToPresentPath(path),
    )
      ? { hasEarlierName: true as const }
      : {}
    if (mine === undefined) {
      // The branch of another cluster, or a foreign workspace with a similar name.
      const isOpen = branch.state === 'proposed' && others.some(({ path }) => !landed.has(path))
      if (isOpen)
        siblings.push({
          ...branch,
          foreign: branch.foreign || branch.known === false || branch.signed === false,
          records: others,
        })
      // A branch without its record is no decision about the drift.
      else if (report !== undefined && open === branch.ref && branch.known === false)
        branches.push({
          ...branch,
          foreign: true,
          foreignWhy: MOVED,
          record: buildRecord(report),
          others: [],
        })
    } else if (mine.record instanceof Failure) {
      const { code, why } = mine.record
      unreadable.push({
        location: 'branch',
        episode: mine.episode,
        where: shortenRef(branch.ref),
        code,
        why,
      })
    } else
      branches.push({
        ...branch,
        ...createPorchState(found, mine.record, report),
        record: mine.record,
        recordPushed: mine.isPushed,
        ...earlierName,
        others,
      })
  }
  return { branches, siblings, unreadable }
}

/**
 * Porch renders a workspace and moves it between `drafts/` and `proposed/`. The commit is
 * Backporch's push to the deleted branch or, if the ledger has none, its record is the open one.
 */
function createPorchState(
  { state, moved, known, foreign, signed, renderedBy }: PackageBranch,
  record: DriftRecord,
  report: LedgerState['report'],
): Pick<OpenBranch, 'known' | 'moved'> {
  if (foreign || signed === false) return {}
  const isOurs =
    moved ?? (known === undefined && report !== undefined && matchesReport(record, report))
  const isElsewhere =
    isOurs && record.spec.lifecycle !== (state === 'drafts' ? 'Draft' : 'Proposed')
  return isElsewhere ? { known: true, moved: { by: renderedBy } } : {}
}

interface MergedRecord {
  readonly path: string
  readonly record: DriftRecord
  readonly text: string
}

/** Until the ledger has the decision, because it walks the base branch. */
async function readMergeCommits(
  { view, unit }: UnitView,
  {
    merged,
    branches,
    report,
  }: { readonly merged: readonly MergedRecord[] } & Pick<OpenBranches, 'branches'> &
    Pick<LedgerState, 'report'>,
  { bot, writes }: GitStateOptions,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, MergeCommit>> {
  const mergeCommits = new Map<string, MergeCommit>()
  for (const { path, record, text } of merged) {
    const base = await view.repository.commit(view.base, signal)
    try {
      const mergeCommit = await findMergeCommit(
        view.repository,
        base,
        { path, packageName: unit.packageName, bot },
        signal,
      )
      if (mergeCommit === undefined) continue
      const { name } = record.metadata
      const there = branches.flatMap((branch) =>
        branch.record.metadata.name === name ? [branch.ref] : [],
      )
      const inLedger =
        report?.status.episode === record.spec.episode ? openInLedger(unit, report) : undefined
      const refs = [
        ...there,
        ...(inLedger === undefined ? [] : [inLedger]),
        `refs/heads/proposed/${unit.packageName}/${name}`,
      ]
      const altered = await explainAltered(
        view,
        { refs: [...new Set(refs)], text, mergeCommit },
        signal,
      )
      mergeCommits.set(name, altered === undefined ? mergeCommit : { ...mergeCommit, altered })
    } catch (thrown) {
      // A shallow clone does not show the merge; only a tag and the ledger need it.
      if (writes || convertToFailure(thrown).code !== 'BP4011') throw thrown
    }
  }
  return mergeCommits
}

function listEarlierNamed(merged: readonly MergedRecord[]): GitState['earlierNamed'] {
  const taken = new Set(merged.map(({ path }) => path))
  return merged
    .filter(({ path }) => !taken.has(convertToPresentPath(path)))
    .map(({ path, text }) => ({ path, text }))
}

/** A proposal that was closed otherwise may have been reopened. */
function listPendingRecords(
  merged: readonly MergedRecord[],
  { closed }: LedgerState,
): MergedRecord[] {
  return merged.filter(
    ({ record }) => record.spec.lifecycle === 'Proposed' && !isMergeKnown(closed, record),
  )
}

async function readMergedRecords(
  view: RepositoryView,
  unit: Unit,
  signal: AbortSignal,
): Promise<{
  readonly merged: readonly MergedRecord[]
  readonly unreadable: readonly UnreadableRecord[]
}> {
  const prefix = `${recordFolder(unit.cluster, unit.slug)}/`
  const files = view.tree.filter(({ path }) => path.startsWith(prefix) && isRecordPath(path))
  const texts = await readTexts(view.repository, files, signal)
  const merged: MergedRecord[] = []
  const unreadable: UnreadableRecord[] = []
  for (const { path } of files) {
    const record = readRecord(texts.get(path) ?? '', path)
    if (!(record instanceof Failure)) merged.push({ path, record, text: texts.get(path) ?? '' })
    else {
      const [, episode = ''] = RECORD_FILE.exec(path.slice(prefix.length)) ?? []
      unreadable.push({
        location: 'base',
        episode,
        where: path,
        code: record.code,
        why: record.why,
      })
    }
  }
  merged.sort(({ record: left }, { record: right }) =>
    left.spec.began < right.spec.began ? -1 : left.spec.began > right.spec.began ? 1 : 0,
  )
  return { merged, unreadable }
}

async function readLedger(
  view: RepositoryView,
  unit: Unit,
  signal: AbortSignal,
): Promise<LedgerState> {
  const folder = formatLedgerUnitFolder(unit.cluster, unit.slug)
  const own = view.ledgerTree.filter(
    ({ path }) =>
      path.startsWith(`${folder}/`) || path === formatLedgerObservationPath(unit.cluster),
  )
  // An unreadable file is written again: the next observation finds the same.
  const texts = await readTexts(view.repository, own, signal, () => undefined)
  return {
    head: view.ledger,
    report: view.reports.get(folder),
    closed: view.closed.filter(
      ({ spec }) => spec.unit.cluster === unit.cluster && spec.unit.package === unit.packagePath,
    ),
    texts,
  }
}

/**
 * Reads published revisions. With `porchctl rpkg approve` the tag names the workspace, and the
 * commit contains only the package folder, so the record is not on the base branch
 * (docs/facts/porch-decisions.md).
 */
import type { CommitView, PackageRepository } from '@backporch/git-store/package-repository'
import { parseRevisionTag } from '@backporch/git-store/ref-name'
import { findAnnotatedWorkspace, parseKptAnnotations } from '@backporch/kpt/kptfile'
import { isSameRendered } from '@backporch/kpt/revision'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import { omitUndefined } from '@backporch/kyaml/text'
import type {
  LedgerState,
  OpenBranch,
  PublishedWorkspace,
  Unit,
} from '../../plan/observation/observation.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { computeHash, type PushedBranch } from '../../record/pushed-branch.ts'
import {
  convertToPresentPath,
  formatTravellingRecordPath,
  recordFolder,
  recordPath,
} from '../../record/record-paths.ts'
import { joinFolderPath } from '../../sources/kustomize/files/kustomization-walk.ts'
import { readContentAt } from './as-proposed.ts'
import { type BotIdentity, hasBotIdentity, isBot } from './bot-identity.ts'
import { buildRecord, matchesReport } from './ledger-record.ts'
import { readRecord, readRecordsOn } from './read-branches.ts'
import { type RepositoryView, readPushed } from './repository-view.ts'

/** Renderings, and people's edits. */
const MOST_STEPS = 20
/** A new tag is near the tip. */
const MOST_BASE_COMMITS = 1_000

interface UnitState {
  readonly view: RepositoryView
  readonly unit: Unit
  readonly bot: BotIdentity
  readonly ledger: LedgerState
  readonly branches: readonly OpenBranch[]
}

/**
 * In number order. Only tags that are new since the ledger's report, or whose record has not
 * landed.
 */
export async function readPublished(
  state: UnitState,
  signal: AbortSignal,
): Promise<readonly PublishedWorkspace[]> {
  const { view, unit, bot } = state
  const published: PublishedWorkspace[] = []
  for (const { revision, commit } of listNewTags(state)) {
    const tagged = await view.repository.commit(commit, signal)
    const workspace = findAnnotatedWorkspace(
      parseKptAnnotations(tagged.message).annotations,
      unit.packageName,
    )
    if (
      workspace === undefined ||
      !workspace.startsWith('drift-') ||
      !(await isOnBase(view, commit, signal))
    )
      continue
    const found = await findPublishedRecord(state, { tagged, workspace }, signal)
    if (found === undefined) continue
    const { name, email, at } = tagged.author
    published.push({
      ...{ workspace, revision, commit, ...found },
      at: `${new Date(at * 1000).toISOString().slice(0, 19)}Z`,
      by: isBot(email, bot) ? undefined : `${name} <${email}>`,
    })
  }
  return published
}

/** Anybody who may push a tag can put it on a proposal's commit. */
async function isOnBase(
  view: RepositoryView,
  wanted: ObjectId,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    let commit = await view.repository.commit(view.base, signal)
    for (let step = 0; step < MOST_BASE_COMMITS && commit.id !== wanted; step += 1) {
      const [parent] = commit.parents
      if (parent === undefined) return false
      commit = await view.repository.commit(parent, signal)
    }
    return commit.id === wanted
  } catch (thrown) {
    if (convertToFailure(thrown).code === 'BP4011') return false
    throw thrown
  }
}

function listNewTags({
  view,
  unit,
  ledger,
  branches,
}: UnitState): { readonly revision: number; readonly commit: ObjectId }[] {
  const { report, closed } = ledger
  if (report === undefined && branches.length === 0) return []
  const since = Number(/^v(\d+)$/.exec(report?.spec.unit.revision ?? '')?.[1] ?? 0)
  const known = new Map(closed.map((episode) => [episode.status.revision, episode]))
  const paths = new Set(view.tree.map(({ path }) => convertToPresentPath(path)))
  const waits = (episode: ClosedEpisode): boolean =>
    isLanding(episode) &&
    !paths.has(recordPath(unit.cluster, unit.slug, episode.spec.began, episode.spec.episode))
  return [...view.refs]
    .flatMap(([ref, commit]) => {
      const tag = ref.startsWith('refs/tags/') ? parseRevisionTag(ref) : undefined
      return tag?.packagePath === unit.packageName ? [{ revision: tag.revision, commit }] : []
    })
    .filter(({ revision }) => {
      const episode = known.get(`v${revision}`)
      return episode === undefined ? revision > since : waits(episode)
    })
    .sort((left, right) => left.revision - right.revision)
}

function isLanding({ status }: ClosedEpisode): boolean {
  const isOver = status.verifiedAt !== undefined || status.failedAt !== undefined
  return status.outcome === 'Merged' && status.publishedBy !== undefined && !isOver
}

interface Tagged {
  readonly tagged: CommitView
  readonly workspace: string
}

interface PublishedContent {
  readonly record: DriftRecord
  readonly isPushed: boolean
  readonly source: CommitView | undefined
}

/** Undefined if the revision is not about the unit. */
async function findPublishedRecord(
  state: UnitState,
  { tagged, workspace }: Tagged,
  signal: AbortSignal,
): Promise<Pick<PublishedWorkspace, 'record' | 'left' | 'altered'> | undefined> {
  const { view, unit, ledger } = state
  const refs = (['proposed', 'drafts'] as const).map(
    (each) => `refs/heads/${each}/${unit.packageName}/${workspace}`,
  )
  const known = await readPushed(view, refs, signal)
  const pushed = refs.map((ref) => known.get(ref)).find((one) => one !== undefined)
  const found = await findContentInGit(state, { tagged, workspace }, pushed, signal)
  // A draft decides nothing, whoever wrote it.
  const isOurs =
    found !== undefined &&
    (found.record.spec.lifecycle === 'Draft' || isKnown(found, pushed, ledger.report))
  // Reviewers do not see the record, so a foreign one decides nothing.
  const content = isOurs ? found : await findContentInLedger(state, workspace, pushed, signal)
  if (content === undefined) return undefined
  const { record, source } = content
  const edited = await explainEdited(state, tagged, source, signal)
  const branch = state.branches.find(
    (one) => one.workspace === workspace && one.commit === source?.id,
  )
  const left = branch === undefined || edited !== undefined ? {} : { left: branch.commit }
  const altered =
    (found === undefined || isOurs ? explainEarlier(content, pushed) : FOREIGN_RECORD) ?? edited
  return { record, ...left, ...omitUndefined({ altered }) }
}

const FOREIGN_RECORD = 'its record is not the last one that backporch pushed'

async function findContentInGit(
  state: UnitState,
  { tagged, workspace }: Tagged,
  pushed: PushedBranch | undefined,
  signal: AbortSignal,
): Promise<PublishedContent | undefined> {
  return (
    (await findContentBelow(state, { tagged, workspace }, pushed, signal)) ??
    (await findContentInPackage(state, tagged, pushed, signal)) ??
    (await findContentOfBranch(state, workspace, signal))
  )
}

/** As pushed; or, without the branch, as the open one. */
function isKnown(
  { record, isPushed }: PublishedContent,
  pushed: PushedBranch | undefined,
  report: LedgerState['report'],
): boolean {
  return pushed === undefined ? report !== undefined && matchesReport(record, report) : isPushed
}

/** Porch with its database cache approves its own commits, without the record. */
async function findContentBelow(
  { view, unit, bot }: UnitState,
  { tagged, workspace }: Tagged,
  pushed: PushedBranch | undefined,
  signal: AbortSignal,
): Promise<PublishedContent | undefined> {
  const [first, second] = tagged.parents
  const head = second === undefined ? tagged : await view.repository.commit(second, signal)
  const source = await findOwnCommitBelow(
    view.repository,
    { head, workspace, packageName: unit.packageName },
    bot,
    signal,
  )
  const base = source?.parents[0] ?? (second === undefined ? head.parents[0] : first)
  if (base === undefined) return undefined
  const records = await readRecordsOn(
    view,
    { commit: head.id, base, slug: unit.slug, pushed },
    signal,
  )
  const folder = `${recordFolder(unit.cluster, unit.slug)}/`
  const ofUnit = records.filter(({ path }) => path.startsWith(folder))
  // The base may have it as a draft. A joint proposal's record has another name.
  const named =
    source === undefined
      ? undefined
      : ofUnit.find(({ episode }) => `drift-${episode}` === workspace)
  const own = named ?? ofUnit.find(({ isNew }) => isNew)
  if (own === undefined || own.record instanceof Failure) return undefined
  return { record: own.record, isPushed: own.isPushed, source }
}

interface PublishedHead {
  readonly head: CommitView
  readonly workspace: string
  readonly packageName: string
}

async function findOwnCommitBelow(
  repository: PackageRepository,
  { head, workspace, packageName }: PublishedHead,
  bot: BotIdentity,
  signal: AbortSignal,
): Promise<CommitView | undefined> {
  const isOurs = (commit: CommitView): boolean =>
    hasBotIdentity(commit, bot) &&
    findAnnotatedWorkspace(parseKptAnnotations(commit.message).annotations, packageName) ===
      workspace
  let commit = head
  for (let step = 0; step < MOST_STEPS && !isOurs(commit); step += 1) {
    const [parent] = commit.parents
    if (parent === undefined) return undefined
    commit = await repository.commit(parent, signal)
  }
  return isOurs(commit) ? commit : undefined
}

async function findContentInPackage(
  { view, unit }: UnitState,
  tagged: CommitView,
  pushed: PushedBranch | undefined,
  signal: AbortSignal,
): Promise<PublishedContent | undefined> {
  const path = formatTravellingRecordPath(unit.packagePath)
  const content = await readContentAt(view.repository, tagged.id, path, signal)
  if (content === null) return undefined
  const record = readRecord(new TextDecoder().decode(content), path)
  if (record instanceof Failure || record.spec.unit.cluster !== unit.cluster) return undefined
  const isPushed =
    pushed?.spec.commits.some(({ records }) => records.includes(computeHash(content))) === true
  return { record, isPushed, source: await findLastPushed(view, pushed, signal) }
}

async function findContentOfBranch(
  { view, unit, branches, bot }: UnitState,
  workspace: string,
  signal: AbortSignal,
): Promise<PublishedContent | undefined> {
  const branch = branches.find((one) => one.workspace === workspace)
  if (branch === undefined) return undefined
  const head = await view.repository.commit(branch.commit, signal)
  const source = branch.foreign
    ? await findOwnCommitBelow(
        view.repository,
        { head, workspace, packageName: unit.packageName },
        bot,
        signal,
      )
    : head
  return { record: branch.record, isPushed: branch.recordPushed === true, source }
}

async function findContentInLedger(
  { view, ledger: { report } }: UnitState,
  workspace: string,
  pushed: PushedBranch | undefined,
  signal: AbortSignal,
): Promise<PublishedContent | undefined> {
  if (report === undefined || `drift-${report.status.episode}` !== workspace) return undefined
  const record = buildRecord(report)
  // The report has the branch's state. A draft that somebody moved to `proposed/` is still one.
  const isDraft = pushed?.metadata.name.startsWith('drafts/') === true
  const own = isDraft
    ? { ...record, spec: { ...record.spec, lifecycle: 'Draft' as const } }
    : record
  return { record: own, isPushed: true, source: await findLastPushed(view, pushed, signal) }
}

async function findLastPushed(
  view: RepositoryView,
  pushed: PushedBranch | undefined,
  signal: AbortSignal,
): Promise<CommitView | undefined> {
  const last = pushed?.spec.commits.at(-1)?.commit
  if (last === undefined) return undefined
  try {
    return await view.repository.commit(parseObjectId(last), signal)
  } catch (thrown) {
    if (convertToFailure(thrown).code === 'BP4006') return undefined
    throw thrown
  }
}

function explainEarlier(
  { source }: PublishedContent,
  pushed: PushedBranch | undefined,
): string | undefined {
  const last = pushed?.spec.commits.at(-1)?.commit
  return source === undefined || last === undefined || source.id === last
    ? undefined
    : `${source.id.slice(0, 7)} is an earlier state of the proposal`
}

/** Porch's own renderings are not edits. */
async function explainEdited(
  { view, unit }: UnitState,
  tagged: CommitView,
  source: CommitView | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (source === undefined) return 'the proposed content can no longer be read'
  const sides = [source, tagged].map(async ({ id }) => {
    const files = await view.repository.list(id, unit.packagePath, signal)
    return new Map(files.map((file) => [file.path, file.id]))
  })
  const [proposed = new Map(), published = new Map()] = await Promise.all(sides)
  for (const path of new Set([...proposed.keys(), ...published.keys()])) {
    if (proposed.get(path) === published.get(path)) continue
    const full = joinFolderPath(unit.packagePath, path)
    const [before, after] = [
      await readContentAt(view.repository, source.id, full, signal),
      await readContentAt(view.repository, tagged.id, full, signal),
    ]
    if (!isSameRendered(full, before, after)) return `${full} is not what backporch proposed`
  }
  return undefined
}

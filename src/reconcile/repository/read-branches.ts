/** Reads Backporch's branches once for all clusters of a turn. */
import type { CommitView, TreeFile } from '@backporch/git-store/package-repository'
import {
  formatWorkspaceBranch,
  parseWorkspaceBranch,
  shortenBranch,
  type WorkspaceBranch,
} from '@backporch/git-store/ref-name'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import type { EndedHead, Unit } from '../../plan/observation/observation.ts'
import { type DriftRecord, driftRecordSchema } from '../../record/documents/drift-record.ts'
import { computeHash, computePushedContent, type PushedBranch } from '../../record/pushed-branch.ts'
import {
  convertToPresentPath,
  RECORD_FILE,
  RECORDS_FOLDER,
  recordFolder,
} from '../../record/record-paths.ts'
import { parseDocument } from '../../record/write-document.ts'
import { readTexts } from '../../sources/commit/commit-files.ts'
import { findBelowRenderings } from './below-renderings.ts'
import { type BotIdentity, hasBotIdentity, isLastPushed } from './bot-identity.ts'
import { listChangesBetween } from './changes-between.ts'
import { isUnreadable, type RepositoryView, readPushed } from './repository-view.ts'

interface BranchRecord {
  readonly path: string
  readonly episode: string
  /** Otherwise its base already had it. */
  readonly isNew: boolean
  readonly isPushed: boolean
  readonly record: DriftRecord | Failure
}

export interface PackageBranch {
  readonly ref: string
  readonly state: 'drafts' | 'proposed'
  readonly workspace: string
  readonly commit: ObjectId
  readonly base: ObjectId
  readonly foreign: boolean
  readonly foreignWhy?: string
  /** As Backporch's last push; absent without a ledger entry. */
  readonly known?: boolean
  readonly signed?: boolean
  /** The commit is Backporch's last push to the deleted branch of the other state. */
  readonly moved?: boolean
  /** By the forge, with the base branch ("Update branch"): it is recreated. */
  readonly outdated?: true
  readonly renderedBy?: string
  readonly records: readonly BranchRecord[]
}

const READ = new WeakMap<RepositoryView, Map<string, Promise<readonly PackageBranch[]>>>()

export async function readBranches(
  view: RepositoryView,
  { packageName, slug }: { readonly packageName: string; readonly slug: string },
  bot: BotIdentity,
  signal: AbortSignal,
): Promise<readonly PackageBranch[]> {
  const known = READ.get(view) ?? new Map<string, Promise<readonly PackageBranch[]>>()
  READ.set(view, known)
  const before = known.get(packageName)
  if (before !== undefined) return before
  const reading = readAll(view, { packageName, slug }, bot, signal)
  known.set(packageName, reading)
  return reading
}

async function readAll(
  view: RepositoryView,
  { packageName, slug }: { readonly packageName: string; readonly slug: string },
  bot: BotIdentity,
  signal: AbortSignal,
): Promise<readonly PackageBranch[]> {
  const branches: PackageBranch[] = []
  for (const [ref, commit, movedTo] of [
    ...[...view.refs].map(([ref, commit]) => [ref, commit] as const),
    ...listRenamedProposals(view),
  ]) {
    const branch = ref.startsWith('refs/heads/') ? parseWorkspaceBranch(ref) : undefined
    if (
      branch === undefined ||
      branch.packagePath !== packageName ||
      !branch.workspace.startsWith('drift-')
    )
      continue
    const head = await view.repository.commit(commit, signal)
    const { source, renderedBy } = await findBelowRenderings(view.repository, head, branch, signal)
    const pushed =
      movedTo === undefined
        ? view.pushed.get(ref)
        : (await readPushed(view, [ref], signal)).get(ref)
    const updated = await findUpdateBase(view, source, pushed, signal)
    const base = updated ?? source.parents[0]
    if (base === undefined) continue
    const foreign = movedTo !== undefined || (updated === undefined && !hasBotIdentity(source, bot))
    const { state, workspace } = branch
    const last = updated !== undefined || isLastPushed(source.id, pushed)
    const elsewhere = last === true ? undefined : await findPushedElsewhere(view, branch, signal)
    const moved = isLastPushed(source.id, elsewhere)
    const known =
      moved === true ? { moved, known: true } : last === undefined ? {} : { known: last }
    const signed = source.signed === undefined ? {} : { signed: source.signed }
    const why =
      movedTo === undefined
        ? 'it has a commit that backporch did not make'
        : `somebody renamed its branch to ${movedTo}`
    const foreignWhy = foreign ? { foreignWhy: why } : {}
    const outdated = updated === undefined ? {} : { outdated: true as const }
    const rendered =
      renderedBy === undefined ? {} : { renderedBy: `${renderedBy.name} <${renderedBy.email}>` }
    const records = await readRecordsOn(
      view,
      { commit, base, slug, pushed: joinPushedBranches(pushed, elsewhere) },
      signal,
    )
    branches.push({
      ref,
      state,
      workspace,
      commit,
      base,
      foreign,
      ...foreignWhy,
      ...known,
      ...signed,
      ...outdated,
      ...rendered,
      records,
    })
  }
  return branches
}

/** Under the former name. Nothing is pushed to one. */
function listRenamedProposals({
  refs,
  proposals,
}: RepositoryView): (readonly [ref: string, commit: ObjectId, movedTo: string])[] {
  return [...proposals.values()].flatMap(({ ref, movedTo, state, commit }) =>
    state !== 'open' || movedTo === undefined || refs.has(ref)
      ? []
      : [[ref, commit, shortenBranch(movedTo)] as const],
  )
}

const MOST_BEHIND = 100

/**
 * The commit that the forge merged into a Backporch branch, or onto which it rebased Backporch's
 * commit: against it the branch changes only what was last pushed. Undefined for any other commit,
 * and without a required signature.
 */
async function findUpdateBase(
  view: RepositoryView,
  { id, parents, message, signed }: CommitView,
  pushed: PushedBranch | undefined,
  signal: AbortSignal,
): Promise<ObjectId | undefined> {
  const last = pushed?.spec.commits.at(-1)
  if (last === undefined || last.commit === id || signed === false) return undefined
  if (
    !parents.some((parent) => parent === last.commit) &&
    !(await isRebased(view, { parents, message }, last.commit, signal))
  )
    return undefined
  for (const parent of parents) {
    if (!(await wasBase(view, parent, signal))) continue
    const { content } = computePushedContent(
      await listChangesBetween(view.repository, parent, id, signal),
    )
    if (content === last.content) return parent
  }
  return undefined
}

/** An amended commit is a person's. */
async function isRebased(
  { repository }: RepositoryView,
  { parents, message }: Pick<CommitView, 'parents' | 'message'>,
  ours: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const before = await repository.commit(parseObjectId(ours), signal)
    return parents.length === 1 && before.message === message && before.parents[0] !== parents[0]
  } catch (thrown) {
    if (convertToFailure(thrown).code !== 'BP4006') throw thrown
    return false
  }
}

async function wasBase(
  { repository, base }: RepositoryView,
  wanted: ObjectId,
  signal: AbortSignal,
): Promise<boolean> {
  let at: ObjectId | undefined = base
  for (let step = 0; step < MOST_BEHIND && at !== undefined; step += 1) {
    if (at === wanted) return true
    try {
      at = (await repository.commit(at, signal)).parents[0]
    } catch (thrown) {
      if (convertToFailure(thrown).code !== 'BP4011') throw thrown
      return false
    }
  }
  return false
}

/** `porchctl rpkg propose` and `reject` rename a branch to the other state. */
async function findPushedElsewhere(
  view: RepositoryView,
  { state, packagePath, workspace }: WorkspaceBranch,
  signal: AbortSignal,
): Promise<PushedBranch | undefined> {
  const other = state === 'drafts' ? 'proposed' : 'drafts'
  const ref = `refs/heads/${formatWorkspaceBranch({ state: other, packagePath, workspace })}`
  return view.refs.has(ref) ? undefined : (await readPushed(view, [ref], signal)).get(ref)
}

/** Both states' records are Backporch's: somebody may have committed and renamed repeatedly. */
function joinPushedBranches(
  one: PushedBranch | undefined,
  other: PushedBranch | undefined,
): PushedBranch | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return { ...one, spec: { commits: [...other.spec.commits, ...one.spec.commits] } }
}

/**
 * By full ref name: the decided content where the branch differs from the decision on the forge.
 */
export async function readEndedHeads(
  view: RepositoryView,
  unit: Unit,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, EndedHead>> {
  const heads = new Map<string, EndedHead>()
  for (const { ref, state, commit, movedTo } of view.proposals.values()) {
    if (parseWorkspaceBranch(ref)?.packagePath !== unit.packageName) continue
    if (state === 'open' && movedTo !== undefined) continue
    const now = view.refs.get(ref)
    // Merged content is on the base branch; only a branch that moved on shows the rest.
    if (
      now === commit ||
      (now === undefined && state === 'merged') ||
      (now !== undefined && state === 'open')
    )
      continue
    const pushed = (await readPushed(view, [ref], signal)).get(ref)
    heads.set(ref, await readEndedHead(view, unit, { commit, pushed }, signal))
  }
  return heads
}

interface PushedCommit {
  readonly commit: ObjectId
  readonly pushed: PushedBranch | undefined
}

async function readEndedHead(
  view: RepositoryView,
  { cluster, slug }: Unit,
  { commit, pushed }: PushedCommit,
  signal: AbortSignal,
): Promise<EndedHead> {
  try {
    const base = await findOwnBase(view, { commit, pushed }, signal)
    const records =
      base === undefined ? [] : await readRecordsOn(view, { commit, base, slug, pushed }, signal)
    const folder = `${recordFolder(cluster, slug)}/`
    const own = records.find(({ path, isNew }) => isNew && path.startsWith(folder))
    if (own?.record instanceof Failure) return { commit, record: undefined, unread: own.record.why }
    return { commit, record: own?.record, recordPushed: own?.isPushed === true, unread: undefined }
  } catch (thrown) {
    const failure = convertToFailure(thrown)
    if (failure.code !== 'BP4006') throw thrown
    return { commit, record: undefined, recordPushed: false, unread: failure.why }
  }
}

const MOST_ON_TOP = 20

async function findOwnBase(
  view: RepositoryView,
  { commit, pushed }: PushedCommit,
  signal: AbortSignal,
): Promise<ObjectId | undefined> {
  const ours = await findOwnCommitBelow(view, commit, pushed, signal)
  return (await view.repository.commit(ours ?? commit, signal)).parents[0]
}

/** Also below people's commits; undefined if there is none, or the remote lost it. */
export async function findOwnCommitBelow(
  view: RepositoryView,
  commit: ObjectId,
  pushed: PushedBranch | undefined,
  signal: AbortSignal,
): Promise<ObjectId | undefined> {
  const ours = new Set(pushed?.spec.commits.map((known) => known.commit))
  let at: ObjectId | undefined = commit
  for (let step = 0; step < MOST_ON_TOP && at !== undefined && at !== view.base; step += 1) {
    if (ours.has(at)) return at
    try {
      const [parent]: readonly ObjectId[] = (await view.repository.commit(at, signal)).parents
      at = parent
    } catch (thrown) {
      if (convertToFailure(thrown).code !== 'BP4006') throw thrown
      return undefined
    }
  }
  return undefined
}

export async function readRecordsOn(
  view: RepositoryView,
  { commit, base, slug, pushed }: PushedCommit & { readonly base: ObjectId; readonly slug: string },
  signal: AbortSignal,
): Promise<BranchRecord[]> {
  const fromRoot = ({ path }: TreeFile): string => `${RECORDS_FOLDER}/${path}`
  const before = new Set(
    (await view.repository.list(base, RECORDS_FOLDER, signal)).map((file) =>
      convertToPresentPath(fromRoot(file)),
    ),
  )
  const tree = await view.repository.list(commit, RECORDS_FOLDER, signal)
  const files = tree.flatMap((file): (TreeFile & { episode: string; isNew: boolean })[] => {
    const [, folder, name = ''] = /^[^/]+\/([^/]+)\/([^/]+)$/.exec(file.path) ?? []
    const [, episode] = RECORD_FILE.exec(name) ?? []
    if (episode === undefined || folder !== slug) return []
    const path = fromRoot(file)
    return [{ ...file, path, episode, isNew: !before.has(convertToPresentPath(path)) }]
  })
  const texts = await readTexts(view.repository, files, signal)
  const ours = new Set(pushed?.spec.commits.flatMap((known) => known.records))
  return files.map(({ path, episode, isNew }) => {
    const text = texts.get(path) ?? ''
    const isPushed = ours.has(computeHash(new TextEncoder().encode(text)))
    return { path, episode, isNew, isPushed, record: readRecord(text, path) }
  })
}

/**
 * An unreadable record blocks nothing else. Otherwise an account that may push a branch could hide
 * its package's drift.
 */
export function readRecord(text: string, where: string): DriftRecord | Failure {
  try {
    return parseDocument(text, driftRecordSchema, where)
  } catch (thrown) {
    const failure = convertToFailure(thrown)
    if (isUnreadable(failure)) return failure
    throw thrown
  }
}

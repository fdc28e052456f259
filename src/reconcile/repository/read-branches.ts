/** Branches of a package that record drift, with every record that they have: read once for all clusters of a turn. */
import { asFailure, Failure } from '../../failure.ts'
import type { ObjectId } from '../../package/object-id.ts'
import { formatWorkspaceBranch, parseWorkspaceBranch, type WorkspaceBranch } from '../../package/ref-name.ts'
import type { EndedHead, Unit } from '../../plan/turn/observation.ts'
import type { TreeFile } from '../../ports/package-repository.ts'
import { hashOf, type PushedBranch } from '../../record/pushed-branch.ts'
import { RECORDS_FOLDER, recordFolder } from '../../record/record-paths.ts'
import { type DriftRecord, driftRecordSchema } from '../../record/schema.ts'
import { parseDocument } from '../../record/write-document.ts'
import { type BotIdentity, claimsBot, isLastPushed } from '../bot-identity.ts'
import { belowRenderings } from '../porch/below-renderings.ts'
import { isUnreadable, type RepositoryView, readPushed, readTexts } from './repository-view.ts'

interface BranchRecord {
  /** From the root. */
  readonly path: string
  readonly episode: string
  /** Whether the branch brings it, or its base had it before. */
  readonly isNew: boolean
  /** Whether the ledger has it as one that we pushed to this branch. */
  readonly isPushed: boolean
  readonly record: DriftRecord | Failure
}

export interface PackageBranch {
  /** Full ref name. */
  readonly ref: string
  readonly state: 'drafts' | 'proposed'
  readonly workspace: string
  readonly commit: ObjectId
  readonly base: ObjectId
  readonly foreign: boolean
  readonly foreignWhy?: string
  /** Whether the ledger has the commit as the last one that we pushed; absent where it has none. */
  readonly known?: boolean
  /** As `CommitView` has it. */
  readonly signed?: boolean
  /** Whether the ledger has the commit as the last one that we pushed to the branch of the other state, which is gone. */
  readonly moved?: boolean
  /** Author of Porch's renderings on top of our commit; absent where there is none. */
  readonly renderedBy?: string
  readonly records: readonly BranchRecord[]
}

const READ = new WeakMap<RepositoryView, Map<string, Promise<readonly PackageBranch[]>>>()

/** `drafts/` and `proposed/` branches `drift-…` of a package. */
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
  for (const [ref, commit] of view.refs) {
    const branch = ref.startsWith('refs/heads/') ? parseWorkspaceBranch(ref) : undefined
    if (branch === undefined || branch.packagePath !== packageName || !branch.workspace.startsWith('drift-')) continue
    const head = await view.repository.commit(commit, signal)
    const { source, renderedBy } = await belowRenderings(view.repository, head, branch, signal)
    const [base] = source.parents
    if (base === undefined) continue
    const foreign = !claimsBot(source, bot)
    const { state, workspace } = branch
    const pushed = view.pushed.get(ref)
    const last = isLastPushed(source.id, pushed)
    const elsewhere = last === true ? undefined : await pushedElsewhere(view, branch, signal)
    const moved = isLastPushed(source.id, elsewhere)
    const known = moved === true ? { moved, known: true } : last === undefined ? {} : { known: last }
    const signed = source.signed === undefined ? {} : { signed: source.signed }
    const foreignWhy = foreign ? { foreignWhy: 'it has a commit that backporch did not make' } : {}
    const rendered = renderedBy === undefined ? {} : { renderedBy: `${renderedBy.name} <${renderedBy.email}>` }
    const records = await recordsOn(view, { commit, base, slug, pushed: together(pushed, elsewhere) }, signal)
    branches.push({ ref, state, workspace, commit, base, foreign, ...foreignWhy, ...known, ...signed, ...rendered, records })
  }
  return branches
}

/** What the ledger has of the branch in the other state, where that branch is gone: `porchctl rpkg propose` and `reject` rename it. */
async function pushedElsewhere(
  view: RepositoryView,
  { state, packagePath, workspace }: WorkspaceBranch,
  signal: AbortSignal,
): Promise<PushedBranch | undefined> {
  const other = state === 'drafts' ? 'proposed' : 'drafts'
  const ref = `refs/heads/${formatWorkspaceBranch({ state: other, packagePath, workspace })}`
  return view.refs.has(ref) ? undefined : (await readPushed(view, [ref], signal)).get(ref)
}

/** A record of either state is ours: somebody may have committed on top before the branch was renamed, and renamed it again. */
function together(one: PushedBranch | undefined, other: PushedBranch | undefined): PushedBranch | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return { ...one, spec: { commits: [...other.spec.commits, ...one.spec.commits] } }
}

/**
 * By full ref name, the content that was decided, for proposals of the package that ended, or will because their branch is gone, and whose branch
 * differs from the decision on the forge.
 */
export async function readEndedHeads(view: RepositoryView, unit: Unit, signal: AbortSignal): Promise<ReadonlyMap<string, EndedHead>> {
  const heads = new Map<string, EndedHead>()
  for (const { ref, state, commit } of view.proposals.values()) {
    if (parseWorkspaceBranch(ref)?.packagePath !== unit.packageName) continue
    const now = view.refs.get(ref)
    // Merged content is on the base branch; only a branch that went on shows the rest.
    if (now === commit || (now === undefined && state === 'merged') || (now !== undefined && state === 'open')) continue
    const pushed = (await readPushed(view, [ref], signal)).get(ref)
    heads.set(ref, await headAt(view, unit, { commit, pushed }, signal))
  }
  return heads
}

interface PushedCommit {
  readonly commit: ObjectId
  /** What the ledger has of the branch. */
  readonly pushed: PushedBranch | undefined
}

async function headAt(
  view: RepositoryView,
  { cluster, slug }: Unit,
  { commit, pushed }: PushedCommit,
  signal: AbortSignal,
): Promise<EndedHead> {
  try {
    const [base] = (await view.repository.commit(commit, signal)).parents
    const records = base === undefined ? [] : await recordsOn(view, { commit, base, slug, pushed }, signal)
    const folder = `${recordFolder(cluster, slug)}/`
    const own = records.find(({ path, isNew }) => isNew && path.startsWith(folder))
    if (own?.record instanceof Failure) return { commit, record: undefined, unread: own.record.why }
    return { commit, record: own?.record, recordPushed: own?.isPushed === true, unread: undefined }
  } catch (thrown) {
    // The remote does not have the commit any more.
    const failure = asFailure(thrown)
    if (failure.code !== 'BP4006') throw thrown
    return { commit, record: undefined, recordPushed: false, unread: failure.why }
  }
}

/** `20261121-9f2c1a7b.yaml` in the folder of its unit. */
export const RECORD_FILE = /^\d{8}-([^/]+)\.yaml$/

/** Records of the package, in whatever cluster. */
export async function recordsOn(
  view: RepositoryView,
  { commit, base, slug, pushed }: PushedCommit & { readonly base: ObjectId; readonly slug: string },
  signal: AbortSignal,
): Promise<BranchRecord[]> {
  const before = new Set((await view.repository.list(base, RECORDS_FOLDER, signal)).map(({ path }) => path))
  const tree = await view.repository.list(commit, RECORDS_FOLDER, signal)
  const files = tree.flatMap((file): (TreeFile & { episode: string; isNew: boolean })[] => {
    const [, folder, name = ''] = /^[^/]+\/([^/]+)\/([^/]+)$/.exec(file.path) ?? []
    const [, episode] = RECORD_FILE.exec(name) ?? []
    if (episode === undefined || folder !== slug) return []
    return [{ ...file, path: `${RECORDS_FOLDER}/${file.path}`, episode, isNew: !before.has(file.path) }]
  })
  const texts = await readTexts(view.repository, files, signal)
  const ours = new Set(pushed?.spec.commits.flatMap((known) => known.records))
  return files.map(({ path, episode, isNew }) => {
    const text = texts.get(path) ?? ''
    const isPushed = ours.has(hashOf(new TextEncoder().encode(text)))
    return { path, episode, isNew, isPushed, record: readRecord(text, path) }
  })
}

/** An unreadable record is reported, and stops nothing else: an account that may push a branch could hide the drift of its package. */
export function readRecord(text: string, where: string): DriftRecord | Failure {
  try {
    return parseDocument(text, driftRecordSchema, where)
  } catch (thrown) {
    const failure = asFailure(thrown)
    if (isUnreadable(failure)) return failure
    throw thrown
  }
}

/** Pushes all refs at once: either all of them move or none. */
import type { PackageRepository, RefUpdate } from '@backporch/git-store/package-repository'
import { LEDGER_BRANCH, type OwnedRef, parseOwnedRef } from '@backporch/git-store/ref-name'
import type { ObjectId } from '@backporch/kyaml/files'
import {
  type GitWrites,
  isNothing,
  type LedgerFile,
  type LedgerWrites,
  type PlannedCommit,
  type PlannedObject,
  type PlannedUpdate,
} from '../../../plan/observation/action.ts'
import { formatLedgerMessage } from '../../../record/commit-message.ts'
import {
  addPushedCommit,
  computePushedContent,
  formatPushedPath,
  type PushedBranch,
} from '../../../record/pushed-branch.ts'
import { formatDocument } from '../../../record/write-document.ts'

export interface LedgerTarget {
  readonly head: ObjectId | null
  readonly cluster: string
  readonly at: string
  /** By full ref name. */
  readonly pushed: ReadonlyMap<string, PushedBranch>
  /** Also from an earlier push: creating each may need a forge request. */
  readonly made?: Map<PlannedCommit, ObjectId>
}

interface Written {
  readonly commits: ReadonlyMap<string, ObjectId>
  readonly updates: readonly RefUpdate[]
  readonly ledger: ObjectId | undefined
  readonly pushed: ReadonlyMap<string, PushedBranch>
}

export type CommitWriter = Pick<PackageRepository, 'write' | 'push' | 'limitsPushes'>

/** @throws Failure BP4003 when a ref moved since it was read: read and plan again */
export async function applyWrites(
  repository: CommitWriter,
  writes: GitWrites,
  ledger: LedgerTarget,
  signal: AbortSignal,
): Promise<Written> {
  const commits = new Map<string, ObjectId>()
  if (isNothing(writes)) return { commits, updates: [], ledger: undefined, pushed: new Map() }
  const resolve = (object: PlannedObject): ObjectId => {
    if (typeof object === 'string') return object
    const id = commits.get(object.commit)
    if (id === undefined)
      throw new TypeError(`the plan names a commit that it does not make: ${object.commit}`)
    return id
  }
  for (const commit of writes.commits) {
    const { name, parents, ...draft } = commit
    const ref = writes.updates.find(
      ({ to }) => to !== null && typeof to !== 'string' && to.commit === name,
    )?.ref
    const made = ledger.made?.get(commit)
    const id =
      made ??
      (await repository.write({
        ...draft,
        ...(ref === undefined ? {} : { ref }),
        parents: parents.map(resolve),
      }))
    ledger.made?.set(commit, id)
    commits.set(name, id)
  }
  const moving = new Set(writes.updates.flatMap(({ ref, from, to }) => (from === to ? [] : [ref])))
  const planned = writes.updates.filter(({ ref, from, to }) => from !== to || !moving.has(ref))
  const updates: RefUpdate[] = planned.map(({ ref, from, to }) => ({
    ref,
    from,
    to: to === null ? null : resolve(to),
  }))
  const pushed = new Map(
    planned.flatMap((update) => createPushedBranch(update, writes, resolve, ledger.pushed)),
  )
  const files = [...writes.ledger, ...[...pushed.values()].map(createPushedFile)]
  const along = await writeLedger(repository, { ...writes, ledger: files }, ledger)
  updates.push(...along)
  await repository.push(updates, signal)
  return {
    commits,
    updates: updates.filter(({ from, to }) => from !== to),
    ledger: along[0]?.to ?? undefined,
    pushed,
  }
}

const PROPOSING: readonly (OwnedRef['kind'] | undefined)[] = ['workspace', 'configure', 'policy']

/**
 * The ledger identifies a branch by what was pushed to it. One push contains both, so neither
 * exists without the other.
 */
function createPushedBranch(
  { ref, to, holds }: PlannedUpdate,
  { commits }: GitWrites,
  resolve: (object: PlannedObject) => ObjectId,
  before: LedgerTarget['pushed'],
): (readonly [string, PushedBranch])[] {
  if (to === null || !PROPOSING.includes(parseOwnedRef(ref)?.kind)) return []
  const created =
    typeof to === 'string' ? undefined : commits.find(({ name }) => name === to.commit)
  const content =
    holds ?? (created === undefined ? undefined : computePushedContent(created.changes))
  if (content === undefined) return []
  const branch = ref.replace(/^refs\/heads\//, '')
  return [[ref, addPushedCommit(before.get(ref), branch, resolve(to), content)]]
}

export function createPushedFile(pushed: PushedBranch): LedgerFile {
  return { path: formatPushedPath(pushed.metadata.name), text: formatDocument(pushed) }
}

/** @returns the update that publishes it; none without news */
export async function writeLedger(
  repository: CommitWriter,
  writes: LedgerWrites,
  ledger: LedgerTarget,
): Promise<RefUpdate[]> {
  if (writes.ledger.length === 0) return []
  const ref = `refs/heads/${LEDGER_BRANCH}`
  const commit = await repository.write({
    ref,
    parents: ledger.head === null ? [] : [ledger.head],
    base: ledger.head ?? undefined,
    changes: writes.ledger.map(({ path, text }) => ({
      path,
      content: text === null ? null : new TextEncoder().encode(text),
    })),
    message: formatLedgerMessage(ledger.cluster, writes.ledgerLines),
    at: Math.floor(Date.parse(ledger.at) / 1000),
  })
  return [{ ref, from: ledger.head, to: commit }]
}

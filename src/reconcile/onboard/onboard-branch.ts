import type { KnownProposal } from '@backporch/forge/hosted-forge'
import type { TreeFile } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'
import type { ConfigureBranch } from '../../plan/turn/plan-onboarding.ts'
import { CONFIGURE_REF } from '../../plan/turn/plan-onboarding.ts'
import type { PolicyFile } from '../../policy/parse-policy.ts'
import { readTexts } from '../../sources/commit/commit-files.ts'
import { type BotIdentity, hasBotIdentity, isProven } from '../repository/bot-identity.ts'
import { POLICY_FILE } from '../repository/read-policies.ts'
import type { RepositoryView } from '../repository/repository-view.ts'

/** Commits of the base branch that are searched. */
const MOST_COMMITS = 300

export interface ObservedBranch extends ConfigureBranch {
  readonly policies: readonly PolicyFile[]
  readonly changed: readonly string[]
  /** The ledger lacks it: a Backporch commit equals exactly what would be written on this base. */
  readonly unproven: { readonly base: ObjectId; readonly message: string } | undefined
}

export async function readBranch(
  view: RepositoryView,
  proposal: KnownProposal | undefined,
  { bot, paths }: { readonly bot: BotIdentity; readonly paths: readonly string[] },
  signal: AbortSignal,
): Promise<ObservedBranch | undefined> {
  const commit = view.refs.get(CONFIGURE_REF)
  if (commit === undefined) return undefined
  const created = await view.repository.commit(commit, signal)
  const claims = hasBotIdentity(created, bot)
  const foreign = !claims || !isProven(created, view.pushed.get(CONFIGURE_REF))
  const tree = await view.repository.list(commit, '', signal)
  const isPolicy = ({ path }: TreeFile): boolean => POLICY_FILE.test(path)
  const texts = await readTexts(
    view.repository,
    tree.filter((file) => isPolicy(file) || paths.includes(file.path)),
    signal,
  )
  const merged = proposal?.state === 'merged' && proposal.commit === commit
  const [parent] = created.parents
  const before = parent === undefined ? [] : await view.repository.list(parent, '', signal)
  return {
    commit,
    editedBy: foreign
      ? `${claims ? 'somebody as ' : ''}${created.author.name || created.author.email}`
      : undefined,
    landed: merged || (await isInHistory(view, commit, signal)),
    texts,
    policies: tree.filter(isPolicy).map(({ path }) => ({ path, text: texts.get(path) ?? '' })),
    changed: listChangedPaths(foreign ? view.tree : before, tree),
    unproven:
      foreign && claims && parent !== undefined
        ? { base: parent, message: created.message }
        : undefined,
  }
}

function listChangedPaths(before: readonly TreeFile[], after: readonly TreeFile[]): string[] {
  const known = new Map(before.map(({ path, id }) => [path, id]))
  return after.flatMap(({ path, id }) => (known.get(path) === id ? [] : [path]))
}

async function isInHistory(
  view: RepositoryView,
  commit: ObjectId,
  signal: AbortSignal,
): Promise<boolean> {
  const observed = new Set<ObjectId>()
  const queue: ObjectId[] = [view.base]
  for (
    let id = queue.shift();
    id !== undefined && observed.size < MOST_COMMITS;
    id = queue.shift()
  ) {
    if (id === commit) return true
    if (observed.has(id)) continue
    observed.add(id)
    queue.push(...(await view.repository.commit(id, signal)).parents)
  }
  return false
}

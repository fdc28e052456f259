import type { CommitView } from '@backporch/git-store/package-repository'
import { findAnnotatedWorkspace, parseKptAnnotations } from '@backporch/kpt/kptfile'
import { convertToFailure } from '@backporch/kyaml/failure'
import { type ObjectId, readObjectId } from '@backporch/kyaml/files'
import type { Observation, UndoneDecision } from '../../plan/observation/observation.ts'
import { listUndoneAdoptions, type UndoneAdoption } from '../../plan/unit/undone-decisions.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import { recordPath } from '../../record/record-paths.ts'
import { joinFolderPath } from '../../sources/kustomize/files/kustomization-walk.ts'
import type { BotIdentity } from './bot-identity.ts'
import { listChangesBetween } from './changes-between.ts'
import { findMergeCommit } from './find-merge-commit.ts'
import type { RepositoryView } from './repository-view.ts'

/** Commits of the base branch. */
const MOST_STEPS = 300

interface Reader {
  readonly view: RepositoryView
  readonly bot: BotIdentity
}

/** The ledger stores the result, so later turns search nothing. */
export async function addUndone(
  observation: Observation,
  reader: Reader,
  signal: AbortSignal,
): Promise<Observation> {
  const { git } = observation
  const decidedCommits = await readDecidedCommits(observation, reader, signal)
  const commitOf = ({ metadata, status }: ClosedEpisode): ObjectId | undefined =>
    status.commit === undefined ? decidedCommits.get(metadata.name) : readObjectId(status.commit)
  const tags = await findMovedTags(observation, reader, commitOf, signal)
  const adoptions: UndoneDecision[] = []
  for (const undone of listUndoneAdoptions(observation)) {
    const { episode } = undone
    if (episode.status.undone?.how === 'AdoptionUndone') continue
    const by = await findUndoingCommit(
      observation,
      reader,
      { undone, decided: commitOf(episode) },
      signal,
    )
    adoptions.push({
      episode: episode.metadata.name,
      how: 'AdoptionUndone',
      ...describe(by, reader.bot),
    })
  }
  const named = new Set(adoptions.map(({ episode }) => episode))
  const undone = [...adoptions, ...tags.filter(({ episode }) => !named.has(episode))]
  return decidedCommits.size + undone.length === 0
    ? observation
    : { ...observation, git: { ...git, decidedCommits, undone } }
}

/**
 * Of the latest revision, and the latest one without a revision, if the ledger lacks the commit: a
 * forge creates it after the entry.
 */
async function readDecidedCommits(
  { git, unit }: Observation,
  { view, bot }: Reader,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ObjectId>> {
  const landed = new Set(git.merged.map(({ spec }) => spec.episode))
  const open = git.ledger.closed.filter(
    ({ status, spec }) =>
      status.outcome === 'Merged' && status.commit === undefined && landed.has(spec.episode),
  )
  const untagged = open.filter(({ status }) => status.revision === undefined)
  const newest = untagged
    .toSorted((left, right) => (left.status.at < right.status.at ? 1 : -1))
    .slice(0, 1)
  const wanted = [...open.filter(({ status }) => status.revision === `v${git.revision}`), ...newest]
  const found = new Map<string, ObjectId>()
  if (wanted.length === 0) return found
  const base = await view.repository.commit(view.base, signal)
  for (const { spec, metadata } of wanted) {
    const path = recordPath(unit.cluster, unit.slug, spec.began, spec.episode)
    try {
      const merge = await findMergeCommit(
        view.repository,
        base,
        { path, packageName: unit.packageName, bot },
        signal,
      )
      if (merge !== undefined) found.set(metadata.name, merge.commit)
    } catch (thrown) {
      if (convertToFailure(thrown).code !== 'BP4011') throw thrown
    }
  }
  return found
}

/**
 * Only the latest revision is checked: a Porch that did not read its tag publishes that number
 * again, and each check may fetch a commit.
 */
async function findMovedTags(
  { git, unit }: Observation,
  { view, bot }: Reader,
  commitOf: (episode: ClosedEpisode) => ObjectId | undefined,
  signal: AbortSignal,
): Promise<UndoneDecision[]> {
  const moved: UndoneDecision[] = []
  for (const episode of git.ledger.closed) {
    const { status, metadata } = episode
    const tag = git.refs.get(`refs/tags/${unit.packageName}/${status.revision}`)
    const decided = commitOf(episode)
    if (status.revision !== `v${git.revision}` || status.undone !== undefined) continue
    if (tag === undefined || decided === undefined || tag === decided) continue
    const tagged = await view.repository.commit(tag, signal)
    const workspace = findAnnotatedWorkspace(
      parseKptAnnotations(tagged.message).annotations,
      unit.packageName,
    )
    const own =
      status.branch === undefined
        ? `drift-${metadata.name}`
        : status.branch.slice(status.branch.lastIndexOf('/') + 1)
    if (workspace !== own)
      moved.push({ episode: metadata.name, how: 'TagMoved', ...describe(tagged, bot) })
  }
  return moved
}

async function findUndoingCommit(
  { unit }: Observation,
  { view }: Reader,
  { undone, decided }: { readonly undone: UndoneAdoption; readonly decided: ObjectId | undefined },
  signal: AbortSignal,
): Promise<CommitView | undefined> {
  if (decided === undefined) return undefined
  const { repository } = view
  const later: CommitView[] = []
  try {
    let commit = await repository.commit(view.base, signal)
    while (commit.id !== decided) {
      later.unshift(commit)
      const [parent] = commit.parents
      if (parent === undefined || later.length > MOST_STEPS) return undefined
      commit = await repository.commit(parent, signal)
    }
    const edited = (await listChangesBetween(repository, commit.parents[0], decided, signal)).map(
      ({ path }) => path,
    )
    const sources = undone.changes.flatMap(({ source }) =>
      source === undefined ? [] : [source.replace(/:\d+$/, '')],
    )
    const paths = [...new Set([...edited, ...sources])].filter(
      (path) => path.startsWith(joinFolderPath(unit.packagePath, '')) && !path.endsWith('Kptfile'),
    )
    for (const one of later)
      for (const path of paths) if (await differs(view, path, [decided, one.id], signal)) return one
  } catch (thrown) {
    if (convertToFailure(thrown).code !== 'BP4011') throw thrown
  }
  return undefined
}

async function differs(
  view: RepositoryView,
  path: string,
  commits: readonly ObjectId[],
  signal: AbortSignal,
): Promise<boolean> {
  const [one, other] = await Promise.all(
    commits.map(
      async (commit) =>
        (await view.repository.list(commit, path, signal)).find((file) => file.path === '')?.id,
    ),
  )
  return one !== other
}

function describe(
  commit: CommitView | undefined,
  bot: BotIdentity,
): Pick<UndoneDecision, 'commit' | 'by'> {
  if (commit === undefined) return { commit: undefined, by: undefined }
  const { name, email } = commit.author
  return { commit: commit.id, by: email === bot.email ? undefined : `${name} <${email}>` }
}

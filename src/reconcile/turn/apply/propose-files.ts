/**
 * Proposes files that are not drift, such as a policy. There is one branch and one proposal per
 * request, however often it is repeated.
 */
import { createHash } from 'node:crypto'
import type {
  Forge,
  HostedForge,
  KnownProposal,
  OpenedProposal,
} from '@backporch/forge/hosted-forge'
import type { FileChange, RefUpdate } from '@backporch/git-store/package-repository'
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { NO_WRITES } from '../../../plan/observation/action.ts'
import { computeUnixSeconds } from '../../../plan/observation/closed-episode.ts'
import { applyHouseRules } from '../../../plan/turn/forge/house-proposal.ts'
import { listCodeOwners } from '../../../policy/code-owners.ts'
import { deriveHouseRules } from '../../../policy/effective-policy.ts'
import { formatHouseMessage } from '../../../policy/house-rules.ts'
import { assertNewestPolicy } from '../../../policy/last-good-policy.ts'
import { retryWithFreshRefs } from '../../observe/observe-units.ts'
import { isProven } from '../../repository/bot-identity.ts'
import { isHosted } from '../../repository/is-hosted.ts'
import { hasContent, hasEqualText } from '../../repository/judge-branches.ts'
import { type RepositoryView, readPushed } from '../../repository/repository-view.ts'
import { applyWrites } from './apply-writes.ts'

interface ProposedFile {
  readonly path: string
  readonly text: string
}

interface FilesLocation {
  readonly cluster: string
  readonly view: RepositoryView
  readonly forge: Forge
  /** Empty without a file. */
  readonly codeOwners: string
  readonly signal: AbortSignal
}

interface FilesProposal {
  /** Of `drift/<verb>-…`. */
  readonly verb: string
  /** Equal requests share a branch. */
  readonly content: string
  /** For an equal request after a decision about the first one. */
  readonly again: string
  readonly files: readonly ProposedFile[]
  readonly at: string
  readonly message: string
  readonly title: string
  readonly body: string
}

export interface ProposedFiles {
  readonly ref: string
  readonly opened: OpenedProposal | undefined
  /** Empty if the branch already existed. */
  readonly updates: readonly RefUpdate[]
}

/** @throws Failure BP1005 while an earlier policy decides, BP2009, BP5006, BP40xx, BP50xx */
export async function proposeFiles(
  location: FilesLocation,
  wanted: FilesProposal,
): Promise<ProposedFiles> {
  const { view, forge, codeOwners, signal } = location
  const { verb, content, again, files, at, title, body } = wanted
  assertNewestPolicy(view.policies, 'nothing is proposed')
  const house = deriveHouseRules(view.policies)
  const message = formatHouseMessage(wanted.message, house.commit)
  for (const seed of [content, content + again]) {
    const ref = `refs/heads/drift/${verb}-${createHash('sha256').update(seed).digest('hex').slice(0, 8)}`
    const known = isHosted(forge) ? await findProposal(forge, view, ref, signal) : undefined
    if (known !== undefined && known.state !== 'open') continue
    const { commit, updates } = await retryWithFreshRefs(() =>
      ensureBranch(location, { ref, files, message, at }),
    )
    if (!isHosted(forge)) return { ref, opened: undefined, updates }
    const owners = new Set(files.flatMap(({ path }) => listCodeOwners(codeOwners, path)))
    const opened = await forge.ensureProposal(
      {
        ...applyHouseRules(
          {
            ref,
            commit,
            baseBranch: view.baseBranch,
            title,
            body,
            labels: ['drift'],
            draft: false,
            reviewers: [...owners].flatMap((owner) =>
              owner.startsWith('@') ? [owner.slice(1)] : [],
            ),
          },
          house,
          known,
        ),
        // It keeps its first requester's text.
        ...(known === undefined
          ? {}
          : { title: known.title, body: known.body, draft: known.draft }),
      },
      known,
      signal,
    )
    return { ref, opened, updates }
  }
  throw new Failure({
    code: 'BP5006',
    what: 'no proposal was opened',
    why: 'exactly this was proposed before, and that proposal was merged or closed',
    remedy: 'reopen it, or request it again',
    retry: 'on-change',
  })
}

async function findProposal(
  forge: HostedForge,
  view: RepositoryView,
  ref: string,
  signal: AbortSignal,
): Promise<KnownProposal | undefined> {
  return (await forge.readProposals(view.baseBranch, [ref], signal)).find(
    (proposal) => proposal.ref === ref,
  )
}

interface WantedBranch {
  readonly ref: string
  readonly files: readonly ProposedFile[]
  readonly message: string
  readonly at: string
}

/**
 * An earlier call may have ended before it opened the proposal. A commit's name proves nothing: the
 * ledger must have it, or it must be what this call would write.
 */
async function ensureBranch(
  { cluster, view, signal }: FilesLocation,
  { ref, files, message, at }: WantedBranch,
): Promise<{ readonly commit: ObjectId; readonly updates: readonly RefUpdate[] }> {
  const { repository, base } = view
  // Reread: an earlier answer of this turn may have moved the ledger.
  const { refs } = await repository.listRefs(signal)
  const head = refs.get(`refs/heads/${LEDGER_BRANCH}`) ?? null
  const ledgerTree = head === null ? [] : await repository.list(head, '', signal)
  const pushed = await readPushed({ repository, ledgerTree }, [ref], signal)
  const changes: FileChange[] = files.map(({ path, text }) => ({
    path,
    content: new TextEncoder().encode(text),
  }))
  const there = refs.get(ref)
  if (there !== undefined) {
    const created = await repository.commit(there, signal)
    const [parent] = created.parents
    const isBuilt = async (): Promise<boolean> =>
      parent !== undefined &&
      hasEqualText(created.message, message) &&
      (await hasContent(repository, { base: parent, commit: there }, changes, signal))
    if (!isProven(created, pushed.get(ref)) && !(await isBuilt()))
      throw createTakenBranchFailure(ref)
    return { commit: there, updates: [] }
  }
  const writes = {
    ...NO_WRITES,
    commits: [
      {
        name: ref,
        parents: [base],
        base,
        changes,
        message,
        signOff: deriveHouseRules(view.policies).commit.signOff,
        at: computeUnixSeconds(at),
      },
    ],
    updates: [{ ref, from: null, to: { commit: ref } }],
    ledgerLines: [`${ref.replace(/^refs\/heads\//, '')}: proposed`],
  }
  const { commits, updates } = await applyWrites(
    repository,
    writes,
    { head, cluster, at, pushed },
    signal,
  )
  const commit = commits.get(ref)
  if (commit === undefined) throw new TypeError('a commit was planned and not made')
  return { commit, updates: updates.filter((update) => update.ref === ref) }
}

function createTakenBranchFailure(ref: string): Failure {
  return new Failure({
    code: 'BP2009',
    what: 'no proposal was opened',
    where: ref,
    why: 'its branch has a commit that backporch did not make',
    remedy: 'merge or delete that branch by hand',
    retry: 'on-change',
  })
}

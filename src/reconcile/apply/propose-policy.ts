/** Proposes a change of the policy. Every ignore rule is reviewed, so none is hidden state. */
import { createHash } from 'node:crypto'
import { Failure } from '../../failure.ts'
import type { ObjectId } from '../../package/object-id.ts'
import { LEDGER_BRANCH, ownedRef } from '../../package/ref-name.ts'
import { addRules, type IgnoreDocument, type PolicyUnit } from '../../plan/commands/comment-policy.ts'
import type { PolicyChange } from '../../plan/commands/plan-command.ts'
import { secondsSince1970 } from '../../plan/decisions/closed-episode.ts'
import { NO_WRITES } from '../../plan/turn/action.ts'
import type { EndedBranch } from '../../plan/turn/turn-action.ts'
import { ownersOf } from '../../policy/code-owners.ts'
import type { PolicyFile } from '../../policy/parse-policy.ts'
import type { Forge, HostedForge, KnownProposal, OpenedProposal } from '../../ports/hosted-forge.ts'
import type { FileChange, RefUpdate } from '../../ports/package-repository.ts'
import { type PolicySubject, policyBody, policyMessage, policyTitle } from '../../proposal/text/policy-answer.ts'
import { isProven } from '../bot-identity.ts'
import { equalText, hasContent } from '../judge-branches.ts'
import { withFreshRefs } from '../observe/observe-units.ts'
import { type RepositoryView, readPolicyFiles, readPushed } from '../repository/repository-view.ts'
import { applyWrites } from './apply-writes.ts'
import { isHosted } from './is-hosted.ts'

interface PolicyLocation {
  readonly unit: PolicyUnit
  readonly view: RepositoryView
  readonly forge: Forge
  /** CODEOWNERS; empty where there is none. */
  readonly codeOwners: string
  readonly signal: AbortSignal
}

interface PolicyAsker {
  /** Login, or name. */
  readonly login: string
  /** Distinguishes this request from an earlier equal one: id of a comment. */
  readonly resolutionRequest: string
  /** RFC 3339 UTC. */
  readonly at: string
  /** The proposal with the request; undefined for the command line. */
  readonly proposal: PolicySubject['requested']
}

interface ProposedPolicy {
  readonly ref: string
  /** Undefined where git alone is the forge. */
  readonly opened: OpenedProposal | undefined
  /** What was pushed; empty where it was there already. */
  readonly updates: readonly RefUpdate[]
}

/** Undefined where every rule holds already. @throws Failure BP1005, BP2007 where the policy's file cannot be edited */
export async function ignoreChange(
  { view, unit, signal }: Pick<PolicyLocation, 'view' | 'unit' | 'signal'>,
  rules: readonly IgnoreDocument[],
): Promise<PolicyChange | undefined> {
  const file = addRules(await readPolicyFiles(view.repository, view.tree, signal), view.policies, unit, rules)
  return file === undefined ? undefined : { verb: 'ignore', files: [file], rules }
}

/** The same request is one branch and one proposal, however often it is repeated. @throws Failure BP2009, BP5006, BP40xx, BP50xx */
export async function proposePolicy(
  location: PolicyLocation,
  { verb, files, rules }: PolicyChange,
  asker: PolicyAsker,
): Promise<ProposedPolicy> {
  const { unit, view, forge, codeOwners, signal } = location
  const { cluster, packagePath } = unit
  const subject: PolicySubject = {
    verb,
    about: rules.map(aboutRule).join(', '),
    rules,
    files: files.map(({ path }) => path),
    by: asker.login,
    requested: asker.proposal,
  }
  const content = JSON.stringify([cluster, packagePath, rules])
  // After a decision about it, an equal request is a new one.
  for (const seed of [content, content + asker.resolutionRequest]) {
    const ref = `refs/heads/drift/${verb}-${createHash('sha256').update(seed).digest('hex').slice(0, 8)}`
    const known = isHosted(forge) ? await proposalOf(forge, view, ref, signal) : undefined
    if (known !== undefined && known.state !== 'open') continue
    const wanted = { ref, files, message: policyMessage(subject), at: asker.at }
    const { commit, updates } = await withFreshRefs(() => ensureBranch(location, wanted))
    if (!isHosted(forge)) return { ref, opened: undefined, updates }
    const owners = new Set(files.flatMap(({ path }) => ownersOf(codeOwners, path)))
    const opened = await forge.ensureProposal(
      {
        ref,
        commit,
        baseBranch: view.baseBranch,
        // An existing proposal may be incomplete. It keeps the text of its first requester.
        title: known?.title ?? policyTitle(subject),
        body: known?.body ?? policyBody(subject, forge.dialect),
        labels: ['drift'],
        draft: known?.draft ?? false,
        reviewers: [...owners].flatMap((owner) => (owner.startsWith('@') ? [owner.slice(1)] : [])),
      },
      known,
      signal,
    )
    return { ref, opened, updates }
  }
  throw new Failure({
    code: 'BP5006',
    what: 'no proposal was opened',
    why: 'exactly this was asked for before, and that proposal was merged or closed',
    remedy: 'reopen it, or ask for it again',
    retry: 'on-change',
  })
}

async function proposalOf(forge: HostedForge, view: RepositoryView, ref: string, signal: AbortSignal): Promise<KnownProposal | undefined> {
  return (await forge.readProposals(view.baseBranch, [ref], signal)).find((proposal) => proposal.ref === ref)
}

interface WantedBranch {
  readonly ref: string
  readonly files: readonly PolicyFile[]
  readonly message: string
  /** RFC 3339 UTC. */
  readonly at: string
}

/**
 * The head of the branch: as it is there, where an earlier call ended before it opened the proposal. The name of a commit proves nothing:
 * the ledger has it, or it is what this call would write.
 */
async function ensureBranch(
  { unit, view, signal }: PolicyLocation,
  { ref, files, message, at }: WantedBranch,
): Promise<{ readonly commit: ObjectId; readonly updates: readonly RefUpdate[] }> {
  const { repository, base } = view
  // Read again: an earlier answer of this turn may have moved the ledger.
  const { refs } = await repository.refs(signal)
  const head = refs.get(`refs/heads/${LEDGER_BRANCH}`) ?? null
  const ledgerTree = head === null ? [] : await repository.list(head, '', signal)
  const pushed = await readPushed({ repository, ledgerTree }, [ref], signal)
  const changes: FileChange[] = files.map(({ path, text }) => ({ path, content: new TextEncoder().encode(text) }))
  const there = refs.get(ref)
  if (there !== undefined) {
    const created = await repository.commit(there, signal)
    const [parent] = created.parents
    const isBuilt = async (): Promise<boolean> =>
      parent !== undefined &&
      equalText(created.message, message) &&
      (await hasContent(repository, { base: parent, commit: there }, changes, signal))
    if (!isProven(created, pushed.get(ref)) && !(await isBuilt())) throw takenBranch(ref)
    return { commit: there, updates: [] }
  }
  const writes = {
    ...NO_WRITES,
    commits: [{ name: ref, parents: [base], base, changes, message, at: secondsSince1970(at) }],
    updates: [{ ref, from: null, to: { commit: ref } }],
    ledgerLines: [`${ref.replace(/^refs\/heads\//, '')}: proposed`],
  }
  const { commits, updates } = await applyWrites(repository, writes, { head, cluster: unit.cluster, at, pushed }, signal)
  const commit = commits.get(ref)
  if (commit === undefined) throw new TypeError('a commit was planned and not made')
  return { commit, updates: updates.filter((update) => update.ref === ref) }
}

/** Branches of such proposals that were merged or closed. A branch that moved after the decision, or with foreign commits, is none. */
export async function readEndedPolicyBranches(
  view: RepositoryView,
  forge: HostedForge,
  signal: AbortSignal,
): Promise<readonly EndedBranch[]> {
  const refs = [...view.refs.keys()].filter((ref) => ownedRef(ref)?.kind === 'policy')
  if (refs.length === 0) return []
  const ended: EndedBranch[] = []
  for (const { ref, state, commit } of await forge.readProposals(view.baseBranch, refs, signal)) {
    const there = view.refs.get(ref)
    if (!refs.includes(ref) || state === 'open' || there === undefined || there !== commit) continue
    if (isProven(await view.repository.commit(there, signal), view.pushed.get(ref))) ended.push({ ref, commit: there })
  }
  return ended
}

function aboutRule({ target, paths, managers }: IgnoreDocument): string {
  const object = [target?.kind, target?.name].filter((part) => part !== undefined).join('/')
  const what = paths?.join(', ') ?? (managers === undefined ? '' : `what ${managers.join(', ')} writes`)
  return [object, what].filter((part) => part !== '').join(' ')
}

function takenBranch(ref: string): Failure {
  return new Failure({
    code: 'BP2009',
    what: 'no proposal was opened',
    where: ref,
    why: 'its branch has a commit that backporch did not make',
    remedy: 'merge or delete that branch by hand',
    retry: 'on-change',
  })
}

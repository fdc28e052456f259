/** `/ignore` and `/unignore`: a reviewed proposal that changes the policy. An ignore is never hidden state. */
import { createHash } from 'node:crypto'
import { Failure } from '../failure.ts'
import type { ObjectId } from '../package/object-id.ts'
import { ownedRef } from '../package/ref-name.ts'
import { secondsSince1970 } from '../plan/closed-episode.ts'
import { addRules, type IgnoreDocument, ignoreRules, type PlacedRule, removeRules, rulesFor } from '../plan/comment-policy.ts'
import { ownersOf } from '../policy/code-owners.ts'
import type { PolicyFile } from '../policy/parse-policy.ts'
import type { HostedForge, KnownProposal, OpenedProposal } from '../ports/hosted-forge.ts'
import { type PolicySubject, policyBody, policyMessage, policyTitle } from '../proposal/policy-answer.ts'
import { markdownCell, markdownLink } from '../record/markdown-text.ts'
import type { Change } from '../record/schema.ts'
import type { Asker, Desk } from './answer-desk.ts'
import { type RepositoryView, readTexts } from './repository-view.ts'

/** @param end RFC 3339 UTC; undefined for a rule that does not end. @returns Markdown */
export async function proposeIgnore(
  desk: Desk,
  chosen: readonly Change[],
  reason: string,
  end: string | undefined,
  asker: Asker,
): Promise<string> {
  const { unit, view } = desk
  const rules = ignoreRules(chosen, reason, end)
  const files = await policyFiles(desk)
  const file = addRules(files, view.policies, unit, rules)
  if (file === undefined) return 'such a rule holds already'
  return propose(desk, 'ignore', [file], rules, asker)
}

/** @param selectors numbers as `/show ignores` lists them. @returns Markdown */
export async function proposeUnignore(desk: Desk, selectors: readonly string[], asker: Asker): Promise<string> {
  const { unit, view } = desk
  const rules = rulesFor(view.policies, unit)
  const placed = selectors.map((selector) => ruleNumber(selector, rules))
  if (placed.length === 0) throw noSuchRule('', rules.length)
  const files = removeRules(await policyFiles(desk), placed)
  return propose(
    desk,
    'unignore',
    files,
    placed.map(({ rule }) => rule),
    asker,
  )
}

function ruleNumber(selector: string, rules: readonly PlacedRule[]): PlacedRule {
  const rule = /^[1-9][0-9]{0,4}$/.test(selector) ? rules[Number(selector) - 1] : undefined
  if (rule === undefined) throw noSuchRule(selector, rules.length)
  return rule
}

async function propose(
  desk: Desk,
  verb: PolicySubject['verb'],
  files: readonly PolicyFile[],
  rules: readonly IgnoreDocument[],
  asker: Asker,
): Promise<string> {
  const { unit, view, forge, codeOwners, signal } = desk
  const { proposal, cluster, packagePath } = unit
  const subject: PolicySubject = {
    verb,
    about: rules.map(aboutRule).join(', '),
    rules,
    files: files.map(({ path }) => path),
    by: asker.login,
    asked: proposal,
  }
  const content = JSON.stringify([cluster, packagePath, rules])
  // The same wish is one proposal, whoever says it how often; once that is decided, another comment is another one.
  for (const seed of [content, content + asker.comment]) {
    const ref = `refs/heads/drift/${verb}-${createHash('sha256').update(seed).digest('hex').slice(0, 8)}`
    const known = await proposalOf(forge, view, ref, signal)
    if (known !== undefined && known.state !== 'open') continue
    const commit = await ensureBranch(desk, ref, files, policyMessage(subject), asker)
    if (known !== undefined) return askedIn(known)
    const owners = new Set(files.flatMap(({ path }) => ownersOf(codeOwners, path)))
    const opened = await forge.ensureProposal(
      {
        ref,
        commit,
        baseBranch: view.baseBranch,
        title: policyTitle(subject),
        body: policyBody(subject, forge.dialect),
        labels: ['drift'],
        draft: false,
        reviewers: [...owners].flatMap((owner) => (owner.startsWith('@') ? [owner.slice(1)] : [])),
      },
      undefined,
      signal,
    )
    return askedIn(opened)
  }
  throw new Failure({
    code: 'BP5006',
    what: 'no proposal was opened',
    why: 'exactly this was asked for before, and that proposal was merged or closed',
    remedy: 'reopen it, or write the command in a new comment',
    retry: 'on-change',
  })
}

async function proposalOf(forge: HostedForge, view: RepositoryView, ref: string, signal: AbortSignal): Promise<KnownProposal | undefined> {
  return (await forge.readProposals(view.baseBranch, [ref], signal)).find((proposal) => proposal.ref === ref)
}

/** @returns the head of the branch: as it is there, where an earlier call ended before it opened the proposal */
async function ensureBranch(
  { view, request, signal }: Desk,
  ref: string,
  files: readonly PolicyFile[],
  message: string,
  asker: Asker,
): ReturnType<RepositoryView['repository']['write']> {
  const { repository, base } = view
  const there = (await repository.refs(signal)).refs.get(ref)
  if (there !== undefined) {
    const { committer } = await repository.commit(there, signal)
    if (committer.email !== request.bot.email) throw takenBranch(ref)
    return there
  }
  const changes = files.map(({ path, text }) => ({ path, content: new TextEncoder().encode(text) }))
  const commit = await repository.write({ parents: [base], base, changes, message, at: secondsSince1970(asker.at) })
  await repository.push([{ ref, from: null, to: commit }], signal)
  return commit
}

/** Deletes the branches of such proposals that were merged or closed: nothing is left behind. */
export async function forgetPolicyBranches(view: RepositoryView, forge: HostedForge, bot: string, signal: AbortSignal): Promise<void> {
  const refs = [...view.refs.keys()].filter((ref) => ownedRef(ref)?.kind === 'policy')
  if (refs.length === 0) return
  for (const { ref, state, commit } of await forge.readProposals(view.baseBranch, refs, signal)) {
    const there = view.refs.get(ref)
    // A branch that moved after the decision, or that somebody else pushed to, stays.
    if (!refs.includes(ref) || state === 'open' || there === undefined || there !== commit) continue
    if ((await view.repository.commit(there, signal)).committer.email !== bot) continue
    await deleteBranch(view, ref, there, signal)
  }
}

/** One that cannot be deleted now is in nobody's way. */
async function deleteBranch({ repository }: RepositoryView, ref: string, from: ObjectId, signal: AbortSignal): Promise<void> {
  try {
    await repository.push([{ ref, from, to: null }], signal)
  } catch (thrown) {
    if (!(thrown instanceof Failure) || signal.aborted) throw thrown
  }
}

async function policyFiles({ view, signal }: Desk): Promise<PolicyFile[]> {
  const found = view.tree.filter(({ path }) => /^\.drift\/[^/]+\.ya?ml$/.test(path))
  const texts = await readTexts(view.repository, found, signal)
  return found.map(({ path }) => ({ path, text: texts.get(path) ?? '' }))
}

function aboutRule({ target, paths, managers }: IgnoreDocument): string {
  const object = [target?.kind, target?.name].filter((part) => part !== undefined).join('/')
  const what = paths?.join(', ') ?? (managers === undefined ? '' : `what ${managers.join(', ')} writes`)
  return [object, what].filter((part) => part !== '').join(' ')
}

/** The same whether it was opened now or before: what is said twice is one text. */
function askedIn({ label, url }: OpenedProposal): string {
  return `${markdownLink(markdownCell(label, 60), url)} asks for it, and it holds when that is merged`
}

function noSuchRule(selector: string, count: number): Failure {
  return new Failure({
    code: 'BP1011',
    what: selector === '' ? 'no rule is named' : `there is no ignore rule ${JSON.stringify(selector.slice(0, 40))}`,
    why: count === 0 ? 'no ignore rule holds here' : `${count} hold here, numbered from 1`,
    remedy: 'say /show ignores, and name a number of its list',
    retry: 'on-change',
  })
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

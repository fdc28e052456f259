import type { Forge, HostedForge } from '@backporch/forge/hosted-forge'
import { parseOwnedRef } from '@backporch/git-store/ref-name'
import type { EndedBranch } from '../../../plan/turn/turn-action.ts'
import type { PolicyChange } from '../../../plan/unit/commands/command-state.ts'
import {
  addRules,
  type IgnoreDocument,
  type PolicyUnit,
} from '../../../plan/unit/commands/comment-policy.ts'
import {
  formatPolicyBody,
  formatPolicyMessage,
  formatPolicyTitle,
  type PolicySubject,
} from '../../../proposal/text/policy-answer.ts'
import { isProven } from '../../repository/bot-identity.ts'
import { readPolicyFiles } from '../../repository/read-policies.ts'
import type { RepositoryView } from '../../repository/repository-view.ts'
import { type ProposedFiles, proposeFiles } from './propose-files.ts'

interface PolicyLocation {
  readonly unit: PolicyUnit
  readonly view: RepositoryView
  readonly forge: Forge
  readonly codeOwners: string
  readonly signal: AbortSignal
}

interface PolicyAsker {
  readonly login: string
  /** Id of a comment, to distinguish equal requests. */
  readonly resolutionRequest: string
  readonly at: string
  readonly proposal: PolicySubject['requested']
}

/**
 * Undefined if every rule already applies.
 * @throws Failure BP1005, BP2007 where the policy's file cannot be edited
 */
export async function ignoreChange(
  { view, unit, signal }: Pick<PolicyLocation, 'view' | 'unit' | 'signal'>,
  rules: readonly IgnoreDocument[],
): Promise<PolicyChange | undefined> {
  const file = addRules(
    await readPolicyFiles(view.repository, view.tree, signal),
    view.policies,
    unit,
    rules,
  )
  return file === undefined ? undefined : { verb: 'ignore', files: [file], rules }
}

/**
 * One branch and one proposal, however often repeated.
 * @throws Failure BP2009, BP5006, BP40xx, BP50xx
 */
export async function proposePolicy(
  location: PolicyLocation,
  { verb, files, rules }: PolicyChange,
  asker: PolicyAsker,
): Promise<ProposedFiles> {
  const { unit, view, forge, codeOwners, signal } = location
  const { cluster, packagePath } = unit
  const subject: PolicySubject = {
    verb,
    about: rules.map(describeRule).join(', '),
    rules,
    files: files.map(({ path }) => path),
    by: asker.login,
    requested: asker.proposal,
  }
  return proposeFiles(
    { cluster, view, forge, codeOwners, signal },
    {
      verb,
      content: JSON.stringify([cluster, packagePath, rules]),
      again: asker.resolutionRequest,
      files,
      at: asker.at,
      message: formatPolicyMessage(subject),
      title: formatPolicyTitle(subject),
      body: formatPolicyBody(subject, forge.dialect),
    },
  )
}

/** Merged or closed. Excludes branches that moved after the decision, or have foreign commits. */
export async function readEndedPolicyBranches(
  view: RepositoryView,
  forge: HostedForge,
  signal: AbortSignal,
): Promise<readonly EndedBranch[]> {
  const refs = [...view.refs.keys()].filter((ref) => parseOwnedRef(ref)?.kind === 'policy')
  if (refs.length === 0) return []
  const ended: EndedBranch[] = []
  for (const { ref, state, commit } of await forge.readProposals(view.baseBranch, refs, signal)) {
    const there = view.refs.get(ref)
    if (!refs.includes(ref) || state === 'open' || there === undefined || there !== commit) continue
    if (isProven(await view.repository.commit(there, signal), view.pushed.get(ref)))
      ended.push({ ref, commit: there })
  }
  return ended
}

function describeRule({ target, paths, managers }: IgnoreDocument): string {
  const object = [target?.kind, target?.name].filter((part) => part !== undefined).join('/')
  const what =
    paths?.join(', ') ?? (managers === undefined ? undefined : `what ${managers.join(', ')} writes`)
  return [object || undefined, what || undefined].filter((part) => part !== undefined).join(' ')
}

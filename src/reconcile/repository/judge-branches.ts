/**
 * Decides whether a branch is Backporch's. A commit that is not the ledger's last pushed one is
 * rebuilt and compared; one that differs is foreign, whatever its author name.
 */
import type { FileChange, PackageRepository } from '@backporch/git-store/package-repository'
import type { Observation, OpenBranch } from '../../plan/observation/observation.ts'
import { addAnswers } from '../../plan/observation/turn-questions.ts'
import {
  type CurrentCommit,
  type ExpectedCommit,
  resolveExpectedCommit,
} from '../../plan/turn/expected-branch.ts'
import type { ObservedUnit } from '../../plan/turn/turn-observation.ts'
import { computePushedContent, type PushedContent } from '../../record/pushed-branch.ts'
import {
  convertToEarlierPath,
  convertToPresentPath,
  isRecordPath,
} from '../../record/record-paths.ts'
import { NO_MANIFEST } from '../../record/write-document.ts'
import { joinFolderPath } from '../../sources/kustomize/files/kustomization-walk.ts'
import { listChangesBetween } from './changes-between.ts'
import { computeWithAnswers, type ProofPorts } from './with-answers.ts'

/** One unit is enough to make a branch of several units foreign. */
export async function judgeBranches(
  units: readonly ObservedUnit[],
  context: ProofPorts,
  signal: AbortSignal,
): Promise<readonly ObservedUnit[]> {
  const found = new Map<string, string>()
  const ours = new Map<string, PushedContent>()
  for (const unit of units) {
    if (unit.state === 'failed') continue
    for (const branch of unit.observation.git.branches) {
      if (
        branch.foreign ||
        (branch.known === true && branch.signed !== false) ||
        found.has(branch.ref)
      )
        continue
      const verdict = await judge(unit.observation, branch, context, signal)
      if (typeof verdict === 'string') found.set(branch.ref, verdict)
      else ours.set(branch.ref, verdict)
    }
  }
  if (found.size + ours.size === 0) return units
  const judged = (branch: OpenBranch): OpenBranch => {
    const why = found.get(branch.ref)
    const holds = ours.get(branch.ref)
    if (why !== undefined) return { ...branch, foreign: true, foreignWhy: why }
    if (holds === undefined) return branch
    return branch.signed === false ? { ...branch, holds, outdated: true } : { ...branch, holds }
  }
  return units.map((unit) => {
    if (unit.state === 'failed') return unit
    const { git } = unit.observation
    const branches = git.branches.map(judged)
    const siblings = git.siblings.map((sibling) =>
      found.has(sibling.ref) ? { ...sibling, foreign: true } : sibling,
    )
    return { ...unit, observation: { ...unit.observation, git: { ...git, branches, siblings } } }
  })
}

async function judge(
  observation: Observation,
  branch: OpenBranch,
  { repository, renderer }: ProofPorts,
  signal: AbortSignal,
): Promise<PushedContent | string> {
  // It excludes any other writer, even without a ledger.
  if (branch.signed === true && branch.known === undefined && isOfItsBranch(branch))
    return computePushedContent(
      await listChangesBetween(repository, branch.base, branch.commit, signal),
    )
  const { message } = await repository.commit(branch.commit, signal)
  const before = await readRootFiles(repository, branch, observation.unit.packagePath, signal)
  const openProposal: CurrentCommit = { message, before }
  const expected = await computeWithAnswers(renderer, signal, (answers) =>
    resolveExpectedCommit(addAnswers(observation, answers), branch, openProposal),
  )
  const unproven =
    branch.known === undefined ? 'this commit' : 'this commit, which backporch did not push,'
  const what =
    branch.signed === false ? 'this commit, which has no signature of backporch,' : unproven
  if (typeof expected === 'string') return `${what} is not what backporch writes: ${expected}`
  if (!expected.messages.some((text) => hasEqualText(message, text)))
    return `${what} is not what backporch writes: its message differs`
  const written =
    branch.hasEarlierName === true ? convertToEarlierForm(expected.changes) : expected.changes
  if (!(await hasContent(repository, branch, written, signal)))
    return `${what} is not what backporch writes: its files are not what follows from its record`
  return computePushedContent(written)
}

function removeLastDocument(content: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(content)
  return text.endsWith(NO_MANIFEST)
    ? new TextEncoder().encode(text.slice(0, -NO_MANIFEST.length))
    : content
}

/** Versions that ended records in `.yaml` moved none. */
function convertToEarlierForm(changes: readonly FileChange[]): readonly FileChange[] {
  const moved = new Set(
    changes.flatMap(({ path, content }) => (content === null ? [convertToPresentPath(path)] : [])),
  )
  return changes
    .filter(({ path }) => !isRecordPath(path) || !moved.has(convertToPresentPath(path)))
    .map(({ path, content }) => ({
      path: convertToEarlierPath(path),
      content: content === null ? null : removeLastDocument(content),
    }))
}

/** The signature proves the commit's writer, not its branch. */
function isOfItsBranch({ others, record, workspace, state }: OpenBranch): boolean {
  return (
    others.length === 0 &&
    record.metadata.name === workspace &&
    record.spec.lifecycle === (state === 'drafts' ? 'Draft' : 'Proposed')
  )
}

/** The git adapter adds a sign-off as the last trailer. */
export function hasEqualText(
  message: string,
  expected: ExpectedCommit['messages'][number],
): boolean {
  const start = expected.trimEnd()
  return (
    message.startsWith(start) &&
    /^\n*(?:Signed-off-by: [^\n]*\n*)?$/.test(message.slice(start.length))
  )
}

async function readRootFiles(
  repository: PackageRepository,
  { base }: OpenBranch,
  folder: string,
  signal: AbortSignal,
) {
  const files = await Promise.all(
    ['Kptfile', '.krmignore'].map(async (path) => {
      const [file] = await repository.list(base, joinFolderPath(folder, path), signal)
      return file === undefined || file.path !== '' ? [] : [{ ...file, path }]
    }),
  )
  const there = files.flat()
  const contents = await repository.read(
    there.map(({ id }) => id),
    signal,
  )
  return there.map(({ path, mode, id }) => ({
    path,
    mode,
    content: contents.get(id) ?? new Uint8Array(),
  }))
}

/** Compares tree ids with a commit in memory that is never pushed. */
export async function hasContent(
  repository: PackageRepository,
  { base, commit }: Pick<OpenBranch, 'base' | 'commit'>,
  changes: readonly FileChange[],
  signal: AbortSignal,
): Promise<boolean> {
  const created = await repository.commit(commit, signal)
  const again = await repository.write({
    parents: [base],
    base,
    changes,
    message: 'rebuilt\n',
    at: 0,
  })
  return (
    created.parents.length === 1 && created.tree === (await repository.commit(again, signal)).tree
  )
}

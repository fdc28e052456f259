/**
 * Computes the commit that Backporch would put on a branch now, from the cluster, the base branch,
 * the policy and the ledger. Author and committer prove nothing, so a commit that the ledger does
 * not know counts as Backporch's only if it is exactly this one.
 */
import type { FileChange } from '@backporch/git-store/package-repository'
import { shortenBranch } from '@backporch/git-store/ref-name'
import { NO_FUNCTIONS } from '@backporch/kpt/function'
import { parseKptAnnotations } from '@backporch/kpt/kptfile'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import { formatHouseMessage } from '../../policy/house-rules.ts'
import { buildProposal } from '../../proposal/build-proposal.ts'
import { reportPath } from '../../proposal/text/proposal-footer.ts'
import { reportText, wantsReport } from '../../proposal/text/report-text.ts'
import { formatProposalMessage } from '../../record/commit-message.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { formatTravellingRecordPath, recordPath } from '../../record/record-paths.ts'
import { formatInertDocument, isSameDocument } from '../../record/write-document.ts'
import { RENDERED_BY_KPT } from '../../sources/build/render-choice.ts'
import type { Observation, OpenBranch } from '../observation/observation.ts'
import { planReconcile } from '../unit/plan-reconcile.ts'
import { alignRecord, computeCauseKey } from './joint/joint-proposal.ts'

export interface ExpectedCommit {
  readonly changes: readonly FileChange[]
  /** One of these, without the sign-off that git's adapter adds. */
  readonly messages: readonly string[]
}

export interface CurrentCommit {
  readonly message: string
  /** Kptfile and .krmignore, if present, in the commit that the branch was built on. */
  readonly before: PackageFiles
}

/**
 * With a signing key, a commit without Backporch's signature must follow from the policy alone. If
 * the ledger has another commit of the branch, no choice of a person in the record is trusted:
 * neither a resolution nor its reason. If the ledger has no commit of it, the record is trusted if
 * everything else follows from it.
 * @returns why the record cannot be Backporch's or can no longer be rebuilt, as part of a sentence
 * @throws the request for the answer of a function or a program
 */
export function resolveExpectedCommit(
  observed: Observation,
  branch: OpenBranch,
  openProposal: CurrentCommit,
): ExpectedCommit | string {
  const { record, others, state } = branch
  const { spec } = record
  const unsigned = branch.signed === false
  const believed = branch.known === undefined && !unsigned
  if (others.length === 0 && record.metadata.name !== branch.workspace)
    return 'its record belongs to another proposal'
  if (spec.lifecycle !== (state === 'drafts' ? 'Draft' : 'Proposed'))
    return 'the state in its record differs from that of the branch'
  const away = others.flatMap((other) => (other.record === undefined ? [] : [other.record]))
  if (away.length < others.length || away.some((other) => !isAlike(other, record)))
    return 'one of its records differs from the others'
  if (!believed && hasWords(record))
    return 'its record has a choice of a person that is not recorded elsewhere'
  // Without a signature, its entry in the ledger may have the same writer: then there is no trusted
  // choice.
  const like = unsigned
    ? { ...record, spec: { ...record.spec, changes: [] } }
    : believed
      ? record
      : findLedgerRecord(observed, record)
  if (like === undefined) return 'the ledger has another proposal as the open one'
  const files =
    computeCurrentFiles(observed, branch, like) ??
    (believed ? computeEarlierFiles(observed, branch, openProposal) : undefined)
  if (files === undefined) return 'its content is not what backporch writes'
  const travelling =
    observed.policy.approval === 'porch'
      ? formatTravellingRecordPath(observed.unit.packagePath)
      : undefined
  const paths = new Set([
    getOwnPath(observed, record),
    reportPath(observed.unit.cluster, observed.unit.slug),
    travelling,
  ])
  const rest = files.filter(({ path }) => !paths.has(path))
  return {
    changes: [
      ...rest,
      ...[record, ...away].flatMap((one) => recordFiles(one, observed.unit.slug, state)),
      ...(travelling === undefined
        ? []
        : [{ path: travelling, content: encodeText(formatInertDocument(record)) }]),
    ],
    messages: listMessages(observed, branch, [record, ...away], openProposal.message),
  }
}

function isAlike(other: DriftRecord, record: DriftRecord): boolean {
  return (
    computeCauseKey(other) === computeCauseKey(record) &&
    isSameDocument(alignRecord(other, record), other)
  )
}

function hasWords({ spec }: DriftRecord): boolean {
  return (
    [spec.message, spec.plannedBy, spec.plannedBefore].some((word) => word !== undefined) ||
    (spec.excludes ?? []).length > 0
  )
}

function findLedgerRecord({ git }: Observation, record: DriftRecord): DriftRecord | undefined {
  const { report } = git.ledger
  if (report === undefined || report.status.episode !== record.spec.episode) return undefined
  return { ...record, spec: { ...record.spec, changes: report.spec.changes } }
}

/** Undefined if this turn's record would differ from the present one. */
function computeCurrentFiles(
  observed: Observation,
  branch: OpenBranch,
  like: DriftRecord,
): readonly FileChange[] | undefined {
  const own = { ...branch, record: like, foreign: false, outdated: true }
  const observation = { ...observed, git: { ...observed.git, branches: [own], unreadable: [] } }
  const { ref, workspace, others } = branch
  try {
    const joint = others.length === 0 ? undefined : { ref, workspace, like, files: true }
    const plan = planReconcile(observation, joint === undefined ? {} : { joint })
    if (plan.record === undefined || plan.branch !== shortenBranch(ref)) return undefined
    if (!isSameDocument(omitTimes(plan.record), omitTimes(branch.record))) return undefined
    const { notes } = branch.record.spec
    if (notes !== undefined && notes.join() !== plan.record.spec.notes?.join()) return undefined
    return plan.joint ?? plan.writes.commits.find(({ name }) => name === plan.branch)?.changes
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}

/** A Restore edits only the Kptfile's condition, whatever live and the base branch are now. */
function computeEarlierFiles(
  { unit, key }: Observation,
  { record, workspace, state }: OpenBranch,
  { before }: CurrentCommit,
) {
  const { plan, changes } = record.spec
  if (
    plan !== 'Restore' ||
    changes.length === 0 ||
    changes.some(({ resolution }) => resolution !== 'Restore')
  )
    return undefined
  const { changes: files } = buildProposal({
    packagePath: unit.packagePath,
    files: before,
    choice: RENDERED_BY_KPT,
    pipeline: false,
    functions: NO_FUNCTIONS,
    changes: [],
    plan,
    workspace,
    lifecycle: state === 'drafts' ? 'Draft' : 'Proposed',
    record: { path: '', content: null },
    derived: key.derived,
  })
  return files.filter(({ path }) => path !== '')
}

function omitTimes({ spec: { notes: _notes, ...spec } }: DriftRecord): object {
  const { commit: _commit, revision: _revision, ...unit } = spec.unit
  const { at: _at, seenAt: _seen, ...observed } = spec.observed
  return { ...spec, unit, observed }
}

function getOwnPath({ unit }: Observation, { spec }: DriftRecord): string {
  return recordPath(unit.cluster, unit.slug, spec.began, spec.episode)
}

function recordFiles(record: DriftRecord, slug: string, state: OpenBranch['state']): FileChange[] {
  const { unit, began, episode } = record.spec
  const own = {
    path: recordPath(unit.cluster, slug, began, episode),
    content: encodeText(formatInertDocument(record)),
  }
  if (state === 'drafts' || !wantsReport(record)) return [own]
  return [own, { path: reportPath(unit.cluster, slug), content: encodeText(reportText(record)) }]
}

function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function listMessages(
  { unit, git, policy }: Observation,
  branch: OpenBranch,
  records: readonly DriftRecord[],
  message: string,
): string[] {
  const lifecycle = branch.state === 'drafts' ? 'Draft' : 'Proposed'
  const joint = records.length === 1 ? {} : { joint: { workspace: branch.workspace, records } }
  // The revision compared then may no longer be the latest; it decides nothing.
  const text = parseKptAnnotations(message).annotations.flatMap(({ task }) =>
    task === undefined ? [] : [task.source],
  )
  const sources = new Set([git.publishedName, ...text])
  return records.flatMap((record) =>
    [...sources].flatMap((sourceRevision) => {
      const subject = {
        record,
        slug: unit.slug,
        packageName: unit.packageName,
        sourceRevision,
        ...joint,
      }
      const written = formatProposalMessage(subject, lifecycle)
      return [...new Set([written, formatHouseMessage(written, policy.house.commit)])]
    }),
  )
}

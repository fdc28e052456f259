/** Statuses of a proposal's head commit (`ux.md` §2.5). No time in them: the same state is the same text, and is not sent again. */
import type { CommitStatus } from '../ports/hosted-forge.ts'
import { oneLine } from '../record/one-line.ts'
import { nobodyApplies, type ProposalSubject } from './proposal-subject.ts'

const LIMIT = 140

/** @param complete whether everything of the unit could be observed: otherwise nobody can say that live is still what was reviewed */
export function proposalStatuses(subject: ProposalSubject, complete: boolean): CommitStatus[] {
  const { policy, applier, record, ledgerUrl } = subject
  const make = (context: string, state: CommitStatus['state'], description: string): CommitStatus => ({
    context,
    state,
    description: oneLine(description, LIMIT),
    url: ledgerUrl,
  })
  const fingerprint = record.spec.fingerprint.slice('sha256:'.length, 'sha256:'.length + 8)
  const restores = record.spec.changes.some(({ resolution }) => resolution === 'Restore')
  const edits = record.spec.plan !== 'Restore'
  return [
    complete
      ? make('drift/fresh', 'success', `the cluster is as recorded here (${fingerprint})`)
      : make('drift/fresh', 'pending', 'not everything could be observed: this may be out of date'),
    make('drift/render', 'success', edits ? 'with these edits git gives what is planned, and nothing else moves' : 'no manifest changes'),
    make('drift/policy', 'success', `${policy.name}: ${policy.mode}, as ${policy.place ?? 'shipped'} says`),
    ...(restores
      ? [
          record.spec.settle === 'backporch'
            ? make('drift/applier', 'success', 'backporch restores exactly these fields after the merge')
            : nobodyApplies(subject) || applier.warning !== undefined
              ? make('drift/applier', 'failure', applier.warning ?? applier.sentence)
              : make('drift/applier', 'success', `${applier.name}: ${applier.sentence}`),
        ]
      : []),
  ]
}

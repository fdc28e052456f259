/** Labels by which people filter pull requests. */
import type { Change, Plan } from '../../record/schema.ts'
import { nobodyApplies, type ProposalState, type ProposalSubject, worstRisk } from './proposal-subject.ts'

/** Every label that Backporch uses, for `init` to create: with what it says. */
export const LABELS: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'drift', description: 'a cluster and git differ' },
  { name: 'drift-plan/restore', description: 'merging brings the cluster back to git' },
  { name: 'drift-plan/adopt', description: 'merging makes git say what the cluster has' },
  { name: 'drift-plan/release', description: 'merging makes git stop managing the fields' },
  { name: 'drift-plan/mixed', description: 'merging does different things for different changes' },
  { name: 'drift-risk/critical', description: 'who may do what, or what protects a cluster, changed' },
  { name: 'drift-risk/high', description: 'what runs, or how it is reached, changed' },
  { name: 'drift-risk/medium', description: 'configuration changed' },
  { name: 'drift-risk/low', description: 'labels or annotations changed' },
  { name: 'drift-state/stale', description: 'waits long for a decision' },
  { name: 'drift-state/edited', description: 'somebody else pushed to the branch' },
  { name: 'drift-state/snoozed', description: 'no reminders for now' },
  { name: 'drift-state/no-applier', description: 'nobody applies the package after the merge' },
  { name: 'drift-state/storm', description: 'very many packages drift at once' },
]

export function planLabel(plan: Plan): string {
  return `drift-plan/${plan.toLowerCase()}`
}

export function riskLabel(risk: Change['risk']): string {
  return `drift-risk/${risk}`
}

const STATES = new Set(['stale', 'edited', 'snoozed', 'storm'])

export function stateLabels(states: readonly ProposalState[]): readonly string[] {
  return states.filter(({ kind }) => STATES.has(kind)).map(({ kind }) => `drift-state/${kind}`)
}

/** Sorted, so that the same proposal has the same list. */
export function proposalLabels(subject: ProposalSubject): readonly string[] {
  const { changes, plan } = subject.record.spec
  const labels = ['drift', planLabel(plan), riskLabel(worstRisk(changes)), ...stateLabels(subject.states)]
  return [...new Set(nobodyApplies(subject) ? [...labels, 'drift-state/no-applier'] : labels)].sort()
}

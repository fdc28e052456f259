/** Labels by which people filter pull requests. */
import type { Change, Plan } from '../../record/schema.ts'
import { nobodyApplies, type ProposalState, type ProposalSubject, worstRisk } from './proposal-subject.ts'

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

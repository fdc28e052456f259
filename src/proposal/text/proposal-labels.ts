import type { Change } from '../../record/documents/change.ts'
import type { Plan } from '../../record/documents/drift-record.ts'
import { getWorstRisk, type ProposalState, type ProposalText } from './proposal-subject.ts'

const STATES = new Set<ProposalState['kind']>(['stale', 'edited', 'snoozed', 'storm'])
const DRAFTS = new Set<ProposalState['kind']>(['changing', 'render-failed', 'storm'])

interface Labelled {
  readonly changes: readonly Change[]
  readonly plan: Plan
  readonly states: readonly ProposalState[]
}

/** Sorted, so that the same proposal has the same list. */
export function createLabels(
  { changes, plan, states }: Labelled,
  more: readonly string[] = [],
): Pick<ProposalText, 'labels' | 'draft'> {
  const own = states.filter(({ kind }) => STATES.has(kind)).map(({ kind }) => `drift-state/${kind}`)
  const labels = [
    'drift',
    `drift-plan/${plan.toLowerCase()}`,
    `drift-risk/${getWorstRisk(changes)}`,
    ...own,
    ...more,
  ]
  return { labels: [...new Set(labels)].sort(), draft: states.some(({ kind }) => DRAFTS.has(kind)) }
}

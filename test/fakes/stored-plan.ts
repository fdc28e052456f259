/** A turn whose plan is printed as JSON and read back before it is applied. */
import assert from 'node:assert/strict'
import type { TurnAction } from '../../src/plan/turn/turn-action.ts'
import { ProposalTurns } from '../../src/reconcile/observe/proposal-turns.ts'
import { RefusedRefs } from '../../src/reconcile/observe/refused-refs.ts'
import type { FleetPorts, TurnRequest } from '../../src/reconcile/observe/turn-request.ts'
import { type AppliedTurn, applyTurn } from '../../src/reconcile/turn/apply-turn.ts'
import { observeTurn } from '../../src/reconcile/turn/observe-turn.ts'
import { proveTurn } from '../../src/reconcile/turn/prove-turn.ts'
import { settleDecisions } from '../../src/reconcile/turn/settle.ts'

export interface StoredTurn {
  readonly actions: readonly TurnAction[]
  readonly applied: AppliedTurn
}

/** Plans what was observed twice, which has to give the same bytes. */
export async function applyStored(ports: FleetPorts, request: TurnRequest): Promise<StoredTurn> {
  const { signal } = new AbortController()
  const refusedRefs = new RefusedRefs()
  const obstacles = { changed: new Set<string>(), unread: new Map() }
  const { view, observed } = await observeTurn(
    ports,
    { ...request, obstacles, refusedRefs },
    signal,
  )
  const proof = { repository: ports.repository, renderer: request.renderer }
  const text = JSON.stringify((await proveTurn(observed, proof, signal)).actions)
  assert.equal(JSON.stringify((await proveTurn(observed, proof, signal)).actions), text)
  const actions: readonly TurnAction[] = JSON.parse(text)
  const applied = await applyTurn(
    actions,
    {
      ...ports,
      settle: (action) => settleDecisions(ports, request, action, signal),
      view,
      at: observed.clock.observedAt || observed.clock.present,
      dryRun: request.mode === 'rehearse',
      requestedActions: request.forge.requestedActions,
      refusedRefs,
      proposalTurns: new ProposalTurns(),
      obstacles,
      now: request.clock.now().getTime(),
    },
    signal,
  )
  return { actions, applied }
}

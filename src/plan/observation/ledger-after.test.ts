import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import { observationOf, turnOf } from '../../../test/fakes/observation-builder.ts'
import { planTurn } from '../turn/plan-turn.ts'
import { computeLedgerAfter } from './ledger-after.ts'

const EMPTY = { reports: new Map(), closed: new Map(), clusters: new Map() }

test('the ledger after a turn has the written files and lacks removed and unreadable ones', () => {
  const { units, actions } = planTurn(turnOf([observationOf([driftOf('spec.replicas')])]))
  const push = actions.find((action) => action.kind === 'push')
  const files = [
    ...units.flatMap((unit) => (unit.state === 'planned' ? unit.plan.writes.ledger : [])),
    ...(push?.clusters ?? []).flatMap(({ ledger }) => ledger),
  ]
  const after = computeLedgerAfter(EMPTY, files)
  assert.deepEqual([...after.reports.keys()], ['clusters/prod/apps--web'])
  assert.deepEqual([...after.clusters.keys()], ['prod'])
  assert.equal(after.closed.size, 0)
  const gone = computeLedgerAfter(after, [
    { path: 'clusters/prod/apps--web/report.yaml', text: null },
  ])
  assert.deepEqual([gone.reports.size, gone.clusters.size], [0, 1])
  const broken = computeLedgerAfter(after, [
    { path: 'clusters/prod/apps--web/report.yaml', text: 'kind: Other' },
    { path: 'clusters/prod/observation.yaml', text: 'kind: Other' },
  ])
  assert.deepEqual([broken.reports.size, broken.clusters.size], [0, 1])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reportOf } from '../../../../test/fakes/drift-package.ts'
import { changeOf } from '../../../../test/fakes/record-samples.ts'
import { parsePolicyFiles } from '../../../policy/parse-policy.ts'
import type { Change } from '../../../record/documents/change.ts'
import { buildDashboard } from './plan-dashboard.ts'

test('pending decisions are sorted by risk, then by age', () => {
  const drifted = (cluster: string, risk: Change['risk'], since: string) => {
    const report = reportOf([changeOf({ risk })], {
      since,
      lifecycle: 'Proposed',
      episode: cluster,
    })
    return [
      cluster,
      { ...report, spec: { ...report.spec, unit: { ...report.spec.unit, cluster } } },
    ] as const
  }
  const reports = [
    drifted('old-medium', 'medium', '2026-08-01T10:00:00Z'),
    drifted('new-critical', 'critical', '2026-11-21T09:00:00Z'),
    drifted('new-medium', 'medium', '2026-11-20T10:00:00Z'),
    drifted('old-critical', 'critical', '2026-11-01T10:00:00Z'),
  ]
  const { undecided } = buildDashboard({
    ledger: { reports: new Map(reports), closed: new Map(), clusters: new Map() },
    policies: parsePolicyFiles([]),
    notObserved: [],
    proposals: new Map(),
    urlOf: () => '',
    now: '2026-11-21T10:00:00Z',
  })
  assert.deepEqual(
    undecided.map(({ cluster }) => cluster),
    ['old-critical', 'new-critical', 'old-medium', 'new-medium'],
  )
  assert.notEqual(undecided[2]?.overdue, undefined)
})

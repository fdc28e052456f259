import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GITEA } from '../../../test/fakes/dialects.ts'
import type { DashboardSubject } from './dashboard-subject.ts'
import { formatDashboard } from './dashboard-text.ts'
import { readDashboardTicks } from './dashboard-ticks.ts'

const unit = (cluster: string, label?: string): DashboardSubject['undecided'][number] => ({
  cluster,
  packageName: 'platform/trust',
  changes: 1,
  risk: 'medium',
  since: '2026-08-21T14:03:00Z',
  url: '',
  proposal: { label, url: label === undefined ? '' : `https://forge.example/pulls/${label}` },
  plan: 'Restore',
  waits: false,
})

function text(
  undecided: DashboardSubject['undecided'],
  more: Partial<DashboardSubject> = {},
): string {
  const none = {
    held: [],
    snoozed: [],
    silenced: [],
    recorded: [],
    failed: [],
    stuck: [],
    notAdoptable: [],
    notObserved: [],
    ignores: [],
    staleRules: [],
  }
  const counts = {
    packages: 4,
    clusters: 4,
    newsAt: '2026-08-21T14:31:00Z',
    drifted: undecided.length,
  }
  return formatDashboard({
    ...none,
    ...counts,
    undecided,
    limits: { hourly: 2, concurrent: 10 },
    dialect: GITEA,
    version: '0.0.0',
    ...more,
  }).body
}

test('clusters that share one pull request share one row', () => {
  const body = text([
    unit('edge-01', '#4'),
    unit('prod', '#1'),
    unit('edge-02', '#4'),
    unit('edge-03', '#4'),
  ])
  assert.match(body, /^\*\*Needs a decision\*\* \(2\)$/m)
  assert.equal(body.split('\n').filter((line) => line.includes('`#4`')).length, 1)
  assert.match(body, /`#4`.* 3 clusters \|.*\n.*`#1`.*`prod`/)
})

test('each proposal without a number has its own row', () => {
  assert.match(text([unit('edge-01'), unit('edge-02')]), /`edge-01`.*\n.*`edge-02`/)
})

test('held proposals are grouped by reason, in the order of the units', () => {
  const held = (cluster: string, id: string, why: string) => ({
    ...unit(cluster),
    id,
    why,
    until: undefined,
  })
  const [limit, freeze] = [
    'the policy allows 2 new proposals in an hour',
    'the window freeze of the policy is open',
  ]
  const body = text([], {
    held: [
      held('a', '0'.repeat(16), limit),
      held('b', '1'.repeat(16), freeze),
      held('c', '2'.repeat(16), limit),
    ],
  })
  assert.equal(body.split(limit.slice(1)).length, 2)
  assert.match(
    body,
    /^The policy allows.*:\n\n- \[ \] .*`a`.*\n- \[ \] .*`c`.*\n\nThe window.*:\n\n- \[ \] .*`b`/m,
  )
  assert.deepEqual([...readDashboardTicks(body.replaceAll('- [ ]', '- [x]')).open].sort(), [
    '0'.repeat(16),
    '1'.repeat(16),
    '2'.repeat(16),
  ])
})

test('equal rows of several clusters merge into one row with their count', () => {
  const clusters = ['edge-01', 'edge-02', 'edge-03', 'edge-04', 'edge-05']
  const recorded = [
    ...clusters.map((cluster) => ({
      ...unit(cluster),
      since: `2026-08-${30 - Number(cluster.slice(-1))}T14:03:00Z`,
    })),
  ]
  const body = text([], { recorded: [...recorded, { ...unit('edge-01'), risk: 'low' }] })
  assert.match(body, /^\*\*Recorded only\*\* \(6\)$/m)
  assert.match(
    body,
    /^\| `platform\/trust` \| `edge-01`, `edge-02`, `edge-03` and 2 more \| medium \| 1 \| 2026-08-25 14:03 UTC \|$/m,
  )
  assert.equal(body.split('`platform/trust`').length - 1, 2)
})

test('omitted rows are counted by the units they stand for', () => {
  const recorded = Array.from({ length: 40 }, (_, index) =>
    ['a', 'b'].map((cluster) => ({ ...unit(cluster), packageName: `apps/${index}` })),
  )
  assert.match(text([], { recorded: recorded.flat() }), /And 20 more: /)
})

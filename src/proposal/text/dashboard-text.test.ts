import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GITEA } from '../../../test/fakes/dialects.ts'
import { type DashboardSubject, dashboardText } from './dashboard-text.ts'

const unit = (cluster: string, label: string): DashboardSubject['undecided'][number] => ({
  cluster,
  packageName: 'platform/trust',
  changes: 1,
  risk: 'medium',
  since: '2026-08-21T14:03:00Z',
  url: '',
  proposal: { label, url: label === '' ? '' : `https://forge.example/pulls/${label}` },
  plan: 'Restore',
  waits: false,
})

function text(undecided: DashboardSubject['undecided']): string {
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
  const counts = { packages: 4, clusters: 4, newsAt: '2026-08-21T14:31:00Z', drifted: undecided.length }
  return dashboardText({ ...none, ...counts, undecided, limits: { hourly: 2, concurrent: 10 }, dialect: GITEA, version: '0.0.0' }).body
}

test('the clusters that one pull request decides about are one row', () => {
  const body = text([unit('edge-01', '#4'), unit('prod', '#1'), unit('edge-02', '#4'), unit('edge-03', '#4')])
  assert.match(body, /^\*\*Needs a decision\*\* \(2\)$/m)
  assert.equal(body.split('\n').filter((line) => line.includes('`#4`')).length, 1)
  assert.match(body, /`#4`.* 3 clusters \|.*\n.*`#1`.*`prod`/)
})

test('proposals that have no number yet are a row each', () => {
  assert.match(text([unit('edge-01', ''), unit('edge-02', '')]), /`edge-01`.*\n.*`edge-02`/)
})

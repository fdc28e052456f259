/** Dashboards, made up: as `samples.ts` has proposals. */
import type { DashboardSubject, DashboardUnit } from '../../../src/proposal/text/dashboard-subject.ts'
import { GITHUB } from '../../fakes/dialects.ts'

function dashboardUnit(more: Partial<DashboardUnit> = {}): DashboardUnit {
  return {
    cluster: 'prod-eu-1',
    packageName: 'apps/checkout',
    changes: 2,
    risk: 'medium',
    since: '2026-08-21T14:03:02Z',
    url: 'https://github.example/acme/deploy/blob/drift-ledger/clusters/prod-eu-1/apps--checkout/report.yaml',
    ...more,
  }
}

/** The dashboard with something in every section. */
export const DASHBOARD: DashboardSubject = {
  packages: 214,
  clusters: 12,
  newsAt: '2026-08-21T14:31:02Z',
  drifted: 49,
  failed: [{ ...dashboardUnit({ risk: 'high', changes: 1 }), mergedAt: '2026-08-21T13:31:00Z', revision: 'v13' }],
  undecided: [
    {
      ...dashboardUnit({ risk: 'critical', cluster: 'prod-us-1' }),
      proposal: { label: '#421', url: 'https://github.example/acme/deploy/pull/421' },
      plan: 'Restore',
      waits: false,
    },
    {
      ...dashboardUnit({ since: '2026-08-01T09:00:00Z', cluster: 'edge-07' }),
      proposal: { label: '#402', url: 'https://github.example/acme/deploy/pull/402' },
      plan: 'Restore',
      waits: true,
      overdue: 14 * 86_400,
    },
    {
      ...dashboardUnit({ since: '2026-08-12T09:00:00Z' }),
      proposal: { label: '#418', url: 'https://github.example/acme/deploy/pull/418' },
      plan: 'Mixed',
      waits: true,
    },
    { ...dashboardUnit({ cluster: 'edge-01', risk: 'low' }), proposal: { label: undefined, url: '' }, plan: 'Adopt', waits: false },
  ],
  held: Array.from({ length: 40 }, (_each, index) => ({
    ...dashboardUnit({ cluster: `edge-${String(index + 1).padStart(2, '0')}`, risk: index < 2 ? 'high' : 'low' }),
    id: String(index).padStart(16, '0'),
    why: index === 0 ? 'the window freeze of the policy is open (.drift/default.policy:12)' : 'the policy allows 2 new proposals in an hour',
    until: index < 2 ? '2026-08-21T15:02:00Z' : undefined,
  })),
  snoozed: [
    {
      ...dashboardUnit({ packageName: 'infra/ingress' }),
      proposal: { label: '#402', url: 'https://github.example/acme/deploy/pull/402' },
      until: '2026-08-28T14:31:00Z',
    },
  ],
  silenced: [
    { ...dashboardUnit({ packageName: 'infra/dns' }), id: 'abcdef0123456789', by: 'bob', at: '2026-08-20T10:00:00Z', until: '2026-09-19T10:00:00Z' },
  ],
  recorded: [
    ...['prod-eu-1', 'prod-us-1', 'edge-01', 'edge-02'].map((cluster) => dashboardUnit({ cluster, packageName: 'infra/logging', risk: 'low' })),
    dashboardUnit({ packageName: 'infra/metrics', risk: 'low' }),
  ],
  stuck: [
    {
      ...dashboardUnit({ packageName: 'infra/certs', changes: 0 }),
      stuckSince: '2026-08-21T12:00:00Z',
      why: 'live is what 3f2a91c renders, and the syncer did not apply 9d0c4e1 within 1h',
    },
    { ...dashboardUnit({ packageName: 'infra/queue', cluster: 'edge-02', changes: 0 }), stuckSince: undefined, why: 'live is what 3f2a91c renders' },
  ],
  notAdoptable: [
    {
      cluster: 'prod-eu-1',
      packageName: 'apps/checkout',
      object: 'Secret shop/db',
      field: 'data.password',
      why: 'the value is a credential and is never written to git',
    },
  ],
  notObserved: [
    { cluster: 'edge-07', packageName: undefined, since: '2026-08-21T13:02:00Z', why: 'the cluster cannot be reached (BP3001)' },
    { cluster: 'prod-eu-1', packageName: 'infra/storage', since: undefined, why: 'forbidden: list storageclasses' },
  ],
  staleRules: ['the ignore rule at .drift/default.policy:31 ended on 2026-08-01 and no longer matches anything'],
  ignores: [
    { about: 'Deployment/shop, spec.replicas', where: '.drift/default.policy:14', reason: 'KEDA scales shop', expires: '2026-12-31' },
    { about: 'by linkerd-proxy-injector', where: '.drift/default.policy:18', reason: 'sidecar injection', expires: undefined },
  ],
  limits: { hourly: 2, concurrent: 10 },
  dialect: GITHUB,
  version: '0.4.1',
}

/** One with hostile text wherever somebody's text goes. */
export function dashboardOfText(text: string): DashboardSubject {
  const unit = dashboardUnit({ cluster: text, packageName: text, since: text, url: text })
  const proposal = { label: text, url: text }
  return {
    ...DASHBOARD,
    newsAt: text,
    version: text,
    failed: [{ ...unit, mergedAt: text, revision: text }],
    undecided: [{ ...unit, proposal, plan: 'Restore', waits: true }],
    held: [{ ...unit, id: '0123456789abcdef', why: text, until: text }],
    snoozed: [{ ...unit, proposal, until: text }],
    silenced: [{ ...unit, id: '0123456789abcdef', by: text, at: text, until: text }],
    recorded: [unit],
    stuck: [{ ...unit, stuckSince: text, why: text }],
    notAdoptable: [{ cluster: text, packageName: text, object: text, field: text, why: text }],
    notObserved: [{ cluster: text, packageName: text, since: text, why: text }],
    staleRules: [text],
    ignores: [{ about: text, where: text, reason: text, expires: text }],
  }
}

/** Nothing to do for anybody. */
export const QUIET_DASHBOARD: DashboardSubject = {
  ...DASHBOARD,
  drifted: 0,
  failed: [],
  undecided: [],
  held: [],
  snoozed: [],
  silenced: [],
  recorded: [],
  stuck: [],
  notAdoptable: [],
  notObserved: [],
}

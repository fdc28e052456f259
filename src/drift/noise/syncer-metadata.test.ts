import { test } from 'node:test'
import {
  assertMutes,
  assertNotAbout,
  assertShows,
  type Edit,
} from '../../../test/fakes/noise-samples.ts'

const WEB = 'apps/v1 Deployment shop/web'
const note = (key: string, by: string, live = 'x'): Edit => ({
  of: WEB,
  at: `metadata.annotations["${key}"]`,
  live,
  by,
})
const label = (key: string, by: string, live = 'x'): Edit => ({
  of: WEB,
  at: `metadata.labels["${key}"]`,
  live,
  by,
})

const MARKS: readonly (readonly [tool: string, edit: (by: string) => Edit, by: string])[] = [
  ['Flux', (by) => label('kustomize.toolkit.fluxcd.io/name', by), 'kustomize-controller Apply'],
  ['Flux', (by) => label('helm.toolkit.fluxcd.io/namespace', by), 'helm-controller'],
  ['Argo CD', (by) => note('argocd.argoproj.io/tracking-id', by), 'argocd-controller Apply'],
  ['Argo CD', (by) => label('app.kubernetes.io/instance', by), 'argocd-application-controller'],
  ['Helm', (by) => note('meta.helm.sh/release-name', by), 'helm'],
  ['Helm', (by) => label('app.kubernetes.io/managed-by', by, 'Helm'), 'helm'],
  ['Config Sync', (by) => note('configmanagement.gke.io/token', by), 'configsync.gke.io Apply'],
  ['Config Sync', (by) => note('config.k8s.io/owning-inventory', by), 'configsync.gke.io Apply'],
  ['kpt live', (by) => note('config.k8s.io/owning-inventory', by), 'kpt Apply'],
  ['Sveltos', (by) => note('projectsveltos.io/owner-name', by), 'application/apply-patch Apply'],
  ['Fleet', (by) => note('objectset.rio.cattle.io/id', by), 'fleet-agent'],
  ['kapp', (by) => label('kapp.k14s.io/app', by), 'kapp'],
  ['Kluctl', (by) => label('kluctl.io/discriminator', by), 'kluctl Apply'],
]

for (const [tool, edit, by] of MARKS) {
  test(`${tool}: ${edit(by).at} by ${by} is its own mark, by a person it is drift`, () => {
    assertMutes('syncer-metadata', edit(by), {}, /marks with it what it applies$/)
    assertMutes('syncer-metadata', edit('ci Apply'), {}, /^the syncer ci marks/)
    assertShows(
      'syncer-metadata',
      edit('kubectl-annotate'),
      {},
      /^kubectl-annotate wrote it, and not /,
    )
    assertShows('syncer-metadata', edit(''), {}, /an unknown writer/)
  })
}

test('other metadata by a tool, and a shared label with another value, is not a mark', () => {
  assertNotAbout('syncer-metadata', label('team', 'kustomize-controller Apply'))
  assertNotAbout('syncer-metadata', label('app.kubernetes.io/managed-by', 'helm', 'me'))
  assertNotAbout('syncer-metadata', {
    ...note('meta.helm.sh/release-name', 'helm'),
    at: 'spec.template.metadata.annotations["meta.helm.sh/release-name"]',
  })
  assertNotAbout('syncer-metadata', { of: WEB, at: 'spec.replicas', live: 3, by: 'helm' })
  // Argo CD's page is in the hands of people.
  assertShows('syncer-metadata', note('argocd.argoproj.io/tracking-id', 'argocd-server'))
  assertShows(
    'syncer-metadata',
    note('argocd.argoproj.io/tracking-id', 'helm'),
    {},
    /helm wrote it, and not Argo CD/,
  )
})

const LAST = 'kubectl.kubernetes.io/last-applied-configuration'
const APPLIED = '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}'

test('mutes the last-applied annotation of this object only by tools that apply', () => {
  for (const by of [
    'kubectl-client-side-apply',
    'kubectl-last-applied Apply',
    'kubectl-create',
    'kpt',
    'argocd-controller',
    'ci Apply',
  ])
    assertMutes('kubectl-last-applied', note(LAST, by, APPLIED))
  assertShows(
    'kubectl-last-applied',
    note(LAST, 'kubectl-annotate', APPLIED),
    {},
    /not a tool that applies/,
  )
  assertShows('kubectl-last-applied', note(LAST, 'kubectl-edit', APPLIED))
  assertShows('kubectl-last-applied', note(LAST, 'argocd-server', APPLIED))
  assertShows(
    'kubectl-last-applied',
    note(LAST, 'kubectl-client-side-apply', APPLIED.replace('web', 'api')),
    {},
    /does not hold this object/,
  )
  assertShows(
    'kubectl-last-applied',
    note(LAST, 'kubectl-client-side-apply', '{'),
    {},
    /does not hold this object/,
  )
  assertNotAbout(
    'kubectl-last-applied',
    note('kubectl.kubernetes.io/other', 'kubectl-client-side-apply', APPLIED),
  )
})

for (const [rule, key] of [
  ['depends-on', 'config.kubernetes.io/depends-on'],
  ['depends-on', 'config.kubernetes.io/apply-time-mutation'],
  ['client-lifecycle', 'client.lifecycle.config.k8s.io/mutation'],
  ['client-lifecycle', 'client.lifecycle.config.k8s.io/deletion'],
  ['client-lifecycle', 'cli-utils.sigs.k8s.io/on-remove'],
] as const) {
  test(`${key}: mutes it for the syncer; a person who sets it causes drift`, () => {
    assertMutes(rule, note(key, 'ci Apply'), {}, /^the syncer ci keeps/)
    assertMutes(rule, note(key, 'configsync.gke.io Apply'))
    assertShows(rule, note(key, 'kubectl-annotate'), {}, /not a known syncer/)
    assertNotAbout(rule, note('example.com/note', 'ci Apply'))
  })
}

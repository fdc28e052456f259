import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import {
  annotated,
  assertMutes,
  assertNotAbout,
  assertShows,
  type Edit,
} from '../../../test/fakes/noise-samples.ts'
import type { Surroundings } from './noise-rule.ts'

/** The head of a PEM certificate in base64, and more of it. */
const BUNDLE = Buffer.from(
  '-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQnoNotReal\n-----END CERTIFICATE-----\n',
).toString('base64')
const HOOK = 'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration check'
const bundle = (by: string, more: Partial<Edit> = {}): Edit => ({
  of: HOOK,
  at: 'webhooks[name=a.example.com].clientConfig.caBundle',
  live: BUNDLE,
  by,
  ...more,
})
const requested = { desired: annotated({ 'cert-manager.io/inject-ca-from': 'shop/serving' }) }

test('a requested CA bundle belongs to the injector in all four kinds, whatever git holds', () => {
  assertMutes(
    'ca-bundle',
    bundle('cainjector'),
    requested,
    /^git asks for it with the annotation cert-manager\.io\/inject-ca-from$/,
  )
  assertMutes('ca-bundle', bundle('cainjector Apply', { git: 'b2xk' }), requested)
  assertMutes('ca-bundle', bundle('some-process'), {
    desired: annotated({ 'service.beta.openshift.io/inject-cabundle': 'true' }),
  })
  const locations: readonly (readonly [of: string, at: string])[] = [
    [
      'admissionregistration.k8s.io/v1 MutatingWebhookConfiguration fill',
      'webhooks[name=a.example.com].clientConfig.caBundle',
    ],
    [
      'apiextensions.k8s.io/v1 CustomResourceDefinition x.example.com',
      'spec.conversion.webhook.clientConfig.caBundle',
    ],
    ['apiregistration.k8s.io/v1 APIService v1.example.com', 'spec.caBundle'],
  ]
  for (const [of, at] of locations)
    assertMutes('ca-bundle', bundle('cainjector', { of, at }), requested)
})

test('known injectors and controllers may fill in a CA bundle that git omits', () => {
  for (const by of [
    'cainjector',
    'pilot-discovery',
    'kube-webhook-certgen',
    'gatekeeper',
    'my-operator',
  ])
    assertMutes(
      'ca-bundle',
      bundle(by),
      {},
      new RegExp(`^git leaves it open, and ${by} filled it in$`),
    )
  for (const git of ['', 'Cg=='])
    assertMutes('ca-bundle', bundle('cainjector', { git, change: 'modified' }))
  assertShows('ca-bundle', bundle('some-process'), {}, /some-process is not a known injector/)
  assertShows('ca-bundle', bundle(''), {}, /an unknown writer is not a known injector/)
})

test('shows a CA bundle of a person, one that contradicts git, and one that is not a certificate', () => {
  assertShows(
    'ca-bundle',
    bundle('kubectl-edit'),
    requested,
    /^kubectl-edit wrote it, which is not an injector$/,
  )
  assertShows('ca-bundle', bundle('kubectl-patch'), {}, /kubectl-patch/)
  assertShows(
    'ca-bundle',
    bundle('cainjector', { git: BUNDLE, live: `${BUNDLE}x` }),
    {},
    /git has a CA bundle of its own/,
  )
  assertShows(
    'ca-bundle',
    bundle('cainjector', { live: 'bm90IGEgY2VydGlmaWNhdGU=' }),
    requested,
    /no PEM certificate/,
  )
  // The annotation of a live object may be set by whoever wrote the bundle.
  assertShows('ca-bundle', bundle('some-process'), {
    live: annotated({ 'cert-manager.io/inject-ca-from': 'x/y' }),
  })
  assertNotAbout(
    'ca-bundle',
    bundle('cainjector', {
      at: 'webhooks[name=a.example.com].clientConfig.url',
      live: 'https://x',
    }),
    requested,
  )
  assertNotAbout(
    'ca-bundle',
    bundle('cainjector', { at: 'webhooks[name=a.example.com].failurePolicy', live: 'Ignore' }),
    requested,
  )
  assertNotAbout(
    'ca-bundle',
    bundle('cainjector', { change: 'removed', git: BUNDLE, live: undefined }),
    requested,
  )
})

const POD = 'v1 Pod shop/web'
const WORKLOAD = 'apps/v1 Deployment shop/web'
const injected = (mark: string): Partial<Surroundings> => ({ live: annotated({ [mark]: 'x' }) })
const templated = (mark: string): Partial<Surroundings> => ({
  live: { spec: { template: annotated({ [mark]: 'x' }) } },
})
const added = (
  of: string,
  at: string,
  by: string,
  live: JsonObject | string = { name: 'x' },
): Edit => ({ of, at, live, by })

for (const [mesh, mark, container, volume, key, writer] of [
  [
    'istio',
    'sidecar.istio.io/status',
    'istio-proxy',
    'istio-envoy',
    'sidecar.istio.io/status',
    'istio-sidecar-injector',
  ],
  [
    'linkerd',
    'linkerd.io/proxy-version',
    'linkerd-proxy',
    'linkerd-identity-token',
    'linkerd.io/proxy-version',
    'linkerd-proxy-injector',
  ],
] as const) {
  test(`${mesh}: mutes the marked additions of its injector`, () => {
    for (const by of [writer, '']) {
      assertMutes(
        mesh,
        added(POD, `spec.containers[name=${container}]`, by),
        injected(mark),
        /adds it to the Pod$/,
      )
      assertMutes(mesh, added(POD, `spec.volumes[name=${volume}]`, by), injected(mark))
      assertMutes(mesh, added(POD, `metadata.annotations["${key}"]`, by, '1'), injected(mark))
      assertMutes(
        mesh,
        added(WORKLOAD, `spec.template.spec.initContainers[name=${container}]`, by),
        templated(mark),
      )
      assertMutes(
        mesh,
        added(WORKLOAD, `spec.template.metadata.annotations["${key}"]`, by, '1'),
        templated(mark),
      )
    }
  })

  test(`${mesh}: shows the same by a person, without the mark, and anything beside it`, () => {
    assertShows(
      mesh,
      added(POD, `spec.containers[name=${container}]`, 'kubectl-edit'),
      injected(mark),
      /^kubectl-edit wrote it/,
    )
    assertShows(
      mesh,
      added(POD, `spec.containers[name=${container}]`, writer),
      {},
      /annotation .* is missing/,
    )
    assertNotAbout(mesh, added(POD, 'spec.containers[name=shell]', writer), injected(mark))
    assertNotAbout(mesh, added(POD, 'spec.volumes[name=host]', writer), injected(mark))
    assertNotAbout(mesh, added(POD, 'metadata.labels.team', writer, 'a'), injected(mark))
    assertNotAbout(
      mesh,
      { of: POD, at: `spec.containers[name=${container}].image`, git: 'a', live: 'b', by: writer },
      injected(mark),
    )
    assertNotAbout(
      mesh,
      added('v1 ConfigMap shop/web', `metadata.annotations["${key}"]`, writer, '1'),
    )
  })
}

test('mutes the mark of the Prometheus operator webhook, and nothing else of a rule', () => {
  const rule = 'monitoring.coreos.com/v1 PrometheusRule shop/alerts'
  const mark = (live: string, by: string): Edit =>
    added(rule, 'metadata.annotations["prometheus-operator-validated"]', by, live)
  assertMutes('prometheus-operator', mark('true', 'helm Update'))
  assertMutes('prometheus-operator', mark('true', ''))
  assertShows(
    'prometheus-operator',
    mark('true', 'kubectl-annotate'),
    {},
    /kubectl-annotate wrote it/,
  )
  assertShows('prometheus-operator', mark('false', ''), {}, /writes true/)
  assertNotAbout('prometheus-operator', {
    of: rule,
    at: 'spec.groups[name=a].rules',
    git: [],
    live: [{}],
    by: '',
  })
})

test('mutes the eviction policy that a webhook fills into a disruption budget, but not the budget', () => {
  const budget = 'policy/v1 PodDisruptionBudget shop/web'
  const policy = (by: string, live = 'AlwaysAllow'): Edit =>
    added(budget, 'spec.unhealthyPodEvictionPolicy', by, live)
  assertMutes('disruption-budget-webhooks', policy('pdb-webhook'))
  assertMutes('disruption-budget-webhooks', policy(''))
  assertShows(
    'disruption-budget-webhooks',
    policy('kubectl-edit'),
    {},
    /kubectl-edit wrote it, which is not a webhook/,
  )
  assertShows(
    'disruption-budget-webhooks',
    policy('pdb-webhook', 'Sometimes'),
    {},
    /it does not hold a policy of the API/,
  )
  assertNotAbout('disruption-budget-webhooks', {
    of: budget,
    at: 'spec.minAvailable',
    git: 2,
    live: 0,
    by: 'pdb-webhook',
  })
})

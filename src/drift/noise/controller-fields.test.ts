import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import {
  annotated,
  assertMutes,
  assertNotAbout,
  assertShows,
  type Edit,
} from '../../../test/fakes/noise-samples.ts'

const KCM = 'kube-controller-manager'
const CLAIM = 'v1 PersistentVolumeClaim shop/data'
const add = (of: string, at: string, live: Json, by: string): Edit => ({ of, at, live, by })
const grown = (live: string, by: string): Edit => ({
  of: CLAIM,
  at: 'spec.resources.requests.storage',
  git: '10Gi',
  live,
  by,
})
const limited = { desired: annotated({ 'resize.topolvm.io/storage_limit': '20Gi' }) }

test('mutes a claim that the autoresizer enlarged, up to the limit in git', () => {
  assertMutes('volume-expansion', grown('15Gi', 'pvc-autoresizer'), limited)
  assertMutes('volume-expansion', grown('20480Mi', 'pvc-autoresizer'), limited)
  assertShows(
    'volume-expansion',
    grown('21Gi', 'pvc-autoresizer'),
    limited,
    /larger than the limit/,
  )
  assertShows('volume-expansion', grown('15Gi', 'pvc-autoresizer'), {}, /git sets no limit/)
  // A limit that was set in the cluster is no limit that somebody reviewed.
  assertShows(
    'volume-expansion',
    grown('15Gi', 'pvc-autoresizer'),
    { live: limited.desired },
    /git sets no limit/,
  )
})

test('a claim that a person enlarged is drift that only git can follow; a smaller one is drift', () => {
  assertShows(
    'volume-expansion',
    grown('15Gi', 'kubectl-edit'),
    limited,
    /^kubectl-edit made the claim larger; it cannot shrink again/,
  )
  assertShows('volume-expansion', grown('15Gi', KCM), limited, /cannot shrink/)
  assertShows('volume-expansion', grown('5Gi', 'pvc-autoresizer'), limited, /did not grow/)
  assertNotAbout(
    'volume-expansion',
    { ...grown('15Gi', 'pvc-autoresizer'), at: 'spec.accessModes' },
    limited,
  )
  assertNotAbout(
    'volume-expansion',
    { ...grown('15Gi', 'pvc-autoresizer'), of: 'apps/v1 StatefulSet shop/db' },
    limited,
  )
})

const ROWS: readonly (readonly [of: string, at: string, by: string])[] = [
  [
    'autoscaling/v1 HorizontalPodAutoscaler shop/web',
    'metadata.annotations["autoscaling.alpha.kubernetes.io/conditions"]',
    KCM,
  ],
  [
    'v1 Endpoints shop/web',
    'metadata.annotations["endpoints.kubernetes.io/last-change-trigger-time"]',
    KCM,
  ],
  ['v1 Pod shop/web', 'spec.nodeName', 'kube-scheduler'],
  ['batch/v1 Job shop/once', 'metadata.annotations["batch.kubernetes.io/job-tracking"]', KCM],
  ['v1 Service shop/web', 'metadata.annotations["cloud.google.com/neg-status"]', 'glbc'],
  [
    'networking.k8s.io/v1 Ingress shop/web',
    'metadata.annotations["ingress.kubernetes.io/backends"]',
    'glbc',
  ],
  [
    'v1 Service shop/web',
    'metadata.annotations["metallb.universe.tf/ip-allocated-from-pool"]',
    'controller',
  ],
  [
    's3.aws.upbound.io/v1 Bucket logs',
    'metadata.annotations["crossplane.io/external-name"]',
    'crossplane-aws-provider',
  ],
  [
    'infrastructure.cluster.x-k8s.io/v1 AWSCluster shop/a',
    'spec.controlPlaneEndpoint.host',
    'manager',
  ],
]

for (const [of, at, by] of ROWS) {
  test(`mutes what a controller reports outside of status: ${at} of ${of.split(' ')[1]}`, () => {
    assertMutes('status-like-fields', add(of, at, 'x', by))
    assertShows(
      'status-like-fields',
      add(of, at, 'x', 'kubectl-edit'),
      {},
      /^kubectl-edit wrote it/,
    )
    assertShows('status-like-fields', { ...add(of, at, 'x', by), git: 'y' }, {}, /^git sets it$/)
    assertNotAbout('status-like-fields', add('v1 ConfigMap shop/web', 'data.x', 'x', by))
  })
}

test('metrics of an autoscaler do not count as status, although an annotation has them', () => {
  assertNotAbout(
    'status-like-fields',
    add(
      ROWS[0]?.[0] ?? '',
      'metadata.annotations["autoscaling.alpha.kubernetes.io/metrics"]',
      '[]',
      KCM,
    ),
  )
})

test('mutes a reconcile request by every writer, only on kinds that support it', () => {
  const at = 'metadata.annotations["reconcile.fluxcd.io/requestedAt"]'
  assertMutes(
    'status-like-fields',
    add('kustomize.toolkit.fluxcd.io/v1 Kustomization flux/shop', at, 'x', 'kubectl-annotate'),
  )
  assertMutes(
    'status-like-fields',
    add(
      'argoproj.io/v1alpha1 Application argocd/shop',
      'metadata.annotations["argocd.argoproj.io/refresh"]',
      'hard',
      'argocd-server',
    ),
  )
  assertNotAbout('status-like-fields', add('v1 ConfigMap shop/web', at, 'x', 'flux'))
  assertNotAbout(
    'status-like-fields',
    add('kustomize.toolkit.fluxcd.io/v1 Kustomization flux/shop', 'spec.suspend', true, 'flux'),
  )
})

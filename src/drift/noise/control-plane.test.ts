import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import {
  assertMutes,
  assertNotAbout,
  assertShows,
  type Edit,
} from '../../../test/fakes/noise-samples.ts'

const KCM = 'kube-controller-manager'
const WEB = 'apps/v1 Deployment shop/web'
const PERSON = 'kubectl-edit'
const add = (of: string, at: string, live: Json, by: string): Edit => ({ of, at, live, by })

test('mutes the token references that the control plane adds to a ServiceAccount', () => {
  const account = 'v1 ServiceAccount shop/robot'
  assertMutes(
    'service-account-tokens',
    add(account, 'secrets[name=robot-token-x7k2p]', { name: 'robot-token-x7k2p' }, KCM),
  )
  const pull = [{ name: 'robot-dockercfg-9bxzt' }]
  assertMutes(
    'service-account-tokens',
    add(account, 'imagePullSecrets', pull, 'openshift-controller-manager'),
  )
  assertShows(
    'service-account-tokens',
    add(account, 'secrets[name=robot-token-x7k2p]', { name: 'robot-token-x7k2p' }, PERSON),
    {},
    /kubectl-edit wrote it/,
  )
  assertShows(
    'service-account-tokens',
    add(account, 'secrets[name=admin-token]', { name: 'admin-token' }, KCM),
    {},
    /does not generate its name for this account/,
  )
  assertShows(
    'service-account-tokens',
    add(account, 'imagePullSecrets', [...pull, { name: 'mine' }], KCM),
    {},
    /does not generate its name for this account/,
  )
  assertShows('service-account-tokens', add(account, 'imagePullSecrets', [], KCM))
  assertNotAbout('service-account-tokens', add(account, 'automountServiceAccountToken', false, KCM))
})

test('mutes the content of a token Secret, and of no other', () => {
  const secret = 'v1 Secret shop/robot-token'
  const token = { live: { type: 'kubernetes.io/service-account-token' } }
  for (const at of [
    'data.token',
    'data["ca.crt"]',
    'data.namespace',
    'metadata.annotations["kubernetes.io/service-account.uid"]',
    'metadata.labels["kubernetes.io/legacy-token-last-used"]',
  ])
    assertMutes('service-account-tokens', add(secret, at, 'x', KCM), token)
  assertShows('service-account-tokens', add(secret, 'data.token', 'x', PERSON), token)
  assertNotAbout('service-account-tokens', add(secret, 'data.password', 'x', KCM), token)
  assertNotAbout('service-account-tokens', add(secret, 'data.token', 'x', KCM), {
    live: { type: 'Opaque' },
    desired: token.live,
  })
  assertMutes(
    'service-account-tokens',
    { of: secret, at: 'data.token', by: KCM },
    { desired: token.live },
  )
})

test('mutes aggregated rules of a ClusterRole while git has the aggregationRule', () => {
  const role = 'rbac.authorization.k8s.io/v1 ClusterRole all'
  const rules: Edit = {
    of: role,
    at: 'rules',
    git: [],
    live: [{ verbs: ['get'] }],
    by: 'clusterrole-aggregation-controller Apply',
  }
  const aggregates = {
    desired: { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } },
  }
  assertMutes('aggregated-cluster-roles', rules, aggregates)
  assertMutes('aggregated-cluster-roles', { ...rules, git: undefined }, aggregates)
  assertShows(
    'aggregated-cluster-roles',
    { ...rules, by: PERSON },
    aggregates,
    /^kubectl-edit wrote the rules/,
  )
  assertShows(
    'aggregated-cluster-roles',
    rules,
    { live: aggregates.desired },
    /git declares no aggregationRule/,
  )
  assertShows('aggregated-cluster-roles', rules, {
    desired: { aggregationRule: { clusterRoleSelectors: [] } },
  })
  assertNotAbout(
    'aggregated-cluster-roles',
    { ...rules, at: 'aggregationRule.clusterRoleSelectors' },
    aggregates,
  )
  assertNotAbout(
    'aggregated-cluster-roles',
    { ...rules, of: 'rbac.authorization.k8s.io/v1 Role shop/all' },
    aggregates,
  )
})

test('mutes the restart annotation from every writer, but nothing else in the template', () => {
  const at = 'spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]'
  const now = '2026-11-21T10:00:00+01:00'
  for (const by of ['kubectl-rollout', 'k9s', 'argocd-server', 'kubectl-patch'])
    assertMutes('rollout-restart', add(WEB, at, now, by))
  assertMutes('rollout-restart', {
    ...add(WEB, at, now, 'kubectl-rollout'),
    git: '2026-11-20T10:00:00Z',
  })
  assertMutes(
    'rollout-restart',
    add('apps/v1 StatefulSet shop/db', at, '2026-11-21T10:00:00Z', 'kubectl-rollout'),
  )
  assertShows(
    'rollout-restart',
    { ...add(WEB, at, '2026-11-19T10:00:00Z', 'kubectl-rollout'), git: '2026-11-20T10:00:00Z' },
    {},
    /later restart/,
  )
  assertShows('rollout-restart', add(WEB, at, 'now', 'kubectl-rollout'), {}, /no time/)
  assertNotAbout(
    'rollout-restart',
    add(WEB, 'spec.template.metadata.annotations["example.com/note"]', now, 'kubectl-rollout'),
  )
  assertNotAbout(
    'rollout-restart',
    add(WEB, 'metadata.annotations["kubectl.kubernetes.io/restartedAt"]', now, 'kubectl-rollout'),
  )
  assertNotAbout('rollout-restart', {
    ...add(WEB, at, '', ''),
    change: 'removed',
    git: now,
    live: undefined,
  })
})

test('mutes the rollout revision when the control plane writes a number', () => {
  const revision = (live: string, by: string): Edit =>
    add(WEB, 'metadata.annotations["deployment.kubernetes.io/revision"]', live, by)
  assertMutes('deployment-revision', revision('12', KCM))
  assertMutes(
    'deployment-revision',
    add(
      'apps/v1 ReplicaSet shop/web-1',
      'metadata.annotations["deployment.kubernetes.io/desired-replicas"]',
      '3',
      KCM,
    ),
  )
  assertShows(
    'deployment-revision',
    revision('12', PERSON),
    {},
    /kubectl-edit wrote it, and not the control plane/,
  )
  const generation = 'metadata.annotations["deprecated.daemonset.template.generation"]'
  assertMutes('deployment-revision', add('apps/v1 DaemonSet shop/web', generation, '1', PERSON))
  assertShows('deployment-revision', revision('latest', KCM), {}, /no number/)
  assertNotAbout(
    'deployment-revision',
    add(WEB, 'metadata.annotations["example.com/revision"]', '1', KCM),
  )
})

test('mutes allocated addresses and ports of a Service that git omits', () => {
  const service = 'v1 Service shop/web'
  for (const at of [
    'spec.clusterIP',
    'spec.clusterIPs',
    'spec.ipFamilies',
    'spec.ipFamilyPolicy',
    'spec.healthCheckNodePort',
    'spec.ports[port=80,protocol=TCP].nodePort',
  ])
    assertMutes('service-allocation', { ...add(service, at, 30080, ''), change: 'modified' })
  assertMutes(
    'service-allocation',
    add(
      service,
      'metadata.finalizers[="service.kubernetes.io/load-balancer-cleanup"]',
      'service.kubernetes.io/load-balancer-cleanup',
      KCM,
    ),
  )
  assertShows(
    'service-allocation',
    add(service, 'spec.ports[port=80,protocol=TCP].nodePort', 30080, PERSON),
    {},
    /kubectl-edit wrote it/,
  )
  assertShows(
    'service-allocation',
    { of: service, at: 'spec.clusterIP', git: 'None', live: '10.0.0.7', by: '' },
    {},
    /^git sets it$/,
  )
  assertNotAbout('service-allocation', {
    of: service,
    at: 'spec.type',
    git: 'ClusterIP',
    live: 'NodePort',
    by: '',
  })
  assertNotAbout(
    'service-allocation',
    add(service, 'spec.ports[port=81,protocol=TCP]', { port: 81 }, ''),
  )
})

test('mutes the standard label and finalizer of a namespace, and shows other labels', () => {
  const space = 'v1 Namespace shop'
  const name = 'metadata.labels["kubernetes.io/metadata.name"]'
  assertMutes('namespace-defaults', add(space, name, 'shop', 'kubectl-create'))
  assertMutes('namespace-defaults', add(space, 'metadata.labels.name', 'shop', 'helm'))
  assertMutes('namespace-defaults', add(space, 'spec.finalizers', ['kubernetes'], ''))
  assertShows(
    'namespace-defaults',
    add(space, name, 'other', 'kubectl-edit'),
    {},
    /not the name of the namespace/,
  )
  assertShows(
    'namespace-defaults',
    add(space, 'spec.finalizers', ['kubernetes', 'example.com/keep'], KCM),
    {},
    /not the finalizer/,
  )
  assertNotAbout('namespace-defaults', add(space, 'metadata.labels.name', 'shop', 'kubectl-label'))
  assertNotAbout(
    'namespace-defaults',
    add(space, 'metadata.labels["pod-security.kubernetes.io/enforce"]', 'privileged', KCM),
  )
})

test('mutes binding fields of claims and volumes written by controllers', () => {
  const claim = 'v1 PersistentVolumeClaim shop/data'
  for (const at of [
    'spec.volumeName',
    'spec.storageClassName',
    'metadata.annotations["pv.kubernetes.io/bind-completed"]',
    'metadata.finalizers[="kubernetes.io/pvc-protection"]',
  ])
    assertMutes(
      'volume-binding',
      add(claim, at, at.includes('finalizers') ? 'kubernetes.io/pvc-protection' : 'x', KCM),
    )
  assertMutes(
    'volume-binding',
    add(
      claim,
      'metadata.annotations["volume.kubernetes.io/selected-node"]',
      'n1',
      'kube-scheduler',
    ),
  )
  assertMutes('volume-binding', add('v1 PersistentVolume pv', 'spec.claimRef.uid', 'u', KCM))
  assertShows(
    'volume-binding',
    add(claim, 'spec.volumeName', 'pv-9', PERSON),
    {},
    /kubectl-edit wrote it/,
  )
  assertNotAbout('volume-binding', {
    of: claim,
    at: 'spec.storageClassName',
    git: 'fast',
    live: 'slow',
    by: KCM,
  })
  assertNotAbout('volume-binding', {
    of: claim,
    at: 'spec.resources.requests.storage',
    git: '1Gi',
    live: '2Gi',
    by: KCM,
  })
})

test('mutes finalizers with a domain from controllers; those from a person are drift', () => {
  const of = 'cert-manager.io/v1 Certificate shop/tls'
  const finalizer = (name: string, by: string): Edit =>
    add(of, `metadata.finalizers[="${name}"]`, name, by)
  assertMutes('controller-finalizers', finalizer('finalizers.fluxcd.io', 'kustomize-operator'))
  assertMutes('controller-finalizers', finalizer('example.com/clean-up', 'widget-controller'))
  assertMutes('controller-finalizers', finalizer('foregroundDeletion', KCM))
  const source = (by: string): Edit =>
    add(
      'source.toolkit.fluxcd.io/v1 GitRepository flux-system/apps',
      'metadata.finalizers[="finalizers.fluxcd.io"]',
      'finalizers.fluxcd.io',
      by,
    )
  assertMutes('controller-finalizers', source('source-controller'))
  assertShows('controller-finalizers', source(PERSON))
  assertShows(
    'controller-finalizers',
    finalizer('finalizers.fluxcd.io', 'source-controller'),
    {},
    /not a known controller/,
  )
  assertShows(
    'controller-finalizers',
    finalizer('example.com/clean-up', PERSON),
    {},
    /not a known controller/,
  )
  assertShows('controller-finalizers', finalizer('guard', 'widget-controller'), {}, /no domain/)
  assertShows('controller-finalizers', finalizer('example.com/clean-up', 'curl'))
  assertNotAbout('controller-finalizers', add(of, 'spec.secretName', 'x', 'widget-controller'))
})

test('mutes a leader election record unless a person wrote it', () => {
  const leader = 'metadata.annotations["control-plane.alpha.kubernetes.io/leader"]'
  const record = '{"holderIdentity":"web-1","leaseDurationSeconds":15}'
  assertMutes('leader-election', add('v1 ConfigMap shop/lock', leader, record, 'web'))
  assertMutes('leader-election', {
    of: 'coordination.k8s.io/v1 Lease shop/lock',
    at: 'spec.holderIdentity',
    git: 'a',
    live: 'b',
    by: 'web',
  })
  assertShows(
    'leader-election',
    add('v1 ConfigMap shop/lock', leader, record, PERSON),
    {},
    /takes part in no election/,
  )
  assertShows(
    'leader-election',
    add('v1 ConfigMap shop/lock', leader, 'me', 'web'),
    {},
    /no record of an election/,
  )
  assertNotAbout('leader-election', add('v1 ConfigMap shop/lock', 'data.leader', record, 'web'))
  assertNotAbout('leader-election', add('v1 Secret shop/lock', leader, record, 'web'))
})

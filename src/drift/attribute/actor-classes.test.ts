import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldSet } from '@backporch/kyaml/field'
import { assertMutes } from '../../../test/fakes/noise-samples.ts'
import type { ActorClass } from '../compare/drift.ts'
import { deriveRemover } from './actor.ts'
import { ACTOR_CLASSES, classify, isControlPlane } from './actor-classes.ts'

const NO_FIELDS: FieldSet = { owned: false, children: new Map() }

const NAMES: Readonly<Record<ActorClass, string>> = {
  'human-tool':
    'kubectl kubectl-scale kubectl-rollout kubectl-last-applied oc k9s lens Mozilla headlamp rancher dashboard argocd-server curl',
  gitops:
    'argocd-controller argocd-application-controller flux flux-client-side-apply kustomize-controller helm-controller configsync.gke.io fleet-agent application/apply-patch kapp-server-side-apply helm kpt kpt-fn porch backporch.dev/0123456789ab Terraform HashiCorp pulumi-kubernetes ansible deploy@node-1',
  controller:
    'kube-controller-manager kubelet vpa-recommender keda-operator cluster-autoscaler cert-manager-certificates-trigger apiextensions.crossplane.io/composed/ef08e4 my-operator acme-controller-manager manager',
  webhook: 'cert-manager-cainjector linkerd-proxy-injector kyverno pilot-discovery',
  unknown: 'OpenAPI-Generator node-fetch Go-http-client before-first-apply my-ci',
}

for (const [found, names] of Object.entries(NAMES)) {
  test(`classifies as ${found}: ${names}`, () => {
    for (const manager of names.split(' ')) assert.equal(classify({ manager }), found, manager)
  })
}

// docs/facts/control-plane-managers.md: one table, whoever asks.
for (const manager of [
  'kube-controller-manager',
  'kube-scheduler',
  'kube-apiserver',
  'kubelet',
  'cloud-controller-manager',
  'aws-cloud-controller-manager',
  'openshift-controller-manager',
  'k3s',
]) {
  test(`${manager} counts as control plane for removals, presets and unmanaged objects`, () => {
    assert.ok(isControlPlane(manager))
    assert.equal(classify({ manager }), 'controller')
    const writer = (name: string) =>
      ({
        manager: name,
        operation: 'Update',
        subresource: '',
        apiVersion: 'v1',
        time: '',
        fields: NO_FIELDS,
      }) as const
    assert.equal(
      deriveRemover({ entries: [writer(manager), writer('k9s')], unreadable: [] }, undefined)
        .manager,
      'k9s',
    )
    assertMutes('service-account-tokens', {
      of: 'v1 ServiceAccount shop/web',
      at: 'secrets',
      live: [{ name: 'web-token-x7k2p' }],
      by: manager,
    })
  })
}

test('other controllers, and programs with similar names, are not the control plane', () => {
  for (const manager of [
    'acme-controller-manager',
    'kube-proxy',
    'coredns',
    'kubectl',
    'k3s-agent',
    'Kubelet',
    '',
  ])
    assert.ok(!isControlPlane(manager), manager)
})

test('a HorizontalPodAutoscaler scales as the controller manager, and a person through kubectl', () => {
  assert.equal(
    classify({ manager: 'kube-controller-manager', operation: 'Update', subresource: 'scale' }),
    'controller',
  )
  assert.equal(
    classify({ manager: 'kubectl', operation: 'Update', subresource: 'scale' }),
    'human-tool',
  )
})

test('does not classify a name that merely resembles a known one', () => {
  for (const manager of [
    'kubectlx',
    'mykubectl',
    'occasional',
    'curly',
    'helmsman',
    ' kubectl',
    'KUBECTL',
    '',
  ]) {
    assert.equal(classify({ manager }), 'unknown', manager)
  }
})

test('each row states its purpose', () => {
  for (const { what, managers } of ACTOR_CLASSES) assert.ok(what.length > 5 && managers.length > 0)
})

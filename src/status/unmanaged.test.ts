import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { appliedBy } from '../../test/fakes/live-object.ts'
import { deploymentOf } from '../../test/fakes/syncer-marks.ts'
import { findObjectManager } from './unmanaged.ts'

function config(metadata: JsonObject, by = 'kubectl-create', kind = 'ConfigMap'): JsonObject {
  const object = appliedBy(by, {
    apiVersion: 'v1',
    kind,
    metadata: { name: 'x', namespace: 'shop' },
  })
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), ...metadata } }
}

test('reports an object that a person created as unmanaged, also when created by kubectl apply', () => {
  assert.equal(findObjectManager(config({})), undefined)
  assert.equal(
    findObjectManager(
      config({ annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' } }),
    ),
    undefined,
  )
  assert.equal(findObjectManager(config({ labels: { owner: 'helm' } })), undefined)
})

test('an owner, a mark of a syncer, or a store of a tool makes an object managed', () => {
  assert.match(
    findObjectManager(
      config({ ownerReferences: [{ kind: 'Deployment', name: 'web', uid: 'u' }] }),
    ) ?? '',
    /another object/,
  )
  for (const by of ['kustomization', 'argo', 'kptLive', 'helm', 'kapp'] as const)
    assert.match(findObjectManager(deploymentOf([by])) ?? '', /syncer/, by)
  assert.match(
    findObjectManager(
      config({ name: 'sh.helm.release.v1.web.v1', labels: { owner: 'helm' } }, 'Helm', 'Secret'),
    ) ?? '',
    /Helm/,
  )
  assert.match(
    findObjectManager(config({ labels: { 'cli-utils.sigs.k8s.io/inventory-id': 'a' } })) ?? '',
    /inventory/,
  )
  const token = { annotations: { 'kubernetes.io/service-account.name': 'web' } }
  assert.match(findObjectManager(config(token, 'kubectl', 'Secret')) ?? '', /token/)
  assert.equal(findObjectManager(config(token)), undefined)
  for (const marks of [
    { labels: { 'reconcile.external-secrets.io/managed': 'true' } },
    { annotations: { 'sealedsecrets.bitnami.com/skip-set-owner-references': 'true' } },
  ]) {
    assert.match(findObjectManager(config(marks, 'controller', 'Secret')) ?? '', /generates it/)
    assert.equal(findObjectManager(config(marks)), undefined)
  }
})

test("reports objects from a person's TemplateInstance of OpenShift as unmanaged", () => {
  const template = { labels: { 'template.openshift.io/template-instance-owner': 'u' } }
  assert.equal(findObjectManager(config(template, 'openshift-controller-manager')), undefined)
})

test('objects that only the control plane wrote, or that every namespace has, count as managed', () => {
  assert.match(findObjectManager(config({}, 'kube-controller-manager')) ?? '', /control plane/)
  for (const by of [
    'kubelet',
    'k3s',
    'openshift-controller-manager',
    'aws-cloud-controller-manager',
  ])
    assert.match(findObjectManager(config({}, by)) ?? '', /control plane/, by)
  assert.equal(findObjectManager(config({}, 'acme-controller-manager')), undefined)
  assert.match(
    findObjectManager(config({ name: 'kube-root-ca.crt' }, 'somebody')) ?? '',
    /every namespace/,
  )
  assert.match(
    findObjectManager(config({ name: 'default' }, 'somebody', 'ServiceAccount')) ?? '',
    /every namespace/,
  )
  assert.equal(findObjectManager(config({ name: 'default' }, 'somebody')), undefined)
})

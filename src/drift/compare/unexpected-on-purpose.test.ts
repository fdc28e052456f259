import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { APPLIER_KINDS } from '../../syncers/registry.ts'
import { findRetentionRule, type RetentionQuestion } from './unexpected-on-purpose.ts'

const ID = 'inventory-1'

type RetainingTool = 'kpt' | 'flux' | 'argo' | 'helm'

function ruleOf(
  tool: string,
  annotations: JsonObject,
  more: Partial<RetentionQuestion> = {},
  labels: JsonObject = {},
): string | undefined {
  const live = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'old', annotations, labels },
  }
  return findRetentionRule({ live, tool, inventoryId: undefined, idIsWritten: false, ...more })
    ?.rule
}

/** Appliers that keep the same marks, by what they have in common. */
const FAMILIES: { readonly [retainingTool in RetainingTool]: readonly string[] } = {
  kpt: ['kpt-live', 'config-sync'],
  flux: ['flux-kustomization'],
  argo: ['argo-application'],
  helm: ['helm', 'flux-helmrelease', 'fleet', 'kluctl'],
}
const KEEPERS = APPLIER_KINDS.map(({ tool }) => tool)

test('keeps no object without a mark', () => {
  for (const retainingTool of KEEPERS) assert.equal(ruleOf(retainingTool, {}), undefined)
})

const MARKS: readonly (readonly [rule: string, keeper: RetainingTool, annotations: JsonObject])[] =
  [
    ['kpt-keep', 'kpt', { 'client.lifecycle.config.k8s.io/deletion': 'detach' }],
    ['kpt-keep', 'kpt', { 'cli-utils.sigs.k8s.io/on-remove': 'keep' }],
    ['flux-no-prune', 'flux', { 'kustomize.toolkit.fluxcd.io/prune': 'Disabled' }],
    ['argo-no-prune', 'argo', { 'argocd.argoproj.io/sync-options': 'Replace=true, Prune=false' }],
    [
      'argo-ignore-extraneous',
      'argo',
      { 'argocd.argoproj.io/compare-options': 'IgnoreExtraneous' },
    ],
    ['helm-keep', 'helm', { 'helm.sh/resource-policy': 'keep' }],
  ]

for (const [rule, holder, annotations] of MARKS) {
  test(`${rule} counts only for the tool that keeps the inventory: ${Object.keys(annotations).join()}`, () => {
    const own = FAMILIES[holder]
    for (const tool of KEEPERS)
      assert.equal(ruleOf(tool, annotations), own.includes(tool) ? rule : undefined, tool)
  })
}

test('other values of a mark keep nothing', () => {
  assert.equal(
    ruleOf('kpt-live', {
      'client.lifecycle.config.k8s.io/deletion': 'delete',
      'cli-utils.sigs.k8s.io/on-remove': 'prune',
    }),
    undefined,
  )
  assert.equal(
    ruleOf('flux-kustomization', { 'kustomize.toolkit.fluxcd.io/prune': 'enabled' }),
    undefined,
  )
  assert.equal(
    ruleOf('argo-application', { 'argocd.argoproj.io/sync-options': 'Prune=confirm' }),
    undefined,
  )
  assert.equal(
    ruleOf('flux-kustomization', {}, {}, { 'kustomize.toolkit.fluxcd.io/prune': 'disabled' }),
    'flux-no-prune',
  )
})

test('keeps a local-config object unless the value is false', () => {
  for (const retainingTool of KEEPERS)
    assert.equal(
      ruleOf(retainingTool, { 'config.kubernetes.io/local-config': 'true' }),
      'local-config',
    )
  assert.equal(
    ruleOf('argo-application', { 'config.kubernetes.io/local-config': 'false' }),
    undefined,
  )
})

test('a kpt inventory no longer owns an object whose mark is missing or names another inventory', () => {
  const own = { 'config.k8s.io/owning-inventory': ID }
  const written = { inventoryId: ID, idIsWritten: true }
  assert.equal(ruleOf('kpt-live', own, written), undefined)
  assert.equal(
    ruleOf('kpt-live', { 'config.k8s.io/owning-inventory': 'other' }, written),
    'kpt-abandoned',
  )
  assert.equal(ruleOf('kpt-live', {}, written), 'kpt-abandoned')
})

test('when no object carries the mark of the inventory, one without it is not abandoned', () => {
  assert.equal(ruleOf('kpt-live', {}, { inventoryId: ID, idIsWritten: false }), undefined)
  assert.equal(
    ruleOf(
      'kpt-live',
      { 'config.k8s.io/owning-inventory': 'other' },
      { inventoryId: undefined, idIsWritten: true },
    ),
    undefined,
  )
})

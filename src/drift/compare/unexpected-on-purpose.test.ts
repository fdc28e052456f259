import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../text/json.ts'
import { type Keeper, type KeptQuestion, keptOnPurpose } from './unexpected-on-purpose.ts'

const ID = 'inventory-1'

function ruleOf(keeper: Keeper, annotations: JsonObject, more: Partial<KeptQuestion> = {}, labels: JsonObject = {}): string | undefined {
  const live = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'old', annotations, labels } }
  return keptOnPurpose({ live, keeper, inventoryId: '', idIsWritten: false, ...more })?.rule
}

const KEEPERS: readonly Keeper[] = ['kpt', 'flux', 'argo', 'helm', 'other']

test('without a mark nothing stays on purpose', () => {
  for (const keeper of KEEPERS) assert.equal(ruleOf(keeper, {}), undefined)
})

const MARKS: readonly (readonly [rule: string, keeper: Keeper, annotations: JsonObject])[] = [
  ['kpt-keep', 'kpt', { 'client.lifecycle.config.k8s.io/deletion': 'detach' }],
  ['kpt-keep', 'kpt', { 'cli-utils.sigs.k8s.io/on-remove': 'keep' }],
  ['flux-no-prune', 'flux', { 'kustomize.toolkit.fluxcd.io/prune': 'Disabled' }],
  ['argo-no-prune', 'argo', { 'argocd.argoproj.io/sync-options': 'Replace=true, Prune=false' }],
  ['argo-ignore-extraneous', 'argo', { 'argocd.argoproj.io/compare-options': 'IgnoreExtraneous' }],
  ['helm-keep', 'helm', { 'helm.sh/resource-policy': 'keep' }],
]

for (const [rule, keeper, annotations] of MARKS) {
  test(`${rule} counts where its tool keeps the inventory, and nowhere else: ${Object.keys(annotations).join()}`, () => {
    assert.equal(ruleOf(keeper, annotations), rule)
    for (const other of KEEPERS) if (other !== keeper) assert.equal(ruleOf(other, annotations), undefined)
  })
}

test('values that say otherwise keep nothing', () => {
  assert.equal(
    ruleOf('kpt', { 'client.lifecycle.config.k8s.io/deletion': 'delete', 'cli-utils.sigs.k8s.io/on-remove': 'prune' }),
    undefined,
  )
  assert.equal(ruleOf('flux', { 'kustomize.toolkit.fluxcd.io/prune': 'enabled' }), undefined)
  assert.equal(ruleOf('argo', { 'argocd.argoproj.io/sync-options': 'Prune=confirm' }), undefined)
  assert.equal(ruleOf('flux', {}, {}, { 'kustomize.toolkit.fluxcd.io/prune': 'disabled' }), 'flux-no-prune')
})

test('an object marked for tools only is kept, but for the value false', () => {
  for (const keeper of KEEPERS) assert.equal(ruleOf(keeper, { 'config.kubernetes.io/local-config': 'true' }), 'local-config')
  assert.equal(ruleOf('argo', { 'config.kubernetes.io/local-config': 'false' }), undefined)
})

test('an inventory of kpt no longer owns what lost its mark, or bears that of another', () => {
  const own = { 'config.k8s.io/owning-inventory': ID }
  const written = { inventoryId: ID, idIsWritten: true }
  assert.equal(ruleOf('kpt', own, written), undefined)
  assert.equal(ruleOf('kpt', { 'config.k8s.io/owning-inventory': 'other' }, written), 'kpt-abandoned')
  assert.equal(ruleOf('kpt', {}, written), 'kpt-abandoned')
})

test('where no object bears the mark of the inventory, one without it lost nothing', () => {
  assert.equal(ruleOf('kpt', {}, { inventoryId: ID, idIsWritten: false }), undefined)
  assert.equal(ruleOf('kpt', { 'config.k8s.io/owning-inventory': 'other' }, { inventoryId: '', idIsWritten: true }), undefined)
})

/**
 * Objects that an inventory lists, that git does not declare, and that were left in the cluster on purpose: each rule names a mark on the
 * live object by which somebody told his tool to keep it. A rule holds only where that tool is the one that applied the object.
 */

import { annotationsOf, labelsOf } from '../../krm/resource.ts'
import type { JsonObject } from '../../text/json.ts'

export interface KeptRule {
  readonly rule: string
  readonly why: string
}

/** The families of tools whose marks are told apart here. */
export type Keeper = 'kpt' | 'flux' | 'argo' | 'helm' | 'other'

export interface KeptQuestion {
  readonly live: JsonObject
  /** Of the inventory that lists the object. */
  readonly keeper: Keeper
  /** Id of that inventory, where its tool writes it on the objects (kpt, Config Sync); empty otherwise. */
  readonly inventoryId: string
  /** Whether that tool put the id on other objects of the package, so that an object without it lost it. */
  readonly idIsWritten: boolean
}

type Rule = (marks: Marks, question: KeptQuestion) => KeptRule | undefined

interface Marks {
  readonly annotations: ReadonlyMap<string, string>
  readonly labels: ReadonlyMap<string, string>
}

const RULES: readonly Rule[] = [
  // Read by kustomize and by everything that builds on kpt's library; Argo CD applies the object all the same.
  ({ annotations }) =>
    isOn(annotations.get('config.kubernetes.io/local-config'))
      ? kept(
          'local-config',
          'the object is marked as one for tools only (config.kubernetes.io/local-config), which a package may hold without declaring it for a cluster',
        )
      : undefined,
  // cli-utils pkg/common/common.go OnRemoveAnnotation, LifecycleDeleteAnnotation
  ({ annotations }, { keeper }) => {
    const mark =
      annotations.get('client.lifecycle.config.k8s.io/deletion') === 'detach'
        ? 'client.lifecycle.config.k8s.io/deletion: detach'
        : annotations.get('cli-utils.sigs.k8s.io/on-remove') === 'keep'
          ? 'cli-utils.sigs.k8s.io/on-remove: keep'
          : undefined
    return keeper === 'kpt' && mark !== undefined
      ? kept('kpt-keep', `the object is marked to stay when its package lets go of it (${mark})`)
      : undefined
  },
  // cli-utils pkg/inventory/policy.go CanPrune: with the default policy only objects with the inventory's own id are pruned.
  ({ annotations }, { keeper, inventoryId, idIsWritten }) => {
    if (keeper !== 'kpt' || inventoryId === '') return undefined
    const id = annotations.get('config.k8s.io/owning-inventory')
    if (id === inventoryId || (id === undefined && !idIsWritten)) return undefined
    return id === undefined
      ? kept('kpt-abandoned', 'its config.k8s.io/owning-inventory annotation was taken off, so the inventory no longer owns the object')
      : kept('kpt-abandoned', 'another inventory owns the object by now (config.k8s.io/owning-inventory)')
  },
  // kustomize-controller docs/spec/v1/kustomizations.md "prune", fluxcd/pkg ssa: annotation or label, any case
  ({ annotations, labels }, { keeper }) => {
    const name = 'kustomize.toolkit.fluxcd.io/prune'
    const value = annotations.get(name) ?? labels.get(name) ?? ''
    return keeper === 'flux' && value.toLowerCase() === 'disabled'
      ? kept('flux-no-prune', `the object is marked to stay when git drops it (${name}: disabled)`)
      : undefined
  },
  // argo-cd docs/user-guide/sync-options.md "No Prune Resources"
  ({ annotations }, { keeper }) =>
    keeper === 'argo' && optionsIn(annotations.get('argocd.argoproj.io/sync-options')).includes('Prune=false')
      ? kept('argo-no-prune', 'the object is marked to stay when git drops it (argocd.argoproj.io/sync-options: Prune=false)')
      : undefined,
  // argo-cd docs/user-guide/compare-options.md "Ignoring Resources That Are Extraneous"
  ({ annotations }, { keeper }) =>
    keeper === 'argo' && optionsIn(annotations.get('argocd.argoproj.io/compare-options')).includes('IgnoreExtraneous')
      ? kept(
          'argo-ignore-extraneous',
          'the object is marked as one that git need not have (argocd.argoproj.io/compare-options: IgnoreExtraneous)',
        )
      : undefined,
  // helm pkg/kube/resource_policy.go
  ({ annotations }, { keeper }) =>
    keeper === 'helm' && annotations.get('helm.sh/resource-policy')?.trim().toLowerCase() === 'keep'
      ? kept('helm-keep', 'the object is marked to stay when its chart drops it (helm.sh/resource-policy: keep)')
      : undefined,
]

/** The first rule by which the object stays on purpose; undefined where none holds. */
export function keptOnPurpose(question: KeptQuestion): KeptRule | undefined {
  const marks = { annotations: annotationsOf(question.live), labels: labelsOf(question.live) }
  for (const rule of RULES) {
    const found = rule(marks, question)
    if (found !== undefined) return found
  }
  return undefined
}

function kept(rule: string, why: string): KeptRule {
  return { rule, why }
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== 'false'
}

function optionsIn(value: string | undefined): readonly string[] {
  return (value ?? '').split(',').map((option) => option.trim())
}

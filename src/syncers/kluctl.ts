/**
 * Sources: kluctl (commit b8269b5) `pkg/k8s/k8s_cluster.go` (the field manager),
 * `pkg/deployment/deployment_item.go` (marks), `pkg/deployment/utils/{delete,hooks}_utils.go`,
 * `docs/kluctl/deployments/annotations`, `docs/gitops/spec/v1beta1/kluctldeployment.md`. Not tested
 * against Kluctl (docs/facts/fleet-and-kluctl.md).
 */
import type { JsonObject } from '@backporch/kyaml/json'
import { getAnnotations } from '@backporch/kyaml/resource'
import { phrase } from '@backporch/kyaml/text'
import { findHelmKeepRule, listHookValues } from './helm.ts'
import { createUnlistedApplier, isName, UNKNOWN_SOURCE } from './own-resource.ts'
import { type ApplierKind, type BuiltInRule, NO_SYNCER_REPORT, type Syncer } from './syncer.ts'

const DISCRIMINATOR = 'kluctl.io/discriminator'

const TARGET: ApplierKind = {
  tool: 'kluctl',
  title: ({ name }) => phrase`Kluctl target ${name}`,
  // The label names the target, by which Kluctl prunes, not the KluctlDeployment.
  claim: ({ labels }) => {
    const name = labels.get(DISCRIMINATOR) ?? ''
    return isName(name) ? createUnlistedApplier(name) : undefined
  },
  wraps: [],
  selector: ({ name }) => `${DISCRIMINATOR}=${name}`,
  source: () => UNKNOWN_SOURCE,
  // Kluctl prunes by label.
  inventory: {
    listed: () => undefined,
    questions: () => [],
    ofPackage: false,
  },
  keeps: [
    ({ annotations }) =>
      isTrue(annotations.get('kluctl.io/skip-delete'))
        ? {
            rule: 'kluctl-skip-delete',
            why: 'the object is marked to stay when git drops it (kluctl.io/skip-delete)',
          }
        : undefined,
    findHelmKeepRule,
  ],
  // A KluctlDeployment deploys wherever its service account may write.
  ownNamespaceOnly: () => false,
  sourcePath: 'none',
  leavesUnmarked: () => false,
  namesObject: false,
  hooks: findKluctlHook,
  report: () => NO_SYNCER_REPORT,
  judge: ({ title }) => ({
    restores: 'unknown',
    revertsUnasked: 'unknown',
    sentence: phrase`${title} applied the package; a KluctlDeployment deploys it again when its rendered content changes, or at spec.deployInterval; without one, somebody has to run kluctl deploy: the objects do not show which applies`,
    command: undefined,
    warnings: [],
  }),
}

export const KLUCTL: Syncer = {
  name: 'Kluctl',
  managers: [
    // It updates if an apply fails and it may replace.
    {
      names: ['kluctl'],
      class: 'gitops',
      alone: true,
      repeats: 'a KluctlDeployment',
      what: 'Kluctl, by hand or by its controller',
    },
    {
      names: ['kluctl-*'],
      class: 'gitops',
      alone: false,
      repeats: 'none',
      what: 'Kluctl: fields that its controller uses itself',
    },
  ],
  lastAppliedBy: [],
  accounts: ['kluctl-system'],
  marks: {
    labels: /^kluctl\.io\/(discriminator|tag-\d+)$/,
    annotations: /^kluctl\.io\/(deployment-item-dir|skip-delete-if-tags)$/,
    shared: [],
    writers: [],
    copies: [],
  },
  directives: new Map(),
  requests: {
    kinds: /^gitops\.kluctl\.io\//,
    annotations: /^kluctl\.io\/request-(reconcile|diff|deploy|prune|validate)$/,
  },
  appliers: [TARGET],
  ignores: [],
  ignoreMark: 'none',
  // It renders what a deployment.yaml lists.
  check: 'none',
}

function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true'
}

/**
 * `kluctl.io/hook`, or Helm's hooks as Kluctl reads them; and objects to be deleted or left out.
 */
function findKluctlHook(manifest: JsonObject, runs: boolean): BuiltInRule | undefined {
  const annotations = getAnnotations(manifest)
  const because = (why: string): BuiltInRule => ({ rule: 'kluctl-hook', why })
  if (isTrue(annotations.get('kluctl.io/delete')))
    return because('Kluctl deletes the object when it deploys (kluctl.io/delete)')
  if (isTrue(annotations.get('kluctl.io/ignore')))
    return because('Kluctl never applies the object (kluctl.io/ignore)')
  const own = listHookValues(manifest, 'kluctl.io/hook')
  if (own.length === 0 && (!runs || listHookValues(manifest, 'helm.sh/hook').length === 0))
    return undefined
  const policies = [
    ...listHookValues(manifest, 'kluctl.io/hook-delete-policy'),
    ...listHookValues(manifest, 'helm.sh/hook-delete-policy'),
  ]
  return policies.includes('hook-succeeded')
    ? because('Kluctl removes this hook after it succeeded (hook-delete-policy)')
    : undefined
}

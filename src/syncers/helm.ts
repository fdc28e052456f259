/**
 * Sources: helm `pkg/action/validate.go` (marks), `pkg/kube/resource_policy.go`, "Chart Hooks"
 * (helm.sh/docs/topics/charts_hooks), `pkg/action/install.go` (setMetadataVisitor sees only the
 * manifest, so hooks have no marks), `pkg/cli` (the User-Agent `Helm/<version>`, under which it
 * writes when it sets no manager).
 */
import { getKey, type JsonObject } from '@backporch/kyaml/json'
import { getAnnotations } from '@backporch/kyaml/resource'
import { phrase } from '@backporch/kyaml/text'
import { createUnlistedApplier, isName, UNKNOWN_SOURCE } from './own-resource.ts'
import {
  type ApplierKind,
  type BuiltInRule,
  type KeepQuestion,
  type MarkedObject,
  type NamedApplier,
  NO_SYNCER_REPORT,
  type Syncer,
} from './syncer.ts'

export function releaseMark({ labels, annotations }: MarkedObject): NamedApplier | undefined {
  const [name, namespace] = [
    annotations.get('meta.helm.sh/release-name') ?? '',
    annotations.get('meta.helm.sh/release-namespace') ?? '',
  ]
  return labels.get('app.kubernetes.io/managed-by') === 'Helm' && isName(name) && isName(namespace)
    ? createUnlistedApplier(name, namespace)
    : undefined
}

export function findHelmKeepRule({ annotations }: KeepQuestion): BuiltInRule | undefined {
  return annotations.get('helm.sh/resource-policy')?.trim().toLowerCase() === 'keep'
    ? {
        rule: 'helm-keep',
        why: 'the object is marked to stay when its chart drops it (helm.sh/resource-policy: keep)',
      }
    : undefined
}

export function isLeftUnmarkedByHelm(object: JsonObject): boolean {
  return (
    getKey(object, 'kind') === 'CustomResourceDefinition' ||
    getAnnotations(object).has('helm.sh/hook')
  )
}

const NOT_IN_A_RELEASE = new Set([
  'pre-delete',
  'post-delete',
  'pre-rollback',
  'post-rollback',
  'test',
  'test-success',
  'test-failure',
])

/** A hook that stays until its next run counts as missing. */
export function findHelmHook(manifest: JsonObject): BuiltInRule | undefined {
  const events = listHookValues(manifest, 'helm.sh/hook')
  if (events.length === 0) return undefined
  if (events.every((event) => NOT_IN_A_RELEASE.has(event)))
    return {
      rule: 'helm-hook',
      why: `Helm creates this hook only on ${events.join(', ')} (helm.sh/hook)`,
    }
  return listHookValues(manifest, 'helm.sh/hook-delete-policy').includes('hook-succeeded')
    ? {
        rule: 'helm-hook',
        why: 'Helm removes this hook after it succeeded (helm.sh/hook-delete-policy)',
      }
    : undefined
}

export function listHookValues(manifest: JsonObject, annotation: string): readonly string[] {
  return (getAnnotations(manifest).get(annotation) ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
}

export function usesHelm(manager: string): boolean {
  return manager.includes('helm')
}

const RELEASE: ApplierKind = {
  tool: 'helm',
  title: ({ namespace, name }) => phrase`Helm release ${`${namespace}/${name}`}`,
  claim: releaseMark,
  wraps: [],
  selector: () => 'app.kubernetes.io/managed-by=Helm',
  source: () => UNKNOWN_SOURCE,
  inventory: {
    listed: () => undefined,
    questions: ({ namespace, name }) => [{ helmRelease: { namespace, name } }],
    ofPackage: false,
  },
  keeps: [findHelmKeepRule],
  ownNamespaceOnly: () => false,
  sourcePath: 'none',
  leavesUnmarked: isLeftUnmarkedByHelm,
  namesObject: false,
  hooks: findHelmHook,
  report: () => NO_SYNCER_REPORT,
  judge: ({ title }) => ({
    restores: 'when-told',
    revertsUnasked: 'no',
    sentence: phrase`${title} was installed with Helm, and no syncer in the cluster repeats it: run helm upgrade after the merge`,
    command: undefined,
    warnings: [],
  }),
}

export const HELM: Syncer = {
  name: 'Helm',
  managers: [
    // Helm 3 updates; Helm 4 applies, but leaves the definitions of `crds/` to their first manager.
    {
      names: ['helm'],
      class: 'gitops',
      alone: true,
      repeats: 'none',
      what: 'Helm: `helm` is the name of the program',
    },
    {
      names: ['Helm', 'helm-*'],
      class: 'gitops',
      alone: false,
      repeats: 'none',
      what: 'Helm by its User-Agent, and programs named after it',
    },
  ],
  lastAppliedBy: [],
  accounts: [],
  marks: {
    labels: 'none',
    annotations: /^meta\.helm\.sh\/release-(name|namespace)$/,
    shared: [{ label: 'app.kubernetes.io/managed-by', value: 'Helm' }],
    writers: ['helm-controller'],
    copies: [],
  },
  directives: new Map(),
  requests: 'none',
  appliers: [RELEASE],
  ignores: [],
  ignoreMark: 'none',
  check: 'none',
}

/** It applies when a person runs it. Sources: k8s.io/kubectl `pkg/cmd`. */
import type { Syncer } from './syncer.ts'

/** As k8s.io/kubectl, pkg/cmd/apply. */
export const CLIENT_SIDE_APPLY = 'kubectl-client-side-apply'

export const KUBECTL_CREATE = 'kubectl-create'

const KUBECTL_REPLACE = 'kubectl-replace'

/** A person may apply some files server-side, and replace others. */
export function writesManifest({
  manager,
  operation,
}: {
  readonly manager: string
  readonly operation: string
}): boolean {
  if (operation === 'Apply') return manager === 'kubectl'
  return (
    operation === 'Update' && [CLIENT_SIDE_APPLY, KUBECTL_CREATE, KUBECTL_REPLACE].includes(manager)
  )
}

/** The write may be a single one, to anybody's object: only an apply is repeated. */
export function isCreateOnlyManager(manager: string): boolean {
  return manager === KUBECTL_CREATE || manager === KUBECTL_REPLACE
}

export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * The server's name for fields without a known manager (k8s.io/apimachinery, util/managedfields).
 */
export const BEFORE_FIRST_APPLY = 'before-first-apply'

export const KUBECTL: Syncer = {
  name: 'kubectl',
  managers: [
    {
      names: ['kubectl', 'kubectl-*'],
      class: 'human-tool',
      alone: false,
      repeats: 'none',
      what: 'kubectl; `kubectl-<verb>` is its default (k8s.io/kubectl, FieldManager flags)',
    },
  ],
  // `kubectl-last-applied` keeps it for server-side applies.
  lastAppliedBy: [
    'kubectl',
    CLIENT_SIDE_APPLY,
    'kubectl-last-applied',
    KUBECTL_CREATE,
    KUBECTL_REPLACE,
    'kubectl-run',
    'kubectl-expose',
    'oc',
  ],
  accounts: [],
  // `kubectl apply --prune --applyset` (KEP 3659): on the objects and their parent.
  marks: {
    labels: /^applyset\.kubernetes\.io\/(part-of|id)$/,
    annotations: /^applyset\.kubernetes\.io\/(tooling|contains-group-kinds|additional-namespaces)$/,
    shared: [],
    writers: ['kubectl', CLIENT_SIDE_APPLY, 'kubectl-applyset'],
    copies: [LAST_APPLIED],
  },
  directives: new Map(),
  requests: 'none',
  appliers: [],
  ignores: [],
  ignoreMark: 'none',
  check: 'none',
}

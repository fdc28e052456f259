/** kubectl: it applies where a person runs it, and its marks are the last-applied annotation and those of ApplySets. Sources: k8s.io/kubectl `pkg/cmd`. */
import type { Syncer } from './syncer.ts'

/** What `kubectl apply` writes when it works on the client's side (k8s.io/kubectl, pkg/cmd/apply). */
export const CLIENT_SIDE_APPLY = 'kubectl-client-side-apply'

/** What `kubectl create` writes. */
export const KUBECTL_CREATE = 'kubectl-create'

/** What `kubectl replace` writes. */
const KUBECTL_REPLACE = 'kubectl-replace'

/** Whether one person's kubectl writes a whole manifest under this name and operation: he applies some files on the server's side, and replaces others. */
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

/** Whether the write may have been of an object of anybody: only an apply is repeated. */
export function onlyMakes(manager: string): boolean {
  return manager === KUBECTL_CREATE || manager === KUBECTL_REPLACE
}

/** Where a client-side apply keeps what it applied. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** The server's own name for fields without a known manager at the first apply (k8s.io/apimachinery, util/managedfields). */
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
  // `kubectl apply --prune --applyset` (KEP 3659): on the objects, and on their parent.
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

/**
 * The names under which each tool that applies packages writes, where it has more than one or changed it. What was run here and
 * what was only read is told apart in docs/facts/applier-managers.md.
 */

/** What `kubectl apply` writes when it works on the client's side (k8s.io/kubectl, pkg/cmd/apply). */
export const CLIENT_SIDE_APPLY = 'kubectl-client-side-apply'

/** The server's own name for what an object held when nobody's fields were known and somebody applied (k8s.io/apimachinery, util/managedfields). */
export const BEFORE_FIRST_APPLY = 'before-first-apply'

/**
 * Tools that write under their own names alone, never under one that people use: with Update while they apply on the client's side,
 * with Apply when they apply on the server's. No web page or command line of theirs writes under these names.
 */
const TOOLS: readonly { readonly tool: string; readonly managers: readonly string[] }[] = [
  // Helm 3 updates; Helm 4 applies, and leaves the definitions of a chart's crds/ to whoever installed them.
  { tool: 'helm', managers: ['helm'] },
  { tool: 'helm-controller', managers: ['helm-controller'] },
  { tool: 'kustomize-controller', managers: ['kustomize-controller'] },
  // By its source only: an update under the name of the program, or what --ssa-field-manager says (carvel kapp, cmd/app/ssa_flags.go).
  { tool: 'kapp', managers: ['kapp', 'kapp-server-side-apply'] },
  // Objects of RBAC are reconciled before they are applied, under the name of the program.
  { tool: 'argo-cd', managers: ['argocd-controller', 'argocd-application-controller'] },
]

/** The tool that writes under this name alone; undefined for every other name. */
export function toolOfManager(manager: string): string | undefined {
  return TOOLS.find(({ managers }) => managers.includes(manager))?.tool
}

/** Kluctl. Source: kluctl `pkg/k8s/k8s_cluster.go` (the field manager), `pkg/deployment/deployment_item.go` (marks). Read only. */
import type { Syncer } from './syncer.ts'

export const KLUCTL: Syncer = {
  name: 'Kluctl',
  managers: [{ names: ['kluctl*'], class: 'gitops', alone: false, repeats: 'a GitOps tool', what: 'Kluctl and its controller' }],
  lastAppliedBy: [],
  accounts: [],
  marks: { labels: /^kluctl\.io\//, annotations: /^kluctl\.io\//, shared: [], writers: [], copies: [] },
  directives: new Map(),
  requests: 'none',
  appliers: [],
  ignores: [],
  ignoreMark: 'none',
  check: 'none',
}

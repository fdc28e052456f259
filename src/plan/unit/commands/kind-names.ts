/** Accepts names of kinds as kubectl does, without a server that lists the kinds. */
import type { Change } from '../../../record/documents/change.ts'

/** From `kubectl api-resources`, v1.34, by lower-case kind. */
const SHORT_NAMES: { readonly [kind: string]: readonly string[] } = {
  certificatesigningrequest: ['csr'],
  componentstatus: ['cs'],
  configmap: ['cm'],
  cronjob: ['cj'],
  customresourcedefinition: ['crd', 'crds'],
  daemonset: ['ds'],
  deployment: ['deploy'],
  endpoints: ['ep'],
  event: ['ev'],
  horizontalpodautoscaler: ['hpa'],
  ingress: ['ing'],
  limitrange: ['limits'],
  namespace: ['ns'],
  networkpolicy: ['netpol'],
  node: ['no'],
  persistentvolume: ['pv'],
  persistentvolumeclaim: ['pvc'],
  pod: ['po'],
  poddisruptionbudget: ['pdb'],
  priorityclass: ['pc'],
  replicaset: ['rs'],
  replicationcontroller: ['rc'],
  resourcequota: ['quota'],
  service: ['svc'],
  serviceaccount: ['sa'],
  statefulset: ['sts'],
  storageclass: ['sc'],
}

/**
 * `Deployment`, `deployments`, `deploy`, each optionally with its group (`deployment.apps`) or
 * version and group (`deployments.v1.apps`).
 */
export function isNameOfKind(
  text: string,
  { kind, group }: Pick<Change['ref'], 'kind' | 'group'>,
): boolean {
  const [, name = '', behind] = /^([^.]+)(?:\.(.*))?$/s.exec(text.toLowerCase()) ?? []
  const singular = kind.toLowerCase()
  const names = [
    singular,
    formatPlural(singular),
    ...(Object.hasOwn(SHORT_NAMES, singular) ? (SHORT_NAMES[singular] ?? []) : []),
  ]
  if (!names.includes(name)) return false
  return (
    behind === undefined ||
    behind.replace(/^v[0-9]+(?:(?:alpha|beta)[0-9]+)?(?:\.|$)/, '') === group ||
    behind === group
  )
}

/** Like `UnsafeGuessKindToResource` (k8s.io/apimachinery, pkg/api/meta/restmapper.go). */
function formatPlural(singular: string): string {
  if (singular === 'endpoints') return singular
  if (singular.endsWith('s')) return `${singular}es`
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
}

/**
 * Another object, a syncer, a tool's storage, or the control plane. Only metadata decides, so a
 * copy with its marks counts as managed.
 */
import { getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import {
  getAnnotations,
  getLabels,
  getResourceKey,
  isControlled,
  readResource,
} from '@backporch/kyaml/resource'
import { isControlPlane } from '../drift/attribute/actor-classes.ts'
import { listClaims } from '../syncers/claims.ts'

/**
 * By `group/Kind/name` (kubernetes `pkg/controller/serviceaccount`,
 * `pkg/controller/certificates/rootcacertpublisher`).
 */
const IN_EVERY_NAMESPACE = new Set(['/ServiceAccount/default', '/ConfigMap/kube-root-ca.crt'])

/**
 * OpenShift creates these objects for a person's TemplateInstance
 * (docs/facts/control-plane-managers.md).
 */
const TEMPLATE_INSTANCE = 'template.openshift.io/template-instance-owner'

/**
 * Also without an owner: `creationPolicy: Orphan`, `skip-set-owner-references`
 * (docs/facts/generated-secrets.md).
 */
function isGenerated(
  labels: ReadonlyMap<string, string>,
  annotations: ReadonlyMap<string, string>,
): boolean {
  return (
    labels.get('reconcile.external-secrets.io/managed') === 'true' ||
    annotations.get('sealedsecrets.bitnami.com/skip-set-owner-references') === 'true'
  )
}

/** A clause; undefined without a known manager. */
export function findObjectManager(object: JsonObject): string | undefined {
  const read = readResource(object)
  if ('problem' in read) return 'it has no name'
  const { id } = read
  if (isControlled(object)) return 'another object of the cluster owns it'
  if (IN_EVERY_NAMESPACE.has(`${id.group}/${id.kind}/${id.name}`)) return 'every namespace has it'
  const claims = listClaims(
    new Map([[getResourceKey(id), { state: 'present', object, metadataOnly: true }]]),
  )
  if (claims.length > 0) return 'a syncer marked it as its own'
  const [labels, annotations] = [getLabels(object), getAnnotations(object)]
  if (labels.get('owner') === 'helm' && id.name.startsWith('sh.helm.release.v1.'))
    return 'Helm stores a release in it'
  if (labels.has('cli-utils.sigs.k8s.io/inventory-id')) return 'it is the inventory of a package'
  if (
    id.group === '' &&
    id.kind === 'Secret' &&
    annotations.has('kubernetes.io/service-account.name')
  )
    return 'it is the token of a ServiceAccount'
  if (id.group === '' && id.kind === 'Secret' && isGenerated(labels, annotations))
    return 'a controller generates it from another object'
  const { entries, unreadable } = getManagedFields(object)
  const writers = entries.filter(({ subresource }) => subresource === '')
  const isTheirs =
    writers.length > 0 &&
    unreadable.length === 0 &&
    writers.every(({ manager }) => isControlPlane(manager))
  return isTheirs && !labels.has(TEMPLATE_INSTANCE) ? 'only the control plane wrote it' : undefined
}

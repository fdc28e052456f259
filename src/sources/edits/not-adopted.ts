/** Secrets, and objects that the cluster makes, are never written to git as a whole. */
import type { FailureDetail } from '@backporch/kyaml/failure'
import { getManagedFields } from '@backporch/kyaml/field'
import { findNonEmptyText, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import { isControlled } from '@backporch/kyaml/resource'
import { isControlPlane } from '../../drift/attribute/actor-classes.ts'
import type { Drift } from '../../drift/compare/drift.ts'

type Refusal = Pick<FailureDetail, 'code' | 'why' | 'remedy'>

export const WAYS_FOR_SECRETS =
  'add it yourself: encrypt it with SOPS, seal it as a SealedSecret, name its source in an ExternalSecret, or keep it out of git and choose release'

const OF_THE_CLUSTER: ReadonlySet<string> = new Set([
  '/Event',
  'events.k8s.io/Event',
  '/Endpoints',
  'discovery.k8s.io/EndpointSlice',
  'coordination.k8s.io/Lease',
])
const IN_EVERY_NAMESPACE: ReadonlySet<string> = new Set([
  '/ConfigMap/kube-root-ca.crt',
  '/ConfigMap/openshift-service-ca.crt',
  '/ServiceAccount/default',
])

export function explainNotWhole({
  id,
  live,
  liveUnread,
}: Pick<Drift, 'id' | 'live' | 'liveUnread'>): Refusal | undefined {
  if (isSecret(id))
    return {
      code: 'BP2002',
      why: 'it is a Secret, and everybody who can read the repository could read it',
      remedy: WAYS_FOR_SECRETS,
    }
  if (liveUnread || !isJsonObject(live)) {
    return {
      code: 'BP2001',
      why: 'its content was not read',
      remedy: 'give the account the right to read it, and scan again',
    }
  }
  const why = explainForeignOwner(id, live)
  return why === undefined
    ? undefined
    : {
        code: 'BP2010',
        why,
        remedy: 'choose release, so that the package does not claim it, or restore',
      }
}

function explainForeignOwner(
  { group, kind, name }: Drift['id'],
  live: JsonObject,
): string | undefined {
  if (isControlled(live)) return 'another object of the cluster owns it, and creates it again'
  if (OF_THE_CLUSTER.has(`${group}/${kind}`)) return `the cluster itself writes every ${kind}`
  if (IN_EVERY_NAMESPACE.has(`${group}/${kind}/${name}`))
    return 'the cluster itself creates it in every namespace'
  if (findNonEmptyText(live, 'metadata', 'deletionTimestamp') !== undefined)
    return 'it is being deleted'
  const { entries } = getManagedFields(live)
  const writers = entries.filter(({ subresource }) => subresource === '')
  return writers.length > 0 && writers.every(({ manager }) => isControlPlane(manager))
    ? 'only the control plane wrote it'
    : undefined
}

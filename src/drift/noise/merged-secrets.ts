/**
 * An ExternalSecret with `creationPolicy: Merge`, or the annotation `patch` for Sealed Secrets. A
 * Secret that only the controller creates is in no package (docs/facts/generated-secrets.md).
 */
import { findValueAt } from '@backporch/kyaml/field'
import { isJsonEqual } from '@backporch/kyaml/json'
import { getAnnotations, getLabels } from '@backporch/kyaml/resource'
import type { Drift } from '../compare/drift.ts'
import {
  describeWriter,
  findMetadataKey,
  getGroupKind,
  hasLeadingNames,
  isAdded,
  isWrittenBy,
  type Judgement,
  muteDrift,
  type NoiseRule,
  type Surroundings,
  showDrift,
} from './noise-rule.ts'

const EXTERNAL_SECRETS = /^externalsecrets\.external-secrets\.io\//
const SEALED_SECRETS = /^(?:controller|sealed-secrets.*)$/
const OWN_KEY = /^reconcile\.external-secrets\.io\//

function judgeMerged(drift: Drift, surroundings: Surroundings): Judgement | undefined {
  const { desired, live } = surroundings
  if (getGroupKind(drift) !== '/Secret' || !isAdded(drift)) return undefined
  const key = findMetadataKey(drift, 'labels') ?? findMetadataKey(drift, 'annotations')
  const isEntry = drift.path.length === 2 && hasLeadingNames(drift.path, ['data'])
  const byExternal = getLabels(live).get('reconcile.external-secrets.io/managed') === 'true'
  if (
    byExternal &&
    (isEntry || (key !== undefined && (OWN_KEY.test(key) || isCopied(drift, surroundings))))
  ) {
    if (isWrittenBy(drift, EXTERNAL_SECRETS))
      return muteDrift('External Secrets merges it into the Secret')
    return showDrift(`${describeWriter(drift)} wrote it, and not External Secrets`)
  }
  if (!isEntry || getAnnotations(desired).get('sealedsecrets.bitnami.com/patch') !== 'true')
    return undefined
  if (isWrittenBy(drift, SEALED_SECRETS))
    return muteDrift('git lets Sealed Secrets add entries to the Secret')
  return showDrift(`${describeWriter(drift)} wrote it, and not Sealed Secrets`)
}

/** Without a template, the ExternalSecret's are copied. */
function isCopied(drift: Drift, { liveOf }: Surroundings): boolean {
  const { namespace } = drift.id
  const name = drift.actor.manager.replace(EXTERNAL_SECRETS, '')
  const external = liveOf({ group: 'external-secrets.io', kind: 'ExternalSecret', namespace, name })
  return (
    external !== undefined &&
    drift.live !== undefined &&
    isJsonEqual(findValueAt(external, drift.path), drift.live)
  )
}

export const MERGED_SECRET_RULES: readonly NoiseRule[] = [
  {
    name: 'merged-secrets',
    reason: 'A controller of secrets adds entries to a Secret of git.',
    mutes:
      'entries that External Secrets adds to a Secret with its label, and metadata that it copies from the ExternalSecret; entries that Sealed Secrets adds to one that git annotates with `patch`; entries of git and of other writers are shown.',
    link: 'https://external-secrets.io/latest/guides/ownership-deletion-policy/',
    judge: judgeMerged,
  },
]

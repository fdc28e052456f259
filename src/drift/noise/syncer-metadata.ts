/**
 * The syncer's own are never differences; these rules are for tools that write them under another
 * name, and for a former tool. Sources: docs/facts/applier-marks.md; kapp
 * `pkg/kapp/config/default.go`; cli-utils `pkg/common`, `pkg/object/{dependson,mutation}`;
 * kpt-config-sync `pkg/metadata`; kubectl `pkg/cmd/apply/apply.go`.
 */
import { getTextAt, isJsonObject, type Json, parseJson } from '@backporch/kyaml/json'
import { LAST_APPLIED } from '../../syncers/kubectl.ts'
import { listSyncersOfMark } from '../../syncers/marks.ts'
import { canMarkAs, keepsLastApplied, SYNCERS } from '../../syncers/registry.ts'
import type { Syncer } from '../../syncers/syncer.ts'
import type { Drift } from '../compare/drift.ts'
import {
  describeWriter,
  findMetadataKey,
  isFromSyncer,
  isLive,
  isOwned,
  isPerson,
  type Judgement,
  muteDrift,
  type NoiseRule,
  type Surroundings,
  showDrift,
} from './noise-rule.ts'

export function isWrittenBySyncer(marking: Syncer, drift: Drift): boolean {
  return !isPerson(drift) && isOwned(drift) && canMarkAs(marking, drift.actor.manager)
}

function judgeMetadata(drift: Drift, { syncer }: Surroundings): Judgement | undefined {
  if (!isLive(drift)) return undefined
  const tools = listSyncersOfMark(drift.path, drift.live)
  if (tools.length === 0) return undefined
  const tool = tools.find((one) => isWrittenBySyncer(one, drift))
  if (tool !== undefined) return muteDrift(`${tool.name} marks with it what it applies`)
  // A tool may apply under any given name (kpt live apply --field-manager).
  if (isFromSyncer(drift, syncer))
    return muteDrift(`the syncer ${drift.actor.manager} marks with it what it applies`)
  return showDrift(
    `${describeWriter(drift)} wrote it, and not ${tools.map(({ name }) => name).join(' or ')}`,
  )
}

function judgeLastApplied(drift: Drift, { syncer }: Surroundings): Judgement | undefined {
  if (!isLive(drift) || findMetadataKey(drift, 'annotations') !== LAST_APPLIED) return undefined
  if (!(isOwned(drift) && keepsLastApplied(drift.actor.manager)) && !isFromSyncer(drift, syncer))
    return showDrift(`${describeWriter(drift)} wrote it, which is not a tool that applies`)
  if (!isAppliedAs(drift)) return showDrift('it does not hold this object as somebody applied it')
  return muteDrift(
    'client-side apply keeps in it what was applied; what it changed is shown by itself',
  )
}

/** A Secret's annotation may be unread. */
function isAppliedAs({ live, liveUnread, id }: Drift): boolean {
  if (liveUnread && live === undefined) return true
  const applied = parseOptionalJson(live)
  return (
    isJsonObject(applied) &&
    getTextAt(applied, 'kind') === id.kind &&
    getTextAt(applied, 'metadata', 'name') === id.name
  )
}

function parseOptionalJson(value: Json | undefined): Json | undefined {
  try {
    return typeof value === 'string' ? parseJson(value) : undefined
  } catch {
    return undefined
  }
}

/** A person's directive is drift: it turns the syncer off for the object. */
function judgeDirective(
  drift: Drift,
  { syncer }: Surroundings,
  rule: string,
): Judgement | undefined {
  const key = findMetadataKey(drift, 'annotations') ?? ''
  if (!isLive(drift) || !SYNCERS.some(({ directives }) => directives.get(key) === rule))
    return undefined
  if (isFromSyncer(drift, syncer))
    return muteDrift(`the syncer ${drift.actor.manager} keeps with it how it applies`)
  return SYNCERS.some((one) => isWrittenBySyncer(one, drift))
    ? muteDrift(`${describeWriter(drift)} keeps with it how it applies`)
    : showDrift(`${describeWriter(drift)} wrote it, which is not a known syncer`)
}

export const SYNCER_METADATA_RULES: readonly NoiseRule[] = [
  {
    name: 'syncer-metadata',
    reason: 'A syncer marks the objects that it applies.',
    mutes:
      'the inventory, tracking and release marks of Flux, Argo CD, Helm, Config Sync, kpt live, Sveltos, Fleet, kapp and Kluctl that the tool itself wrote; a mark that a person wrote is shown.',
    link: 'https://kubernetes.io/docs/reference/labels-annotations-taints/',
    judge: judgeMetadata,
  },
  {
    name: 'kubectl-last-applied',
    reason: 'Client-side apply stores the applied object in an annotation.',
    mutes:
      'the annotation with this very object in it, written by a tool that applies; the changes that came with it are shown.',
    link: 'https://kubernetes.io/docs/tasks/manage-kubernetes-objects/declarative-config/',
    judge: judgeLastApplied,
  },
  {
    name: 'depends-on',
    reason:
      'Annotations of kpt and Config Sync define the order and the values with which objects are applied.',
    mutes:
      'depends-on and apply-time-mutation that the syncer wrote; one that a person wrote is shown.',
    link: 'https://kpt.dev/reference/annotations/depends-on/',
    judge: (drift, surroundings) => judgeDirective(drift, surroundings, 'depends-on'),
  },
  {
    name: 'client-lifecycle',
    reason:
      'Annotations of kpt and Config Sync define what happens to an object that git removes or that others change.',
    mutes:
      'client.lifecycle.config.k8s.io/* that the syncer wrote; one that a person wrote turns the syncer off and is shown.',
    link: 'https://cloud.google.com/kubernetes-engine/enterprise/config-sync/docs/how-to/managing-objects',
    judge: (drift, surroundings) => judgeDirective(drift, surroundings, 'client-lifecycle'),
  },
]

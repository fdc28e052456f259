import type { DesiredResource } from '@backporch/kpt/desired-set'
import { getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { getMetadataText, type ResourceId } from '@backporch/kyaml/resource'
import { deriveCreator } from '../attribute/actor.ts'
import type { Drift, ObjectVerdict } from '../compare/drift.ts'
import { assessRisk } from '../risk/risk.ts'

type DriftFacts = Omit<Drift, 'liveUnread' | 'risk' | 'reason'>

export function makeDrift(drift: DriftFacts): Drift {
  const { risk, code } = assessRisk(drift)
  return { ...drift, liveUnread: false, risk, reason: code }
}

export function createUnexpectedVerdict(
  id: ResourceId,
  live: JsonObject,
  inventory: string,
): ObjectVerdict {
  const apiVersion = typeof live['apiVersion'] === 'string' ? live['apiVersion'] : ''
  const [uid, actor, notes] = [
    getMetadataText(live, 'uid') || undefined,
    deriveCreator(getManagedFields(live)),
    [`listed by ${inventory}`],
  ]
  return createWholeObjectVerdict(undefined, {
    id,
    apiVersion,
    uid,
    change: 'unexpected',
    git: undefined,
    live,
    actor,
    notes,
  })
}

export function createWholeObjectVerdict(
  desired: DesiredResource | undefined,
  drift: Omit<DriftFacts, 'path'>,
): ObjectVerdict {
  const item = makeDrift({ ...drift, path: [] })
  const { id, apiVersion } = item
  const found = {
    state: 'drifted',
    proof: 'none',
    items: [item],
    mayBeBehind: new Set([item]),
  } as const
  return {
    id,
    apiVersion,
    desired,
    ...found,
    setAside: [],
    failure: undefined,
    reapplyFails: undefined,
  }
}

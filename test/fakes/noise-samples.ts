/** Differences and surroundings for the tests of preset rules: one line says who wrote what where. */
import assert from 'node:assert/strict'
import { getManagedFields } from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { parseApiVersion } from '@backporch/kyaml/resource'
import { createActor, UNKNOWN_ACTOR } from '../../src/drift/attribute/actor.ts'
import type { ChangeKind, Drift } from '../../src/drift/compare/drift.ts'
import type { Judgement, Surroundings } from '../../src/drift/noise/noise-rule.ts'
import { findRuleByName } from '../../src/drift/noise/presets.ts'
import { NO_SCALERS } from '../../src/drift/noise/scaler.ts'
import { driftOf } from './drift-samples.ts'
import { path } from './live-object.ts'

export interface Edit {
  /** `apps/v1 Deployment shop/web`; a cluster-scoped object has no namespace. */
  readonly of: string
  readonly at: string
  readonly change?: ChangeKind | undefined
  readonly git?: Json | undefined
  readonly live?: Json | undefined
  /** `kubectl-edit`, `kpt Apply`, `kube-controller-manager Update scale`; empty for nobody. */
  readonly by: string
}

export const SYNCER = { manager: 'ci', operation: 'Apply', subresource: '' } as const

export function driftBy({ of, at, change, git, live, by }: Edit): Drift {
  const [apiVersion = '', kind = '', named = ''] = of.split(' ')
  const slash = named.indexOf('/')
  const id = {
    group: parseApiVersion(apiVersion).group,
    kind,
    namespace: named.slice(0, Math.max(0, slash)),
    name: named.slice(slash + 1),
  }
  const [manager = '', operation = 'Update', subresource = ''] = by.split(' ')
  const fields = { owned: true, children: new Map() }
  const entry = {
    manager,
    operation: operation === 'Apply' ? 'Apply' : 'Update',
    subresource,
    apiVersion,
    time: '',
    fields,
  } as const
  return {
    ...driftOf(''),
    id,
    apiVersion,
    path: path(at),
    change: change ?? (git === undefined ? 'added' : 'modified'),
    git,
    live,
    actor: by === '' ? UNKNOWN_ACTOR : createActor(entry, 'field-manager'),
  }
}

export function surroundings(more: Partial<Surroundings> = {}): Surroundings {
  const live = more.live ?? {}
  return {
    desired: {},
    live,
    managed: getManagedFields(live),
    syncer: SYNCER,
    scalers: NO_SCALERS,
    liveOf: () => undefined,
    ...more,
  }
}

/** What the rule says; fails where the rule says that it is about something else. */
export function judged(rule: string, edit: Edit, more: Partial<Surroundings> = {}): Judgement {
  const judgement = judgedOrNot(rule, edit, more)
  assert.ok(judgement !== undefined, `${rule} is not about ${edit.of} ${edit.at}`)
  return judgement
}

export function judgedOrNot(
  rule: string,
  edit: Edit,
  more: Partial<Surroundings> = {},
): Judgement | undefined {
  const found = findRuleByName(rule)
  assert.ok(found !== undefined, `there is no rule ${rule}`)
  return found.judge(driftBy(edit), surroundings(more))
}

export function assertMutes(
  rule: string,
  edit: Edit,
  more: Partial<Surroundings> = {},
  why = /./,
): void {
  const judgement = judged(rule, edit, more)
  assert.ok(
    judgement.mutes,
    `${rule} shows ${edit.at} by ${edit.by}: ${judgement.mutes ? '' : judgement.because}`,
  )
  assert.match(judgement.why, why)
}

/** The rule looks at it and says why it does not mute. */
export function assertShows(
  rule: string,
  edit: Edit,
  more: Partial<Surroundings> = {},
  because = /./,
): void {
  const judgement = judged(rule, edit, more)
  assert.ok(!judgement.mutes, `${rule} mutes ${edit.at} by ${edit.by}`)
  assert.match(judgement.because, because)
}

/** The rule is about other kinds, fields or changes. */
export function assertNotAbout(rule: string, edit: Edit, more: Partial<Surroundings> = {}): void {
  assert.equal(
    judgedOrNot(rule, edit, more),
    undefined,
    `${rule} is about ${edit.of} ${edit.at} by ${edit.by}`,
  )
}

/** An object with these annotations. */
export function annotated(annotations: JsonObject): JsonObject {
  return { metadata: { annotations } }
}

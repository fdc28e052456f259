import assert from 'node:assert/strict'
import { test } from 'node:test'
import { path } from '../../../test/fakes/live-object.ts'
import { UNKNOWN_ACTOR } from '../attribute/actor.ts'
import type { Drift, ObjectVerdict } from '../compare/drift.ts'
import { overrideRisks, type RiskOverride } from './risk-overrides.ts'

const ID = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'feature-flags' }
const ITEM: Drift = {
  ...{
    id: ID,
    apiVersion: 'v1',
    uid: 'u',
    change: 'modified',
    path: path('data.beta'),
    git: 'a',
    live: 'b',
    liveUnread: false,
  },
  ...{ actor: UNKNOWN_ACTOR, risk: 'medium', reason: 'APP-CONFIG', notes: ['a fact'] },
}

function risks(
  ...overrides: Partial<RiskOverride>[]
): Pick<Drift, 'risk' | 'reason' | 'notes'> | undefined {
  const verdict: ObjectVerdict = {
    ...{
      id: ID,
      apiVersion: 'v1',
      desired: undefined,
      state: 'drifted',
      proof: 'dry-run',
      items: [ITEM],
      setAside: [],
    },
    ...{ failure: undefined, reapplyFails: undefined },
  }
  const rule = {
    where: '.drift/policy.yaml:7',
    target: {},
    paths: [],
    managers: [],
    reason: '',
    expires: undefined,
    risk: 'low',
  } as const
  return overrideRisks(
    verdict,
    overrides.map((override) => ({ ...rule, ...override })),
  ).items[0]
}

test('the risk in the policy takes precedence, the code stays, and the note names the policy path', () => {
  const found = risks({
    target: { kind: 'ConfigMap', name: 'feature-*' },
    reason: 'flags are meant to change',
  })
  assert.equal(found?.risk, 'low')
  assert.equal(found?.reason, 'APP-CONFIG')
  assert.deepEqual(found?.notes, [
    'a fact',
    'risk low instead of medium by the policy (.drift/policy.yaml:7): flags are meant to change',
  ])
})

test('the first matching rule decides, and a rule that does not match changes nothing', () => {
  assert.equal(risks({ paths: [{ keyed: path('data.alpha') }] })?.risk, 'medium')
  assert.equal(
    risks(
      { target: { kind: 'Secret' } },
      { paths: [{ keyed: path('data') }], risk: 'critical' },
      { risk: 'low' },
    )?.risk,
    'critical',
  )
  assert.deepEqual(risks({ target: { kind: 'ConfigMap' }, risk: 'medium' })?.notes, ['a fact'])
})

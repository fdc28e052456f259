import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import type { ObjectVerdict } from '../compare/drift.ts'
import { classifyIgnored } from './classify-ignored.ts'
import type { IgnoreRule } from './ignore-rules.ts'

const RULE: IgnoreRule = {
  where: 'p:3',
  target: {},
  paths: [{ keyed: [{ kind: 'field', name: 'spec' }] }],
  managers: [],
  reason: 'ours',
  expires: undefined,
}
const VERDICT: ObjectVerdict = {
  id: driftOf('').id,
  apiVersion: 'apps/v1',
  desired: undefined,
  state: 'drifted',
  proof: 'dry-run',
  items: [driftOf('spec.replicas'), driftOf('metadata.labels.a')],
  setAside: [],
  failure: undefined,
  reapplyFails: undefined,
}

test('a rule sets covered changes aside with its reason, and keeps the rest', () => {
  const { state, items, setAside } = classifyIgnored(VERDICT, [RULE], '2026-11-21')
  assert.deepEqual([state, items.length, setAside.length], ['drifted', 1, 1])
  assert.equal(setAside[0]?.why, 'ours (p:3)')
})

test('an object with only ignored changes is in sync after a dry run, otherwise unverified', () => {
  const only = { ...VERDICT, items: [driftOf('spec.replicas')] }
  assert.equal(classifyIgnored(only, [RULE], '2026-11-21').state, 'in-sync')
  const failure = new Failure({ code: 'BP3003', what: 'x', why: 'y', remedy: 'z' })
  assert.equal(
    classifyIgnored({ ...only, proof: 'none', failure }, [RULE], '2026-11-21').state,
    'unverified',
  )
})

test('without a matching rule the verdict is unchanged', () => {
  assert.equal(
    classifyIgnored(VERDICT, [{ ...RULE, expires: '2020-01-01' }], '2026-11-21'),
    VERDICT,
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { followsAnother } from './follows.ts'

function follows(
  change: 'modified' | 'added' | 'removed',
  text: string,
  desired: JsonObject,
  live: JsonObject,
): boolean {
  const parsed = parseFieldPath(text)
  assert.ok('path' in parsed)
  return followsAnother({ change, path: parsed.path }, desired, live)
}

const PROBE: JsonObject = { spec: { probe: { path: '/' } } }

test('an undeclared field that an apply would add follows from the declared ones', () => {
  assert.equal(follows('removed', 'spec.probe.path', PROBE, { spec: {} }), false)
  assert.equal(follows('removed', 'spec.probe.period', PROBE, { spec: {} }), true)
  assert.equal(
    follows('removed', 'spec.probe.period', PROBE, { spec: { probe: { path: '/' } } }),
    true,
  )
  assert.equal(follows('removed', 'spec.other', PROBE, { spec: {} }), true)
})

test('an alias follows from its field while both are equal and git declares only the field', () => {
  const git: JsonObject = { spec: { serviceAccountName: 'web' } }
  const both = (account: string): JsonObject => ({
    spec: { serviceAccountName: 'default', serviceAccount: account },
  })
  assert.equal(follows('modified', 'spec.serviceAccount', git, both('default')), true)
  assert.equal(follows('added', 'spec.serviceAccount', git, both('default')), true)
  assert.equal(follows('modified', 'spec.serviceAccount', git, both('other')), false)
  assert.equal(
    follows(
      'modified',
      'spec.serviceAccount',
      { spec: { ...(git['spec'] as JsonObject), serviceAccount: 'web' } },
      both('default'),
    ),
    false,
  )
  assert.equal(follows('added', 'spec.serviceAccount', { spec: {} }, both('default')), false)
  const address: JsonObject = { spec: { clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] } }
  assert.equal(
    follows('modified', 'spec.clusterIPs', { spec: { clusterIP: 'None' } }, address),
    true,
  )
})

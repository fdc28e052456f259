import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../../test/seeds/fast-check.ts'
import {
  deriveEffectivePolicy,
  deriveRepositoryLimits,
  listPlacedPackages,
} from '../../../policy/effective-policy.ts'
import type { ImportedRule } from '../../../policy/import-ignores.ts'
import { parsePolicyFiles } from '../../../policy/parse-policy.ts'
import { formatPolicyText, POLICY_PATH } from './plan-onboarding-files.ts'

const read = (text: string) => parsePolicyFiles([{ path: POLICY_PATH, text }])
const rule = (name: string, packages: readonly string[], reason = 'why'): ImportedRule => ({
  packages,
  rule: { target: { kind: 'Deployment', name }, reason },
})

test('the proposed policy spells out the shipped default, so that merging it changes nothing', () => {
  const { policies } = read(formatPolicyText([], 'prod', undefined))
  const {
    location: _place,
    chain: _chain,
    ...own
  } = deriveEffectivePolicy({ policies, placements: [] }, 'prod', 'apps/web')
  const {
    location: _none,
    chain: _default,
    ...shipped
  } = deriveEffectivePolicy({ policies: [], placements: [] }, 'prod', 'apps/web')
  assert.deepEqual(own, shipped)
  assert.deepEqual(deriveRepositoryLimits({ policies }), deriveRepositoryLimits({ policies: [] }))
})

test('rules apply only in their cluster and their packages', () => {
  const set = read(
    formatPolicyText(
      [rule('a', ['apps/a']), rule('b', ['apps/a', 'apps/b']), rule('c', ['apps/a'])],
      'prod',
      undefined,
    ),
  )
  const names = (cluster: string, path: string) =>
    deriveEffectivePolicy(set, cluster, path)
      .ignore.map(({ target }) => target.name)
      .sort()
  assert.deepEqual(names('prod', 'apps/a'), ['a', 'b', 'c'])
  assert.deepEqual(names('prod', 'apps/b'), ['b'])
  assert.deepEqual(names('prod', 'apps/c'), [])
  assert.deepEqual(names('other', 'apps/a'), [])
})

test('rules apply when the repository itself is the package', () => {
  const set = read(formatPolicyText([rule('a', [''])], 'prod', undefined))
  assert.equal(deriveEffectivePolicy(set, 'prod', '').ignore.length, 1)
})

test('a placement lists the packages of the cluster', () => {
  const set = read(formatPolicyText([], 'prod', { packages: ['apps/a'] }))
  assert.deepEqual(listPlacedPackages(set, 'prod', ['apps/a', 'apps/b']), ['apps/a'])
  assert.equal(
    listPlacedPackages(read(formatPolicyText([], 'prod', undefined)), 'prod', ['apps/a']),
    undefined,
  )
})

const text = fc.string({ unit: 'grapheme', minLength: 1 })

test('any cluster name and reason survive a round trip through the file', () => {
  fc.assert(
    fc.property(
      text,
      text.filter((one) => /\S/.test(one)),
      (cluster, reason) => {
        const { policies } = read(
          formatPolicyText([rule('a', ['apps/a'], reason)], cluster, { packages: ['apps/a'] }),
        )
        assert.equal(policies.length, 2)
        assert.equal(policies[1]?.ignore[0]?.reason, reason)
        assert.deepEqual(policies[1]?.document.spec.match?.clusters, [cluster])
      },
    ),
  )
})

test('every document is marked as local config, and the file as YAML for editors', () => {
  const text = formatPolicyText([rule('a', ['apps/a'])], 'prod', { packages: ['apps/a'] })
  assert.match(text, /^# vim: ft=yaml\n/)
  assert.equal(text.match(/config\.kubernetes\.io\/local-config: "true"/g)?.length, 3)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { NOISE_RULES } from '../drift/noise/presets.ts'
import { DEFAULT_POLICY, deriveEffectivePolicy } from './effective-policy.ts'
import { parsePolicyFiles } from './parse-policy.ts'

function presetsOf(...specs: readonly string[]): readonly string[] {
  const text = specs
    .map(
      (spec, index) =>
        `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: p${index}}\nspec: ${spec}\n`,
    )
    .join('---\n')
  return deriveEffectivePolicy(
    parsePolicyFiles([{ path: '.drift/policy.yaml', text }]),
    'prod',
    'apps/web',
  ).presets
}

const ALL = NOISE_RULES.map(({ name }) => name)

test('all presets apply unless a policy says otherwise', () => {
  assert.deepEqual(DEFAULT_POLICY.presets, ALL)
  assert.deepEqual(presetsOf('{mode: Propose}'), ALL)
  assert.deepEqual(presetsOf('{extends: ["preset:recommended"]}'), ALL)
})

test('a policy selects presets or none, and the highest policy with a selection wins', () => {
  assert.deepEqual(presetsOf('{extends: ["preset:istio", "preset:hpa"]}'), ['hpa', 'istio'])
  assert.deepEqual(presetsOf('{extends: ["preset:none"]}'), [])
  assert.deepEqual(
    presetsOf(
      '{extends: ["preset:none"]}',
      '{priority: 5, extends: ["preset:vpa"]}',
      '{priority: 9, mode: Warn}',
    ),
    ['vpa'],
  )
  assert.deepEqual(
    presetsOf('{priority: 5, match: {clusters: [test]}, extends: ["preset:none"]}'),
    ALL,
  )
})

for (const [name, extended, why] of [
  [
    'an unknown name',
    '["preset:hpaa"]',
    /:4: spec\.extends\.0: there is no preset "preset:hpaa"; presets are preset:recommended, preset:none, .*preset:hpa/,
  ],
  ['a name without its prefix', '[hpa]', /there is no preset "hpa"/],
  ['a number', '[5]', /there is no preset "5"/],
  [
    'preset:none beside another preset',
    '["preset:none", "preset:hpa"]',
    /preset:none excludes all other presets/,
  ],
  ['an empty list', '[]', /spec\.extends/],
] as const) {
  test(`${name} in extends is reported with its line`, () => {
    assert.throws(
      () => presetsOf(`{extends: ${extended}}`),
      (thrown) => thrown instanceof Failure && thrown.code === 'BP1005' && why.test(thrown.why),
    )
  })
}

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { driftBy, surroundings } from '../../../test/fakes/noise-samples.ts'
import {
  findRuleByName,
  formatPresetName,
  listPresetRules,
  NOISE_RULES,
  NONE,
  PRESET_NAMES,
  RECOMMENDED,
} from './presets.ts'

test('each rule has a unique name, printable sentences and a link', () => {
  assert.equal(new Set(PRESET_NAMES).size, PRESET_NAMES.length)
  for (const { name, reason, mutes, link } of NOISE_RULES) {
    assert.match(name, /^[a-z]+(-[a-z]+)*$/)
    assert.match(reason, /^[A-Z][\x20-\x7e]{20,200}\.$/, name)
    assert.match(mutes, /^[\x20-\x7e]{20,300}\.$/, name)
    assert.match(link, /^https:\/\/[\x21-\x7e]+$/, name)
  }
})

test('the guide has a row for each preset, with the sentences that explain prints', () => {
  const guide = readFileSync(new URL('../../../docs/guides/noise.md', import.meta.url), 'utf8')
  const rows = guide.split('\n').filter((line) => line.startsWith('| [`'))
  assert.deepEqual(
    rows,
    NOISE_RULES.map(
      ({ name, reason, mutes, link }) => `| [\`${name}\`](${link}) | ${reason} | ${mutes} |`,
    ),
  )
})

test('recommended means all rules and is the default, none means no rules, and single ones keep their order', () => {
  const all = NOISE_RULES.map(({ name }) => name)
  assert.deepEqual(listPresetRules(undefined), all)
  assert.deepEqual(listPresetRules([RECOMMENDED]), all)
  assert.deepEqual(listPresetRules([NONE]), [])
  assert.deepEqual(listPresetRules(['preset:istio', 'preset:hpa']), ['hpa', 'istio'])
  for (const rule of NOISE_RULES) assert.equal(findRuleByName(formatPresetName(rule)), rule)
  assert.equal(findRuleByName('preset:nothing'), undefined)
})

const WRITERS = [
  'kube-controller-manager',
  'kube-apiserver',
  'cainjector',
  'vpa-updater',
  'istio-sidecar-injector',
  'x-controller',
  'helm',
  'kpt Apply',
  'kubectl-edit',
  '',
]
const CONTENT = [
  [
    'apps/v1 Deployment shop/web',
    'spec.template.spec.containers[name=app].env[name=DEBUG]',
    { name: 'DEBUG', value: '1' },
  ],
  ['apps/v1 Deployment shop/web', 'spec.template.spec.containers[name=app].image', 'evil'],
  [
    'apps/v1 Deployment shop/web',
    'spec.template.spec.containers[name=app].securityContext.privileged',
    true,
  ],
  ['apps/v1 Deployment shop/web', 'spec.template.spec.containers[name=shell]', { name: 'shell' }],
  ['v1 ConfigMap shop/web', 'data.mode', 'fast'],
  ['v1 Service shop/web', 'spec.selector.app', 'other'],
  [
    'rbac.authorization.k8s.io/v1 ClusterRoleBinding all',
    'subjects',
    [{ kind: 'User', name: 'x' }],
  ],
  ['v1 Namespace shop', 'metadata.labels["pod-security.kubernetes.io/enforce"]', 'privileged'],
] as const

test('never mutes workload content and permissions, whatever the manager name', () => {
  for (const by of WRITERS) {
    for (const [of, at, live] of CONTENT) {
      for (const git of [undefined, 'before'])
        for (const rule of NOISE_RULES) {
          const judgement = rule.judge(
            driftBy({ of, at, live, by, ...(git === undefined ? {} : { git }) }),
            surroundings(),
          )
          assert.notEqual(judgement?.mutes, true, `${rule.name} mutes ${at} by ${by}`)
        }
    }
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertDurationToSeconds } from '@backporch/kyaml/text'
import * as fc from '../../test/seeds/fast-check.ts'
import {
  DEFAULT_LIMITS,
  DEFAULT_POLICY,
  deriveEffectivePolicy,
  deriveRepositoryLimits,
  getClusterDetection,
  getClusterStaleAfter,
  listPlacedPackages,
} from './effective-policy.ts'
import { type PolicySet, parsePolicyFiles } from './parse-policy.ts'
import { isScheduled } from './windows.ts'

function policies(...specs: readonly (readonly [name: string, spec: string])[]): PolicySet {
  const text = specs
    .map(
      ([name, spec]) =>
        `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: ${name}}\nspec: ${spec}\n`,
    )
    .join('---\n')
  return parsePolicyFiles([{ path: '.drift/policy.yaml', text }])
}

function placement(clusters: string, packages: string): PolicySet {
  const text = `apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: a}\nspec: {clusters: [${clusters}], packages: [${packages}]}\n`
  return parsePolicyFiles([{ path: '.drift/placement.yaml', text }])
}

const GLOBS: readonly (readonly [glob: string, path: string, matches: boolean])[] = [
  ['apps/web', 'apps/web', true],
  ['apps/web', 'apps/web2', false],
  ['apps/*', 'apps/web', true],
  ['apps/*', 'apps/web/sub', false],
  ['apps/*', 'apps', false],
  ['*', 'apps', true],
  ['*', 'apps/web', false],
  ['**', 'apps/web/sub', true],
  ['**', '', true],
  ['apps/**', 'apps/web/sub', true],
  ['apps/**', 'apps', true],
  ['apps/**', 'application', false],
  ['**/web', 'web', true],
  ['**/web', 'a/b/web', true],
  ['**/web', 'a/b/web2', false],
  ['a/**/z', 'a/z', true],
  ['a/**/z', 'a/b/c/z', true],
  ['a/**/b/**/z', 'a/b/x/b/z', true],
  ['a/**/b/**/z', 'a/x/z', false],
  ['w*b', 'web', true],
  ['w*b', 'wb', true],
  ['w*b', 'webb', true],
  ['w*b*', 'webx', true],
  ['w*bx', 'wbbbx', true],
  ['a.c', 'abc', false],
  ['[a]', 'a', false],
]

for (const [glob, path, matches] of GLOBS) {
  test(`the package glob ${glob} ${matches ? 'matches' : 'does not match'} ${JSON.stringify(path)}`, () => {
    const effective = deriveEffectivePolicy(
      policies(['p', `{mode: Off, match: {packages: ["${glob}"]}}`]),
      'any',
      path,
    )
    assert.equal(effective.mode === 'Off', matches)
  })
}

test('a star in a cluster glob matches any text, slashes included', () => {
  const set = policies(['p', '{mode: Off, match: {clusters: ["arn:*:cluster/*"]}}'])
  assert.equal(deriveEffectivePolicy(set, 'arn:aws:eks:eu:1:cluster/prod', 'a').mode, 'Off')
  assert.equal(deriveEffectivePolicy(set, 'prod', 'a').mode, 'Warn')
})

/** The meaning of a glob, written down the slow and plain way. */
function slowly(glob: readonly string[], path: readonly string[]): boolean {
  const [head, ...rest] = glob
  if (head === undefined) return path.length === 0
  if (head === '**') return slowly(rest, path) || (path.length > 0 && slowly(glob, path.slice(1)))
  return (
    path[0] !== undefined &&
    new RegExp(`^${head.replaceAll('*', '.*')}$`).test(path[0]) &&
    slowly(rest, path.slice(1))
  )
}

test('globs agree with a reference implementation', () => {
  const segment = fc.constantFrom('a', 'b', 'ab', 'aab', 'abab')
  const wild = fc.constantFrom('a', 'b', '*', '**', 'a*', '*b', 'a*b', '*a*b')
  fc.assert(
    fc.property(
      fc.array(wild, { minLength: 1, maxLength: 6 }),
      fc.array(segment, { minLength: 1, maxLength: 6 }),
      (glob, path) => {
        const set = policies(['p', `{mode: Off, match: {packages: ["${glob.join('/')}"]}}`])
        assert.equal(
          deriveEffectivePolicy(set, 'c', path.join('/')).mode === 'Off',
          slowly(glob, path),
          `${glob.join('/')} ${path.join('/')}`,
        )
      },
    ),
    { numRuns: 500 },
  )
})

test('matching a hostile glob takes at most the product of the lengths', () => {
  const path = Array(400).fill('a').join('/')
  const started = process.cpuUsage()
  for (const glob of [`${'**/'.repeat(200)}x`, `${'**/a/'.repeat(100)}x`, `${'*a'.repeat(500)}x`]) {
    assert.equal(
      deriveEffectivePolicy(
        policies(['p', `{mode: Off, match: {packages: ["${glob}"]}}`]),
        'c',
        path,
      ).mode,
      'Warn',
    )
  }
  assert.ok(process.cpuUsage(started).user < 2_000_000)
})

test('each setting comes from the policy of the highest priority; ignore rules of all policies apply', () => {
  const set = policies(
    [
      'low',
      '{mode: Propose, settle: backporch, decide: {closeSilence: 2h}, ignore: [{managers: [a], reason: low}]}',
    ],
    ['z-high', '{priority: 10, mode: Off, ignore: [{managers: [b], reason: high}]}'],
    ['other', '{priority: 99, match: {clusters: [dev]}, mode: Warn}'],
  )
  const effective = deriveEffectivePolicy(set, 'prod', 'apps/web')
  assert.equal(effective.name, 'z-high')
  assert.equal(effective.mode, 'Off')
  assert.equal(effective.settle, 'backporch')
  assert.equal(effective.closeSilence, 7200)
  assert.deepEqual(
    effective.ignore.map(({ reason }) => reason),
    ['high', 'low'],
  )
  assert.deepEqual(effective.chain, [
    'policy/z-high (.drift/policy.yaml:6)',
    'policy/low (.drift/policy.yaml:1)',
    'shipped default (Warn)',
  ])
})

test('policies of equal priority are ordered by name, not by their order in the files', () => {
  const [a, b]: (readonly [string, string])[] = [
    ['a', '{mode: Off}'],
    ['b', '{mode: Propose}'],
  ]
  for (const set of [policies(a as never, b as never), policies(b as never, a as never)])
    assert.equal(deriveEffectivePolicy(set, 'c', 'p').mode, 'Off')
})

test('policies of equal priority and name are ordered by file, not by reading order', () => {
  const of = (path: string, mode: string): PolicySet => {
    const text = `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: same}\nspec: {mode: ${mode}}\n`
    return parsePolicyFiles([{ path, text }])
  }
  const [a, b] = [of('.drift/a.yaml', 'Off').policies, of('.drift/b.yaml', 'Propose').policies]
  for (const list of [
    [...a, ...b],
    [...b, ...a],
  ])
    assert.equal(deriveEffectivePolicy({ policies: list, placements: [] }, 'c', 'p').mode, 'Off')
})

test('without any policy, only the shipped default applies', () => {
  assert.deepEqual(
    deriveEffectivePolicy({ policies: [], placements: [] }, 'c', 'p'),
    DEFAULT_POLICY,
  )
})

test('a placement lists the packages of its clusters; without placements the list is undefined', () => {
  assert.equal(listPlacedPackages({ policies: [], placements: [] }, 'prod', ['a']), undefined)
  assert.deepEqual(
    listPlacedPackages(placement('"prod-*"', '"apps/*"'), 'prod-1', ['apps/web', 'infra/dns']),
    ['apps/web'],
  )
  assert.deepEqual(listPlacedPackages(placement('"prod-*"', '"**"'), 'dev', ['apps/web']), [])
})

test('durations convert to seconds from whole seconds, minutes, hours and days', () => {
  assert.deepEqual(
    ['0s', '30s', '30m', '24h', '30d'].map(convertDurationToSeconds),
    [0, 30, 1800, 86_400, 2_592_000],
  )
})

test('ages are resolved setting by setting, and windows of all matching policies are collected', () => {
  const set = policies(
    [
      'low',
      '{detect: {minAge: 5m, settle: 0s}, windows: [{name: a, kind: hold, schedule: "0 18 * * FRI", duration: 62h, except: [high]}]}',
    ],
    [
      'high',
      '{priority: 1, detect: {minAge: 0s}, decide: {remindAfter: 1d}, windows: [{name: a, kind: adopt, schedule: "0 1 * * *", duration: 30s}]}',
    ],
    ['other', '{priority: 2, match: {clusters: [dev]}, detect: {minAge: 1h}}'],
  )
  const { detect, remindAfter, windows } = deriveEffectivePolicy(set, 'prod', 'apps/web')
  assert.deepEqual(detect, {
    minAge: 0,
    settle: 0,
    unobservedAfter: 900,
    interval: 600,
    staleAfter: undefined,
    stuckAfter: undefined,
  })
  assert.equal(remindAfter, 86_400)
  assert.deepEqual(
    windows.map((window) => [
      window.kind,
      window.where,
      ...(isScheduled(window) ? [window.duration, window.timezone] : []),
      window.except,
    ]),
    [
      ['adopt', '.drift/policy.yaml:9', 30, 'UTC', []],
      ['hold', '.drift/policy.yaml:4', 223_200, 'UTC', ['high']],
    ],
  )
})

test('limits are repository-wide: the highest policy with a value wins, whatever it matches', () => {
  const set = policies(
    ['low', '{limits: {prHourlyLimit: 7, stormThreshold: 9}}'],
    [
      'high',
      '{priority: 1, match: {clusters: [dev]}, limits: {prHourlyLimit: 0, massMinClusters: 5}}',
    ],
  )
  assert.deepEqual(deriveRepositoryLimits(set), {
    ...DEFAULT_LIMITS,
    prHourlyLimit: 0,
    stormThreshold: 9,
    massMinClusters: 5,
  })
  assert.deepEqual(deriveRepositoryLimits({ policies: [] }), DEFAULT_LIMITS)
})

test('a policy for a cluster sets how long the cluster may be unobserved', () => {
  const set = policies(['dev', '{match: {clusters: [dev]}, detect: {unobservedAfter: 2h}}'])
  assert.deepEqual(
    [
      getClusterDetection(set, 'dev', 'unobservedAfter'),
      getClusterDetection(set, 'prod', 'unobservedAfter'),
    ],
    [7_200, 900],
  )
  assert.deepEqual(
    [getClusterDetection(set, 'dev', 'interval'), getClusterDetection(set, 'prod', 'interval')],
    [600, 600],
  )
  const rare = policies(
    ['dev', '{match: {clusters: [dev]}, detect: {interval: 1d}}'],
    ['prod', '{match: {clusters: [prod]}, detect: {staleAfter: 1h}}'],
  )
  assert.deepEqual(
    ['dev', 'prod', 'other'].map((cluster) => getClusterStaleAfter(rare, cluster)),
    [259_200, 3_600, 1_800],
  )
})

test('the word off disables the digest in either case; the highest policy with a value wins', () => {
  const digest = (...specs: readonly string[]) =>
    deriveRepositoryLimits(policies(...specs.map((spec, index) => [`p${index}`, spec] as const)))
      .digest
  assert.equal(digest('{}'), '0 8 * * MON')
  for (const word of ['off', 'Off', '"off"'])
    assert.equal(digest(`{limits: {digest: ${word}}}`), undefined)
  assert.equal(
    digest('{priority: 1, limits: {digest: off}}', '{limits: {digest: "0 6 * * *"}}'),
    undefined,
  )
  assert.equal(
    digest('{limits: {digest: off}}', '{priority: 1, limits: {digest: " 0 6 * * * "}}'),
    '0 6 * * *',
  )
})

test('escalation is never earlier than twice the reminder, unless a policy sets it', () => {
  const after = (...specs: readonly string[]): number =>
    deriveEffectivePolicy(
      policies(...specs.map((spec, index) => [`p${index}`, spec] as const)),
      'c',
      'p',
    ).escalateAfter / 86_400
  assert.equal(after('{}'), 14)
  assert.equal(after('{decide: {remindAfter: 1d}}'), 14)
  assert.equal(after('{decide: {remindAfter: 20d}}'), 40)
  assert.equal(after('{decide: {remindAfter: 1d, escalateAfter: 2d}}'), 2)
  assert.equal(
    after('{decide: {remindAfter: 20d}}', '{priority: 1, decide: {escalateAfter: 10d}}'),
    20,
    'of two policies',
  )
})

test('a window with a label condition has labels and no schedule', () => {
  const { windows } = deriveEffectivePolicy(
    policies(['p', '{windows: [{name: a, kind: adopt, when: {label: {incident: open}}}]}']),
    'c',
    'p',
  )
  assert.deepEqual(windows, [
    {
      name: 'a',
      kind: 'adopt',
      where: '.drift/policy.yaml:4',
      except: [],
      labels: new Map([['incident', 'open']]),
    },
  ])
})

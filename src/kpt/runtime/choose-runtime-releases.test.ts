import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUILT_IN } from '../../../functions/built-in-functions.ts'
import {
  setEveryNamespace,
  setEveryNamespaceIfConfigured,
  setNamespace,
  setOldNamespace,
  setOldNamespaceOrFail,
} from '../../../functions/set-namespace/fn.ts'
import {
  setNamespaceOfAccounts,
  setNamespaceOfKustomize,
} from '../../../functions/set-namespace/kustomize-namespace.ts'
import { chosen, stepOf } from '../../../test/fakes/chosen-runtime.ts'
import type { BuiltIn } from './choose-release.ts'
import { chooseRuntime, NOTHING_ALLOWED } from './choose-runtime.ts'
import {
  formatRelease,
  parseConstraint,
  parseRelease,
  type ReleaseVersion,
} from './release-version.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`

test('a catalog image is built in by name and release, in both registries and by its short name', () => {
  for (const prefix of ['', 'gcr.io/kpt-fn/', 'ghcr.io/kptdev/krm-functions-catalog/']) {
    assert.equal(chosen({ image: `${prefix}set-labels:v0.2.0` }), 'set-labels 0')
    assert.equal(chosen({ image: `${prefix}set-labels:v0.2.1` }), 'set-labels 0')
    assert.equal(chosen({ image: `${prefix}set-labels:v0.1.4` }), 'BP1201')
    assert.equal(chosen({ image: `${prefix}set-labels:v0.3.0` }), 'BP1201')
    assert.equal(chosen({ image: `${prefix}starlark:v0.5.0` }), 'BP1201')
  }
  assert.equal(chosen({ image: 'registry.example/kpt-fn/set-labels:v0.2.0' }), 'BP1206')
  assert.equal(
    chosen({ image: 'ghcr.io/kptdev/krm-functions-catalog/more/set-labels:v0.2.0' }),
    'BP1201',
  )
})

test('a release selects the behavior that it had', () => {
  const { variants } = BUILT_IN.get('set-namespace') ?? assert.fail('it is built in')
  assert.deepEqual(
    variants.map(({ run }) => run),
    [
      setNamespace,
      setEveryNamespace,
      setEveryNamespaceIfConfigured,
      setOldNamespace,
      setOldNamespaceOrFail,
      setNamespaceOfAccounts,
      setNamespaceOfKustomize,
    ],
  )
  const name = 'ghcr.io/kptdev/krm-functions-catalog/set-namespace'
  const of = (tag: string): string => chosen({ image: `${name}:${tag}` })
  assert.deepEqual(
    [
      'v0.3.1',
      'v0.3.2',
      'v0.3.3',
      'v0.3.4',
      'v0.4.0',
      'v0.4.1',
      'v0.4.2',
      'v0.4.5',
      'v0.4.6',
      'v0.4.7',
    ].map(of),
    [
      'BP1201',
      'set-namespace 4',
      'set-namespace 3',
      'set-namespace 3',
      'set-namespace 2',
      'set-namespace 1',
      'BP1201',
      'BP1201',
      'set-namespace 0',
      'BP1201',
    ],
  )
  assert.deepEqual(['v0.1.3', 'v0.1.4', 'v0.1.5', 'v0.2.0', 'v0.2.1', 'v0.3.0'].map(of), [
    'BP1201',
    'set-namespace 6',
    'BP1201',
    'set-namespace 5',
    'BP1201',
    'BP1201',
  ])
})

test('a moving tag means the newest known release, with a note; no tag of the older registry moves', () => {
  const name = 'ghcr.io/kptdev/krm-functions-catalog/set-namespace'
  for (const image of [
    `${name}:latest`,
    name,
    `${name}:v0.4`,
    `${name}:v0`,
    `${name}:unstable`,
    'set-namespace',
  ])
    assert.equal(chosen({ image }), 'set-namespace 0 remark', image)
  assert.equal(chosen({ image: `${name}:v0.3` }), 'set-namespace 3 remark')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/set-namespace:v0.4' }), 'set-namespace 1')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/set-namespace:v0.2' }), 'set-namespace 5')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/set-namespace:v0.1' }), 'set-namespace 6')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/set-namespace' }), 'set-namespace 1')
  // Its newest release sets init containers, which the one that is built in does not.
  assert.equal(chosen({ image: 'ghcr.io/kptdev/krm-functions-catalog/set-image:latest' }), 'BP1201')
  const choice = chooseRuntime(stepOf({ image: `${name}:latest` }), NOTHING_ALLOWED, BUILT_IN)
  assert.equal(
    choice.is === 'built-in' && choice.remark,
    `the tag latest of ${name} changes its release over time: v0.4.6 runs`,
  )
})

test('the tag of an earlier minor version means its last release', () => {
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/apply-setters:v0.1' }), 'apply-setters 1')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/apply-setters:v0.1.1' }), 'apply-setters 1')
  assert.equal(chosen({ image: 'apply-setters:v0.1' }), 'apply-setters 1 remark')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/apply-setters:v0' }), 'apply-setters 0')
  assert.equal(chosen({ exec: 'apply-setters' }), 'apply-setters 0')
})

test('a rejection names the built-in releases, and no release between them', () => {
  const run = BUILT_IN.get('set-labels')?.variants[0].run ?? assert.fail('it is built in')
  const builtIns = new Map([
    [
      'some',
      {
        variants: [
          { from: [0, 3, 0], below: [0, 4, 0], run },
          { from: [0, 1, 1], below: [0, 1, 2], run },
          { from: [0, 2, 0], below: [0, 2, 2], run },
          { from: [0, 2, 2], below: [0, 2, 4], run },
        ],
        newest: [0, 3, 1],
        last: undefined,
      },
    ],
  ] as const satisfies readonly [string, BuiltIn][])
  const choice = chooseRuntime(
    stepOf({ image: 'gcr.io/kpt-fn/some:v0.1.0' }),
    NOTHING_ALLOWED,
    builtIns,
  )
  assert.match(
    choice.is === 'refused' ? choice.failure.why : '',
    /\(v0\.1\.1, v0\.2\.0 to v0\.2\.3, from v0\.3\.0, below v0\.4\.0\)$/,
  )
})

test('a digest counts only beside a release', () => {
  const name = 'ghcr.io/kptdev/krm-functions-catalog/set-namespace'
  assert.equal(chosen({ image: `${name}:v0.4.6@${DIGEST}` }), 'set-namespace 0')
  assert.equal(chosen({ image: `${name}@${DIGEST}` }), 'BP1201')
})

test('a tag field, which may be a constraint, replaces the tag of the image', () => {
  const image = 'set-namespace:v0.3.0'
  assert.equal(chosen({ image, tag: 'v0.4.1' }), 'set-namespace 1')
  assert.equal(chosen({ image, tag: '<0.4.6' }), 'BP1201', 'v0.4.5 is a release, and not built in')
  assert.equal(chosen({ image, tag: '<0.4.2' }), 'set-namespace 1 remark')
  assert.equal(chosen({ image, tag: '~0.4' }), 'set-namespace 0 remark')
  assert.equal(chosen({ image, tag: '0.3.x || 0.4.1' }), 'set-namespace 1 remark')
  assert.equal(chosen({ image, tag: '>=0.5' }), 'BP1201')
})

test('evaluates constraints like Masterminds/semver', () => {
  const releases: readonly ReleaseVersion[] = [
    [0, 0, 3],
    [0, 1, 0],
    [0, 4, 1],
    [0, 4, 9],
    [0, 5, 0],
    [1, 0, 0],
    [1, 2, 3],
  ]
  const holding = (text: string): string | undefined => {
    const holds = parseConstraint(text)
    return holds && releases.filter(holds).map(formatRelease).join(' ')
  }
  assert.equal(holding('>=0.4.1, <0.5'), 'v0.4.1 v0.4.9')
  assert.equal(holding('> 0.4'), 'v0.5.0 v1.0.0 v1.2.3')
  assert.equal(holding('<=0.4'), 'v0.0.3 v0.1.0 v0.4.1 v0.4.9')
  assert.equal(holding('~0.4.1'), 'v0.4.1 v0.4.9')
  assert.equal(holding('~0'), 'v0.0.3 v0.1.0 v0.4.1 v0.4.9 v0.5.0')
  assert.equal(holding('^0.4.1'), 'v0.4.1 v0.4.9')
  assert.equal(holding('^1.0'), 'v1.0.0 v1.2.3')
  assert.equal(holding('^0.0.3'), 'v0.0.3')
  assert.equal(holding('0.4.x'), 'v0.4.1 v0.4.9')
  assert.equal(holding('*'), 'v0.0.3 v0.1.0 v0.4.1 v0.4.9 v0.5.0 v1.0.0 v1.2.3')
  assert.equal(holding('!=0.4'), 'v0.0.3 v0.1.0 v0.5.0 v1.0.0 v1.2.3')
  assert.equal(holding('0.4.2 - 1.0'), 'v0.4.9 v0.5.0 v1.0.0')
  assert.equal(holding('v0.1.0 || >=1.2'), 'v0.1.0 v1.2.3')
  for (const text of ['latest', '', '>=', '1.2.3.4', 'v0.4.1-rc.1', '=> x y'])
    assert.equal(holding(text), undefined, text)
  assert.deepEqual([parseRelease('v01.2.3'), parseRelease('v0.4')], [undefined, undefined])
})

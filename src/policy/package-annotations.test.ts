import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { readResource } from '@backporch/kyaml/resource'
import { driftOf } from '../../test/fakes/drift-samples.ts'
import { findIgnoringRule } from '../drift/noise/ignore-rules.ts'
import { DEFAULT_POLICY } from './effective-policy.ts'
import {
  applyPackageAnnotations,
  listLiveOnlyAnnotations,
  readPackageAnnotations,
} from './package-annotations.ts'

const TODAY = '2026-11-21'

function deployment(annotations: string): string {
  const indented = annotations.replace(/^/gm, '    ')
  return `# first\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\n  annotations:\n${indented}\n`
}

function resourceIn(text: string): DesiredResource {
  const resource = readResource(parseGoYaml(text, 'd.yaml').documents[0]?.value ?? null)
  assert.ok(!('problem' in resource))
  return {
    ...resource,
    location: { path: 'apps/web/d.yaml', document: 0, item: undefined, line: 2 },
  }
}

function read(annotations: string, kptfile: { readonly [key: string]: string } = {}, kptText = '') {
  const text = deployment(annotations)
  const texts = new Map([
    ['apps/web/d.yaml', text],
    ['apps/web/Kptfile', kptText],
  ])
  const own = { path: 'apps/web/Kptfile', annotations: new Map(Object.entries(kptfile)) }
  return readPackageAnnotations(own, [resourceIn(text)], (path) => texts.get(path))
}

const IGNORE = 'backporch.dev/ignore: spec.replicas\nbackporch.dev/reason: KEDA scales it'

test('annotated paths hide those fields of the object and of no other object', () => {
  const { rules, problems } = read(IGNORE)
  assert.deepEqual(problems, [])
  const hides = (drift: ReturnType<typeof driftOf>) => findIgnoringRule(drift, rules, TODAY)?.where
  assert.equal(hides(driftOf('spec.replicas')), 'apps/web/d.yaml:8', 'the line of the annotation')
  assert.equal(hides(driftOf('spec.paused')), undefined)
  assert.equal(
    hides(
      driftOf('spec.replicas', {
        id: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'api' },
      }),
    ),
    undefined,
  )
})

test('paths are separated by line breaks or by commas outside brackets and quotes', () => {
  const { rules, problems } = read(
    'backporch.dev/reason: r\nbackporch.dev/ignore: |\n  spec.a, spec.ports[port=80,protocol=TCP]\n  metadata.annotations["a,b"],/spec/b',
  )
  assert.deepEqual([problems, rules[0]?.paths.length], [[], 4])
})

test('mode Off hides all drift of the object, deletion included, until the expiry date', () => {
  const { rules } = read(
    'backporch.dev/mode: "Off"\nbackporch.dev/reason: rebuilt by hand\nbackporch.dev/expires: 2026-11-21',
  )
  assert.notEqual(findIgnoringRule(driftOf('', { change: 'missing' }), rules, TODAY), undefined)
  assert.equal(findIgnoringRule(driftOf('', { change: 'missing' }), rules, '2026-11-22'), undefined)
})

const WRONG: readonly (readonly [annotations: string, problem: RegExp])[] = [
  [
    'backporch.dev/ignore: spec.replicas',
    /^apps\/web\/d\.yaml:8: backporch\.dev\/ignore: it needs a backporch\.dev\/reason too; it hides nothing$/,
  ],
  [
    'backporch.dev/reason: r\nbackporch.dev/ignore: spec.a,spec..b',
    /^apps\/web\/d\.yaml:9: .*wanted a field name at character 6 of "spec\.\.b"/,
  ],
  ['backporch.dev/reason: r\nbackporch.dev/ignore: " , "', /it names no path/],
  [
    `${IGNORE}\nbackporch.dev/expires: tomorrow`,
    /^apps\/web\/d\.yaml:10: backporch\.dev\/expires: wanted a date/,
  ],
  ['backporch.dev/reason: r\nbackporch.dev/mode: Warn', /an object can only be switched Off/],
  ['backporch.dev/mode: "Off"', /it needs a backporch\.dev\/reason/],
  [
    'backporch.dev/ignores: spec.replicas',
    /^apps\/web\/d\.yaml:8: backporch\.dev\/ignores: did you mean backporch\.dev\/ignore\?/,
  ],
]

for (const [annotations, problem] of WRONG) {
  test(`an invalid annotation hides nothing and is reported with its line: ${annotations.replaceAll('\n', ' ')}`, () => {
    const { rules, problems } = read(annotations)
    assert.deepEqual([rules.length, problems.length], [0, 1], problems.join())
    assert.match(problems[0] ?? '', problem)
  })
}

test('Kptfile annotations apply to all objects, after object annotations and before policies', () => {
  const kptText =
    'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n  annotations:\n    backporch.dev/mode: Propose\n'
  const found = read(
    IGNORE,
    {
      'backporch.dev/mode': 'Propose',
      'backporch.dev/ignore': 'metadata.labels',
      'backporch.dev/reason': 'r',
    },
    kptText,
  )
  assert.deepEqual(found.mode, { mode: 'Propose', where: 'apps/web/Kptfile:6' })
  const rule = {
    where: 'p:1',
    target: {},
    paths: [],
    managers: ['x'],
    reason: 'r',
    expires: undefined,
  }
  const policy = applyPackageAnnotations({ ...DEFAULT_POLICY, ignore: [rule] }, found)
  assert.deepEqual(
    policy.ignore.map(({ level }) => level),
    ['object', 'package', undefined],
  )
  assert.deepEqual(
    [policy.mode, policy.chain[0]],
    ['Propose', 'Kptfile annotation (apps/web/Kptfile:6)'],
  )
  const wrong = read('a: b', { 'backporch.dev/mode': 'Auto' })
  assert.equal(wrong.mode, undefined)
  assert.match(
    wrong.problems.join(),
    /^apps\/web\/Kptfile:1: backporch\.dev\/mode: wanted one of Off, Warn, Propose/,
  )
})

test('lists annotations that only the live object has', () => {
  const git = new Map([['backporch.dev/ignore', 'spec.a']])
  const live = new Map([
    ['backporch.dev/ignore', 'spec'],
    ['backporch.dev/mode', 'Off'],
    ['other', 'x'],
  ])
  assert.deepEqual(listLiveOnlyAnnotations(live, git), [
    'backporch.dev/ignore',
    'backporch.dev/mode',
  ])
  assert.deepEqual(listLiveOnlyAnnotations(git, git), [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import { ruleOf as rule } from '../../../test/fakes/rule-samples.ts'
import type { Drift } from '../compare/drift.ts'
import {
  computeRuleId,
  describeMismatch,
  describeRule,
  findIgnoreMismatch,
  findIgnoringRule,
  type IgnoreRule,
  type RuleSides,
} from './ignore-rules.ts'

const TODAY = '2026-11-21'

const REPLICAS = driftOf('spec.replicas')
const IMAGE = driftOf('spec.template.spec.containers[name=app].image')
const OWNER = driftOf('metadata.annotations["example.com/owner"]')
const REMOVED: Drift = {
  ...REPLICAS,
  change: 'removed',
  actor: { ...REPLICAS.actor, manager: 'hpa', confidence: 'last-writer' },
}
const PORT = driftOf('spec.ports[port=80,protocol=TCP]')
const STAR = driftOf('spec.hosts[="*.shop"]')
const MISSING = driftOf('', { change: 'missing' })

const ROWS: readonly (readonly [name: string, drift: Drift, rule: IgnoreRule, ignored: boolean])[] =
  [
    ['the field itself', REPLICAS, rule({ paths: ['spec.replicas'] }), true],
    ['a field below', IMAGE, rule({ paths: ['spec.template'] }), true],
    ['a field above', driftOf('spec'), rule({ paths: ['spec.replicas'] }), false],
    [
      'a name with the same prefix',
      driftOf('spec.replicasMax'),
      rule({ paths: ['spec.replicas'] }),
      false,
    ],
    [
      'an item by its key',
      IMAGE,
      rule({ paths: ['spec.template.spec.containers[name=app]'] }),
      true,
    ],
    ['another item', IMAGE, rule({ paths: ['spec.template.spec.containers[name=web]'] }), false],
    ['a pointer to a field', REPLICAS, rule({ paths: ['/spec/replicas'] }), true],
    [
      'a pointer with an escaped slash',
      OWNER,
      rule({ paths: ['/metadata/annotations/example.com~1owner'] }),
      true,
    ],
    [
      'a pointer to an index of a keyed list',
      IMAGE,
      rule({ paths: ['/spec/template/spec/containers/0/image'] }),
      false,
    ],
    [
      'a pointer to an index of an atomic list',
      driftOf('spec.args[1]'),
      rule({ paths: ['/spec/args/1'] }),
      true,
    ],
    ['one of several paths', REPLICAS, rule({ paths: ['spec.paused', 'spec.replicas'] }), true],
    ['the manager', REPLICAS, rule({ managers: ['kubectl-edit'] }), true],
    ['another manager', REPLICAS, rule({ managers: ['hpa'] }), false],
    ['a guessed manager', REMOVED, rule({ managers: ['hpa'] }), false],
    ['the target', REPLICAS, rule({ target: { kind: 'Deployment', name: 'web' } }), true],
    [
      'a target of another namespace',
      REPLICAS,
      rule({ target: { kind: 'Deployment', namespace: 'x' } }),
      false,
    ],
    [
      'a rule with every criterion',
      REPLICAS,
      rule({
        target: { kind: 'Deployment' },
        paths: ['spec.replicas'],
        managers: ['kubectl-edit'],
      }),
      true,
    ],
    [
      'a rule with one criterion that differs',
      REPLICAS,
      rule({ target: { kind: 'Deployment' }, paths: ['spec.replicas'], managers: ['hpa'] }),
      false,
    ],
    ['a whole object by its target', MISSING, rule({ target: { kind: 'Deployment' } }), true],
    [
      'a whole object by one of its paths',
      MISSING,
      rule({ target: { kind: 'Deployment' }, paths: ['spec'] }),
      false,
    ],
    [
      'any name by a star',
      driftOf('metadata.annotations["example.com/x"]'),
      rule({ paths: ['metadata.annotations["example.com/*"]'] }),
      true,
    ],
    [
      'a prefix other than that of the star',
      OWNER,
      rule({ paths: ['metadata.annotations["example.org/*"]'] }),
      false,
    ],
    [
      'every item of a list',
      IMAGE,
      rule({ paths: ['spec.template.spec.containers[name=*].image'] }),
      true,
    ],
    [
      'items by a key prefix',
      IMAGE,
      rule({ paths: ['spec.template.spec.containers[name=a*].image'] }),
      true,
    ],
    [
      'items with another key prefix',
      IMAGE,
      rule({ paths: ['spec.template.spec.containers[name=b*].image'] }),
      false,
    ],
    [
      'another field of every item',
      IMAGE,
      rule({ paths: ['spec.template.spec.containers[*].env'] }),
      false,
    ],
    ['any step', IMAGE, rule({ paths: ['spec.template.spec.containers[*].image'] }), true],
    ['one of several keys', PORT, rule({ paths: ['spec.ports[port=80]'] }), true],
    [
      'one of several keys, with another value',
      PORT,
      rule({ paths: ['spec.ports[port=81]'] }),
      false,
    ],
    ['a number by a star', PORT, rule({ paths: ['spec.ports[port=8*]'] }), true],
    ['an escaped star', STAR, rule({ paths: ['spec.hosts[="\\\\*.shop"]'] }), true],
    [
      'a text that an escaped star does not equal',
      driftOf('spec.hosts[=a.shop]'),
      rule({ paths: ['spec.hosts[="\\\\*.shop"]'] }),
      false,
    ],
    [
      'a pointer with any step',
      IMAGE,
      rule({ paths: ['/spec/template/spec/containers/*/image'] }),
      true,
    ],
    [
      'a pointer with a star in a name',
      OWNER,
      rule({ paths: ['/metadata/annotations/example.com~1*'] }),
      true,
    ],
    [
      'a field by an expression',
      IMAGE,
      rule({ pathExpressions: ['spec\\.template\\..*\\.image'] }),
      true,
    ],
    [
      'a field by an expression for only its prefix',
      IMAGE,
      rule({ pathExpressions: ['spec\\.template'] }),
      false,
    ],
    [
      'a field by a path or an expression',
      REPLICAS,
      rule({ paths: ['status'], pathExpressions: ['spec\\.repl.*'] }),
      true,
    ],
    ['a whole object by an expression', MISSING, rule({ pathExpressions: ['.*'] }), false],
    ['a value by an expression', REPLICAS, rule({ valueExpressions: ['[3-9]'] }), true],
    [
      'a value by an expression for only a part of it',
      driftOf('spec.a', { live: 'on-call' }),
      rule({ valueExpressions: ['on'] }),
      false,
    ],
    ['an absent value', { ...REMOVED, live: undefined }, rule({ valueExpressions: ['.*'] }), false],
    [
      'a value that is a map',
      driftOf('spec.a', { live: { b: 1 } }),
      rule({ valueExpressions: ['.*'] }),
      false,
    ],
    [
      'a kind of change',
      REPLICAS,
      rule({ target: { kind: 'Deployment' }, changes: ['modified'] }),
      true,
    ],
    [
      'another kind of change',
      REPLICAS,
      rule({ target: { kind: 'Deployment' }, changes: ['missing', 'added'] }),
      false,
    ],
    ['names by a star', REPLICAS, rule({ target: { name: 'w*b', namespace: 's*' } }), true],
    ['the core group', REPLICAS, rule({ target: { group: '' } }), false],
    ['managers by a star', REPLICAS, rule({ managers: ['kubectl-*'] }), true],
    ['the last day of the rule', REPLICAS, rule({ paths: ['spec'], expires: TODAY }), true],
    [
      'the day after the last day of the rule',
      REPLICAS,
      rule({ paths: ['spec'], expires: '2026-11-20' }),
      false,
    ],
  ]

for (const [name, drift, one, ignored] of ROWS) {
  test(`${name} is ${ignored ? 'ignored' : 'not ignored'}`, () => {
    assert.equal(findIgnoringRule(drift, [one], TODAY) !== undefined, ignored)
  })
}

test('explain names the part that did not match, with the wanted and the actual value', () => {
  const text = (drift: Drift, entry: Parameters<typeof rule>[0]): string | undefined => {
    const mismatch = findIgnoreMismatch(drift, rule(entry))
    return mismatch === undefined ? undefined : describeMismatch(mismatch)
  }
  assert.equal(
    text(REPLICAS, { target: { kind: 'Service' } }),
    'kind: wanted Service, this is Deployment',
  )
  assert.equal(text(REPLICAS, { target: { group: '' } }), 'group: wanted "", this is apps')
  assert.equal(
    text(REPLICAS, { managers: ['x', 'y'] }),
    'manager: wanted x or y, this is kubectl-edit',
  )
  assert.equal(
    text(REMOVED, { managers: ['hpa'] }),
    'manager: wanted hpa, this is perhaps hpa, and a guess hides nothing',
  )
  assert.equal(text(REPLICAS, { paths: ['status'] }), 'field: wanted status, this is spec.replicas')
  assert.equal(text(MISSING, { paths: ['spec'] }), 'field: wanted spec, this is the whole object')
  assert.equal(
    text(MISSING, { target: { kind: '*', name: 'web' }, changes: ['added'] }),
    'change: wanted added, this is missing',
  )
  assert.equal(
    text(REPLICAS, { valueExpressions: ['7'] }),
    'live value: wanted 7, this is another value',
  )
  assert.equal(text(REPLICAS, { paths: ['spec'] }), undefined)
})

const CONTAINERS: JsonObject = {
  spec: {
    template: { spec: { containers: [{ name: 'proxy' }, { name: 'app' }] } },
    hosts: ['a.shop', '*.shop'],
  },
}

test('a pointer addresses a list item only by its index in the live object', () => {
  const at = (location: string, live: JsonObject | undefined): boolean =>
    findIgnoreMismatch(
      IMAGE,
      rule({ paths: [`/spec/template/spec/containers/${location}/image`] }),
      {
        live,
      },
    ) === undefined
  assert.deepEqual(
    [at('1', CONTAINERS), at('0', CONTAINERS), at('-', CONTAINERS), at('1', undefined)],
    [true, false, false, false],
  )
  assert.equal(
    findIgnoreMismatch(STAR, rule({ paths: ['/spec/hosts/1'] }), { live: CONTAINERS }),
    undefined,
  )
})

const COMMAND = driftOf('spec.args', { git: ['serve', '--level=1'], live: ['serve', '--level=9'] })

test('a path below a difference covers it when nothing else in it differs', () => {
  const covered = (drift: Drift, ...paths: string[]): boolean =>
    findIgnoreMismatch(drift, rule({ paths })) === undefined
  assert.equal(covered(COMMAND, 'spec.args[1]'), true)
  assert.equal(covered(COMMAND, '/spec/args/1'), true)
  assert.equal(covered(COMMAND, 'spec.args[0]'), false)
  assert.equal(covered({ ...COMMAND, live: ['other', '--level=9'] }, 'spec.args[1]'), false)
  assert.equal(
    covered({ ...COMMAND, live: ['other', '--level=9'] }, 'spec.args[1]', 'spec.args[0]'),
    true,
  )
  assert.equal(
    covered({ ...COMMAND, live: ['serve', '--level=9', 'x'] }, 'spec.args[1]'),
    false,
    'which item is which is not known',
  )
  assert.equal(covered({ ...COMMAND, change: 'added', git: undefined }, 'spec.args[1]'), false)
})

test('matches labels of git, so labels that only the live object has hide nothing', () => {
  const sides = (labels: JsonObject | undefined): RuleSides => {
    const live = { metadata: { labels: { app: 'web' } } }
    return {
      ...(labels === undefined ? {} : { desired: { object: { metadata: { labels } } } }),
      live,
    }
  }
  const tried = rule({ target: { labels: 'app in (web, api),!canary' } })
  const text = (labels: JsonObject | undefined): string => {
    const mismatch = findIgnoreMismatch(REPLICAS, tried, sides(labels))
    return mismatch === undefined ? '' : describeMismatch(mismatch)
  }
  assert.equal(text({ app: 'web' }), '')
  assert.equal(
    text({ app: 'web', canary: 'yes' }),
    'labels: wanted app in (web, api),!canary, this is app=web,canary=yes',
  )
  assert.equal(text({}), 'labels: wanted app in (web, api),!canary, this is no labels in git')
  assert.match(text(undefined), /an object that git does not declare/)
})

test('no expression reveals the content of a Secret', () => {
  const secret = {
    id: { group: '', kind: 'Secret', namespace: 'shop', name: 'db' },
    git: 'YQ==',
    live: 'aHVudGVyMg==',
  }
  const why = findIgnoreMismatch(
    driftOf('data.password', secret),
    rule({ valueExpressions: ['.*'] }),
  )
  assert.equal(why?.found, 'a value that is not shown')
  assert.equal(
    findIgnoreMismatch(
      driftOf('spec.a', { live: 'ghp_0123456789abcdefghij' }),
      rule({ valueExpressions: ['.*'] }),
    )?.part,
    'values',
  )
  assert.equal(
    findIgnoreMismatch(driftOf('spec.a', { liveUnread: true }), rule({ valueExpressions: ['.*'] }))
      ?.part,
    'values',
  )
  const inPath = driftOf('metadata.finalizers[=ghp_0123456789abcdefghij]')
  assert.equal(findIgnoreMismatch(inPath, rule({ pathExpressions: ['.*ghp_.*'] }))?.part, 'paths')
  assert.doesNotMatch(
    describeMismatch(findIgnoreMismatch(inPath, rule({ paths: ['spec'] })) ?? assert.fail()),
    /ghp_/,
  )
})

test('describes a rule on one line, and derives its id from what it covers', () => {
  const target = { group: 'apps', kind: 'Deployment', namespace: 'shop', labels: 'app=web' }
  const one = rule({ target, paths: ['spec.replicas'], managers: ['keda-*'] })
  assert.equal(describeRule(one), 'apps/Deployment/shop with app=web, spec.replicas, by keda-*')
  assert.match(computeRuleId(one), /^[0-9a-f]{12}$/)
  assert.equal(
    computeRuleId({ ...one, where: 'p:9', reason: 'another', expires: '2026-12-31' }),
    computeRuleId(one),
  )
  assert.notEqual(computeRuleId({ ...one, managers: [] }), computeRuleId(one))
  assert.notEqual(computeRuleId({ ...one, level: 'package' }), computeRuleId(one))
})

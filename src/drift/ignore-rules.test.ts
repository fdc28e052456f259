import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf } from '../../test/fakes/drift-samples.ts'
import type { Drift } from './drift.ts'
import { describeRulePath, type IgnoreRule, parseRulePath, ruleThatIgnores, whyNotIgnored } from './ignore-rules.ts'

const TODAY = '2026-11-21'

function rule(more: {
  readonly target?: IgnoreRule['target']
  readonly paths?: readonly string[]
  readonly managers?: readonly string[]
  readonly expires?: string
}): IgnoreRule {
  const paths = (more.paths ?? []).map((text) => {
    const parsed = parseRulePath(text)
    assert.ok(!('problem' in parsed))
    return parsed
  })
  return { where: 'p:1', target: more.target ?? {}, paths, managers: more.managers ?? [], reason: 'r', expires: more.expires }
}

const REPLICAS = driftOf('spec.replicas')
const IMAGE = driftOf('spec.template.spec.containers[name=app].image')
const OWNER = driftOf('metadata.annotations["example.com/owner"]')
const REMOVED: Drift = { ...REPLICAS, change: 'removed', actor: { ...REPLICAS.actor, manager: 'hpa', confidence: 'last-writer' } }
const MISSING = driftOf('', { change: 'missing' })

const ROWS: readonly (readonly [name: string, drift: Drift, rule: IgnoreRule, ignored: boolean])[] = [
  ['the field itself', REPLICAS, rule({ paths: ['spec.replicas'] }), true],
  ['a field below', IMAGE, rule({ paths: ['spec.template'] }), true],
  ['a field above', driftOf('spec'), rule({ paths: ['spec.replicas'] }), false],
  ['a name that only begins alike', driftOf('spec.replicasMax'), rule({ paths: ['spec.replicas'] }), false],
  ['an item by its key', IMAGE, rule({ paths: ['spec.template.spec.containers[name=app]'] }), true],
  ['another item', IMAGE, rule({ paths: ['spec.template.spec.containers[name=web]'] }), false],
  ['a pointer to a field', REPLICAS, rule({ paths: ['/spec/replicas'] }), true],
  ['a pointer with an escaped slash', OWNER, rule({ paths: ['/metadata/annotations/example.com~1owner'] }), true],
  ['a pointer to a place in a list by key', IMAGE, rule({ paths: ['/spec/template/spec/containers/0/image'] }), false],
  ['a pointer to a place in an atomic list', driftOf('spec.args[1]'), rule({ paths: ['/spec/args/1'] }), true],
  ['one of several paths', REPLICAS, rule({ paths: ['spec.paused', 'spec.replicas'] }), true],
  ['the manager', REPLICAS, rule({ managers: ['kubectl-edit'] }), true],
  ['another manager', REPLICAS, rule({ managers: ['hpa'] }), false],
  ['a manager that is only guessed', REMOVED, rule({ managers: ['hpa'] }), false],
  ['the target', REPLICAS, rule({ target: { kind: 'Deployment', name: 'web' } }), true],
  ['a target of another namespace', REPLICAS, rule({ target: { kind: 'Deployment', namespace: 'x' } }), false],
  ['everything at once', REPLICAS, rule({ target: { kind: 'Deployment' }, paths: ['spec.replicas'], managers: ['kubectl-edit'] }), true],
  ['everything but one part', REPLICAS, rule({ target: { kind: 'Deployment' }, paths: ['spec.replicas'], managers: ['hpa'] }), false],
  ['a whole object by its target', MISSING, rule({ target: { kind: 'Deployment' } }), true],
  ['a whole object by a path of it', MISSING, rule({ target: { kind: 'Deployment' }, paths: ['spec'] }), false],
  ['the last day of the rule', REPLICAS, rule({ paths: ['spec'], expires: TODAY }), true],
  ['the day after', REPLICAS, rule({ paths: ['spec'], expires: '2026-11-20' }), false],
]

for (const [name, drift, one, ignored] of ROWS) {
  test(`${name} is ${ignored ? 'ignored' : 'not ignored'}`, () => {
    assert.equal(ruleThatIgnores(drift, [one], TODAY) !== undefined, ignored)
  })
}

test('explain says which part did not match', () => {
  assert.equal(whyNotIgnored(REPLICAS, rule({ target: { kind: 'Service' } })), 'kind')
  assert.equal(whyNotIgnored(REPLICAS, rule({ managers: ['x'] })), 'manager')
  assert.equal(whyNotIgnored(REPLICAS, rule({ paths: ['status'] })), 'path')
  assert.equal(whyNotIgnored(REPLICAS, rule({ paths: ['spec'] })), undefined)
})

test('a path of a rule is printed as it can be read', () => {
  for (const text of ['spec.replicas', '/metadata/annotations/a~1b~0c', '/', 'spec.containers[name=app]']) {
    const parsed = parseRulePath(text)
    assert.ok(!('problem' in parsed))
    assert.equal(describeRulePath(parsed), text)
  }
})

test('a pointer with a lonely tilde is refused with its place', () => {
  const parsed = parseRulePath('/a~b')
  assert.ok('problem' in parsed)
  assert.match(parsed.problem, /at character 3/)
})

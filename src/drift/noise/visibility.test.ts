import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UNKNOWN_SCHEMA } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { path } from '../../../test/fakes/live-object.ts'
import { parseRulePath, type RulePath } from './rule-path.ts'
import { createVisibility, type VisibilityRule } from './visibility.ts'

const APP = { group: 'example.com', kind: 'App', namespace: 'shop', name: 'web' }
const SECRET = { group: '', kind: 'Secret', namespace: 'shop', name: 'db' }

function rule(...paths: readonly string[]): VisibilityRule {
  return {
    target: {},
    paths: paths.map((text) => parseRulePath(text) as RulePath),
    patterns: [],
    reason: 'a test',
    where: 'p:1',
  }
}

function text(
  object: JsonObject,
  location: string,
  rules: { hide?: readonly VisibilityRule[]; show?: readonly VisibilityRule[] },
  id = APP,
): boolean | undefined {
  return createVisibility(id, UNKNOWN_SCHEMA, { hide: rules.hide ?? [], show: rules.show ?? [] })(
    path(location),
    'x',
    object,
  )?.shown
}

const EVERYTHING = rule('spec', 'data', 'stringData', 'metadata')

test('no rule shows the content of a Secret at any depth, the Secret itself, or a copy of an object', () => {
  const inner = { kind: 'Secret', apiVersion: 'v1', stringData: { color: 'x' } }
  assert.equal(
    text({ spec: { template: inner } }, 'spec.template.stringData.color', { show: [EVERYTHING] }),
    false,
  )
  assert.equal(
    text({ spec: { list: [{ deep: inner }] } }, 'spec.list[0].deep.stringData.color', {
      show: [EVERYTHING],
    }),
    false,
  )
  assert.equal(
    text({ kind: 'Secret', data: { color: 'x' } }, 'data.color', { show: [EVERYTHING] }, SECRET),
    undefined,
  )
  assert.equal(
    text({ metadata: {} }, 'metadata.annotations["kapp.k14s.io/original"]', { show: [EVERYTHING] }),
    undefined,
  )
  assert.equal(text({ spec: { color: 'x' } }, 'spec.color', { show: [EVERYTHING] }), true)
})

test('a list item is the same whether a path uses its keys or its index', () => {
  const object = { spec: { ports: [{ name: 'a', port: 80, note: 'x' }] } }
  for (const location of [
    'spec.ports[0].note',
    'spec.ports[name=a].note',
    'spec.ports[port=80].note',
  ]) {
    for (const wanted of [
      'spec.ports[name=a].note',
      'spec.ports[port=80].note',
      '/spec/ports/0/note',
      'spec.ports[*].note',
    ]) {
      assert.equal(
        text(object, location, { hide: [rule(wanted)] }),
        false,
        `${location} by ${wanted}`,
      )
    }
    assert.equal(text(object, location, { hide: [rule('spec.ports[name=b].note')] }), undefined)
  }
})

test('while values are withheld, no rule shows one, but the object stays named', () => {
  const rules = { hide: [], show: [EVERYTHING], withheld: 'the policy cannot be used' }
  const object = {
    metadata: { name: 'web', namespace: 'shop', labels: { a: 'b' } },
    spec: { color: 'x' },
  }
  const visibility = (location: string) =>
    createVisibility(APP, UNKNOWN_SCHEMA, rules)(path(location), 'x', object)
  for (const location of [
    'spec',
    'spec.color',
    'metadata.labels',
    'metadata.labels.a',
    'metadata.annotations.name',
  ])
    assert.deepEqual(
      visibility(location),
      { shown: false, why: 'the policy cannot be used' },
      location,
    )
  for (const location of ['apiVersion', 'kind', 'metadata', 'metadata.name', 'metadata.namespace'])
    assert.notEqual(visibility(location)?.shown, false, location)
})

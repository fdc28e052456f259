// biome-ignore-all lint/suspicious/noTemplateCurlyInString: setter patterns are written so
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { createYamlMap, createYamlText, type YamlMap } from '@backporch/kyaml/yaml'
import * as fc from '../../test/seeds/fast-check.ts'
import { applySetters } from '../apply-setters/fn.ts'
import { createSetters } from './fn.ts'
import { TextReplacer } from './text-replacer.ts'

function itemsOf(text: string): YamlMap[] {
  return readYamlNodes(text, 'all.yaml').filter((node) => node.kind === 'map')
}

function configOf(setters: { readonly [name: string]: string }): YamlMap {
  return createYamlMap([
    [
      'data',
      createYamlMap(Object.entries(setters).map(([name, value]) => [name, createYamlText(value)])),
    ],
  ])
}

/** The objects with comments, as text, and what the function said. */
function create(text: string, setters: { readonly [name: string]: string }) {
  const output = createSetters({ items: itemsOf(text), config: configOf(setters) })
  return { ...output, text: output.items.map((item) => writeYamlNode(item)).join('---\n') }
}

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-live
  annotations:
    config.kubernetes.io/path: live/web.yaml
    internal.config.kubernetes.io/index: "4"
spec:
  replicas: 4
  template:
    spec:
      containers:
      - name: web
        image: "reg.example/web:1.4.0" # as tested
        script: |
          live
`

test('fields with the value of a setter get a comment, for whole and partial values', () => {
  const { text, results, exitCode } = create(DEPLOYMENT, {
    'web-replicas': '4',
    stage: 'live',
    tag: '1.4.0',
  })
  assert.equal(exitCode, 0)
  assert.equal(
    text,
    DEPLOYMENT.replace('name: web-live', 'name: web-live # kpt-set: web-${stage}')
      .replace('replicas: 4', 'replicas: 4 # kpt-set: ${web-replicas}')
      .replace('# as tested', '# kpt-set: reg.example/web:${tag}'),
  )
  assert.deepEqual(results[0], {
    message: 'Added line comment "kpt-set: web-${stage}" for field with value "web-live"',
    severity: 'info',
    field: { path: 'metadata.name' },
    file: { path: 'live/web.yaml' },
  })
  assert.deepEqual(
    results.map(({ field }) => field?.path),
    ['metadata.name', 'spec.replicas', 'spec.template.spec.containers[0].image'],
  )
})

test('replaces a longer value before a value that it contains', () => {
  assert.equal(
    create('a: web-live-2\n', { app: 'web', full: 'web-live' }).text,
    'a: web-live-2 # kpt-set: ${full}-2\n',
  )
  assert.equal(
    create('a: web-live-2\n', { app: 'web', rest: 'live', n: '2' }).text,
    'a: web-live-2 # kpt-set: ${app}-${rest}-${n}\n',
  )
})

test('a list with the values of a list setter, in any order, gets the comment at its key', () => {
  const setters = { env: '[live, test]', none: '[]' }
  const { text, results } = create(
    'env:\n- test\n- live\nflow: [live, test]\nother: [live]\nnone: []\n',
    setters,
  )
  assert.equal(
    text,
    'env: # kpt-set: ${env}\n- test\n- live\nflow: # kpt-set: ${env}\n- live\n- test\nother: [live]\nnone: [] # kpt-set: ${none}\n',
  )
  assert.equal(
    results[0]?.message,
    'Added line comment "kpt-set: ${env}" for field with value "[live test]"',
  )
})

test('a flow list that contains the value of a scalar setter becomes a block list', () => {
  assert.equal(
    create('env: [test, live-1]\n', { stage: 'live' }).text,
    'env:\n- test\n- live-1 # kpt-set: ${stage}-1\n',
  )
})

test('a list of maps compares as a list of empty strings, as in the original', () => {
  assert.equal(
    create('ports:\n- {a: 1}\n', { ports: '[{b: 2}]' }).text,
    'ports: # kpt-set: ${ports}\n- {a: 1}\n',
  )
})

const REFUSED: readonly (readonly [
  setters: { readonly [name: string]: string },
  problem: string,
])[] = [
  [{}, 'config map cannot be empty'],
  [{ a: '' }, 'parsing error'],
  [{ a: '[x' }, 'parsing error'],
  [{ a: '*x' }, 'parsing error'],
  [{ a: 'nowhere' }, 'no matches for the input list of setters'],
  [{ a: 'name: web-live' }, 'no matches for the input list of setters'],
]

test('a value that cannot be a setter, or has no match, is an error', () => {
  for (const [setters, problem] of REFUSED) {
    const { exitCode, results } = create(DEPLOYMENT, setters)
    assert.equal(exitCode, 1)
    assert.deepEqual(results, [
      { message: `failed to create setters: ${problem}`, severity: 'error' },
    ])
  }
  assert.equal(
    createSetters({ items: [], config: undefined }).results[0]?.message,
    'failed to create setters: config map cannot be empty',
  )
})

test('does not report credentials', () => {
  const { results } = create('kind: Secret\nstringData:\n  a: opensesame-1\n', {
    word: 'opensesame',
  })
  assert.equal(
    results[0]?.message,
    'Added line comment "<redacted>" for field with value "<redacted>"',
  )
})

test('replaces texts from the left, with the first match, and never twice', () => {
  const replacer = new TextReplacer([
    ['aa', '1'],
    ['a', '2'],
    ['', 'never'],
    ['1', '3'],
  ])
  assert.equal(replacer.replace('aaa1b'), '123b')
  assert.ok(replacer.occursIn('xa'))
  assert.ok(!replacer.occursIn('xb'))
})

test('apply-setters reads the comments of create-setters', () => {
  const word = fc.stringMatching(/^[a-z]{2,5}$/)
  fc.assert(
    fc.property(word, word, word, (stage, tag, next) => {
      fc.pre(
        new Set(['name', 'image', stage, tag]).size === 4 &&
          !stage.includes(tag) &&
          !tag.includes(stage),
      )
      const created = create(`name: 9${stage}9\nimage: 7/8:${tag}\n`, { stage, tag })
      const config = configOf({ stage: next })
      const applied = applySetters({ items: itemsOf(created.text), config }).items.map((item) =>
        writeYamlNode(item),
      )
      assert.deepEqual(applied, [
        `name: 9${next}9 # kpt-set: 9\${stage}9\nimage: 7/8:${tag} # kpt-set: 7/8:\${tag}\n`,
      ])
    }),
    { numRuns: 50 },
  )
})

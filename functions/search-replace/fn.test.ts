// biome-ignore-all lint/suspicious/noTemplateCurlyInString: groups and setter patterns are written so
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { createYamlMap, createYamlText, type YamlMap } from '@backporch/kyaml/yaml'
import { searchReplace } from './fn.ts'

function itemsOf(text: string): YamlMap[] {
  return readYamlNodes(text, 'all.yaml').filter((node) => node.kind === 'map')
}

/** The objects after the search, as text, and what the function said. */
function search(text: string, data: { readonly [key: string]: string }) {
  const config = createYamlMap([
    [
      'data',
      createYamlMap(Object.entries(data).map(([name, value]) => [name, createYamlText(value)])),
    ],
  ])
  const output = searchReplace({ items: itemsOf(text), config })
  const reported = output.results.map(({ field, message }) =>
    field === undefined ? message : `${field.path}: ${message}`,
  )
  return {
    ...output,
    told: reported,
    text: output.items.map((item) => writeYamlNode(item)).join('---\n'),
  }
}

const LOCATION = `metadata:
  annotations:
    config.kubernetes.io/path: shop/web.yaml
`
const WEB = `${LOCATION}spec:
  replicas: 3
  weight: "3"
  containers:
  - name: shop-web
    image: reg.example/shop-web:1.4 # as tested
    ports: [80, 443]
  - name: shop-log
    image: reg.example/log:2
`

test('finds fields by value, with one result each', () => {
  const { told: reported, text, results } = search(WEB, { 'by-value': '3' })
  assert.equal(text, WEB)
  assert.deepEqual(reported, [
    'spec.replicas: Matched field value "3"',
    'spec.weight: Matched field value "\\"3\\""',
  ])
  assert.deepEqual(results[0]?.file, { path: 'shop/web.yaml' })
})

test('replaces a value in place, and keeps its quotes and comment', () => {
  const { told: reported, text } = search(WEB, { 'by-value': '3', 'put-value': '4' })
  assert.equal(text, WEB.replace('replicas: 3', 'replicas: 4').replace('"3"', '"4"'))
  assert.deepEqual(reported, [
    'spec.replicas: Mutated field value to "4"',
    'spec.weight: Mutated field value to "\\"4\\""',
  ])
})

test('removes a tag together with its value', () => {
  assert.equal(search('a: !!str 3\n', { 'by-value': '3', 'put-value': '4' }).text, 'a: 4\n')
})

test('an expression is not anchored, and the new value can use its groups', () => {
  const { told: reported, text } = search(WEB, {
    'by-value-regex': 'reg\\.example/(\\w+)(-\\w+)?:',
    'put-value': 'mirror.example/${1}${2}:3',
  })
  assert.equal(
    text,
    WEB.replace('reg.example/shop-web:1.4', 'mirror.example/shop-web:3').replace(
      'reg.example/log:2',
      'mirror.example/log:3',
    ),
  )
  assert.equal(
    reported[0],
    'spec.containers[0].image: Mutated field value to "mirror.example/shop-web:3 # as tested"',
  )
})

test('writes comments, with groups, in place of existing ones', () => {
  const data = { 'by-value-regex': '^shop-(.*)', 'put-comment': 'kpt-set: ${app}-${1}' }
  assert.equal(
    search(WEB, { ...data, 'by-path': '**.name' }).text,
    WEB.replace('shop-web\n', 'shop-web # kpt-set: ${app}-web\n').replace(
      'shop-log\n',
      'shop-log # kpt-set: ${app}-log\n',
    ),
  )
  const image = {
    'by-value-regex': 'web:(.*)',
    'put-comment': '# own ${1}',
    'put-value': 'web:${1}',
  }
  assert.match(search(WEB, image).text, /image: web:1\.4 # own 1\.4\n/)
})

test('a group that the expression lacks is an error', () => {
  const { exitCode, told: reported } = search(WEB, {
    'by-value-regex': 'shop-(.*)',
    'put-value': '${2}',
  })
  assert.equal(exitCode, 1)
  assert.deepEqual(reported, [
    'failed to perform search-replace operation: "unable to resolve capture groups"',
  ])
})

test('requires every condition to match', () => {
  assert.deepEqual(search(WEB, { 'by-value': '3', 'by-path': 'spec.weight' }).told, [
    'spec.weight: Matched field value "\\"3\\""',
  ])
  assert.deepEqual(search(WEB, { 'by-value': '3', 'by-path': 'spec.*.name' }).told, ['no matches'])
  assert.deepEqual(search(WEB, { 'by-value': '3', 'by-file-path': 'shop/*.yml' }).told, [
    'no matches',
  ])
  assert.equal(search(WEB, { 'by-value': '3', 'by-file-path': '**/web.yaml' }).told.length, 2)
})

test('finds fields by a path alone, with list items by index', () => {
  assert.deepEqual(search(WEB, { 'by-path': 'spec.containers[1].*' }).told, [
    'spec.containers[1].name: Matched field value "shop-log"',
    'spec.containers[1].image: Matched field value "reg.example/log:2"',
  ])
  assert.equal(search(WEB, { 'by-path': 'spec.**', 'put-value': 'x' }).told.length, 8)
})

test('creates an absent field at a plain path when a value is given', () => {
  const { told: reported, text } = search(WEB, {
    'by-path': 'metadata.labels.app',
    'put-value': 'shop',
    'put-comment': 'never put',
  })
  assert.equal(text, WEB.replace('spec:', '  labels:\n    app: shop\nspec:'))
  assert.deepEqual(reported, ['metadata.labels.app: Mutated field value to "shop"'])
})

const PUT: readonly (readonly [before: string, path: string, value: string, after: string])[] = [
  ['a: {}\n', 'a.b', '4', 'a: {b: "4"}\n'],
  ['a: {}\n', 'a.b', 'yes', 'a: {b: "yes"}\n'],
  ['a: {}\n', 'a.b', '@x', "a: {b: '@x'}\n"],
  ['b: 3\n', 'b', 'four', 'b: four\n'],
  ['b: "3"\n', 'b', '4', 'b: "4"\n'],
  ['b: [x]\n', 'b', '4', 'b: 4\n'],
  // Nothing is put below a null.
  ['a:\n', 'a.b', '4', 'a:\n'],
  ['a:\n- {}\n- x: 1\n', 'a.1.x', '2', 'a:\n- {}\n- x: 2\n'],
  ['a:\n- {}\n- x: 1\n', 'a.-.x', '2', 'a:\n- {}\n- x: 2\n'],
  ['a:\n- x: 1\n', 'a.7.x', '2', 'a:\n- x: 1\n'],
]

test('a new value at a path is a string, and a replaced one keeps the old quotes', () => {
  for (const [before, path, value, after] of PUT) {
    const { exitCode, text } = search(before, { 'by-path': path, 'put-value': value })
    assert.deepEqual([exitCode, text], [0, after], `${path}: ${value}`)
  }
})

test('a path through a node other than a map is an error, without the value', () => {
  for (const [before, path, kinds] of [
    ['a: opensesame\n', 'a.b', 'expected MappingNode but got ScalarNode'],
    ['a: [opensesame]\n', 'a.b.c', 'expected MappingNode but got SequenceNode'],
    ['a: {b: 1}\n', 'a.0.c', 'expected SequenceNode but got MappingNode'],
  ] as const) {
    const { told: reported } = search(before, { 'by-path': path, 'put-value': 'x' })
    assert.deepEqual(reported, [
      `failed to perform search-replace operation: "wrong node kind: ${kinds}"`,
    ])
  }
})

test('writes the comment of a list at its key, for any searched value', () => {
  const data = { 'by-path': 'spec.containers[0].ports', 'put-comment': 'kpt-set: ${ports}' }
  const { told: reported, text } = search(WEB, data)
  assert.equal(
    text,
    WEB.replace('ports: [80, 443]', 'ports: # kpt-set: ${ports}\n    - 80\n    - 443'),
  )
  assert.deepEqual(reported, [
    'spec.containers[0].ports # kpt-set: ${ports}: Mutated field value to "[80, 443]"',
  ])
  assert.equal(search(WEB, { ...data, 'by-value': 'nowhere' }).text, text)
})

test('writes no comment for a list whose key has quotes or a comment', () => {
  for (const text of ['"env":\n- a\n', 'env: # there\n- a\n', 'env: []\n']) {
    assert.deepEqual(search(text, { 'by-path': 'env', 'put-comment': 'new' }).told, ['no matches'])
  }
})

const REFUSED: readonly (readonly [data: { readonly [key: string]: string }, problem: string])[] = [
  [
    { 'by-name': 'x' },
    'invalid matcher \\"by-name\\", must be one of [\\"by-value\\" \\"by-file-path\\" \\"by-value-regex\\" \\"by-path\\" \\"put-value\\" \\"put-comment\\"]',
  ],
  [
    { 'by-value': 'x', 'by-value-regex': 'y' },
    'only one of [\\"by-value\\", \\"by-value-regex\\"] can be provided',
  ],
  [{ 'by-value-regex': '(' }, 'error parsing regexp: missing closing ): `(`'],
  [{ 'by-value-regex': '(a)\\1' }, 'error parsing regexp: invalid escape sequence: `\\\\1`'],
  [{ 'by-file-path': '{a,b' }, 'syntax error in pattern'],
]

test('an invalid search is an error', () => {
  for (const [data, problem] of REFUSED) {
    const { exitCode, told: reported } = search(WEB, data)
    assert.deepEqual(
      [exitCode, reported],
      [1, [`failed to perform search-replace operation: "${problem}"`]],
    )
  }
})

test('finds nothing without a search criterion', () => {
  assert.deepEqual(search(WEB, {}).told, ['no matches'])
  assert.deepEqual(search(WEB, { 'put-value': 'x' }).told, ['no matches'])
  assert.equal(searchReplace({ items: itemsOf(WEB), config: undefined }).exitCode, 0)
})

test('changes but does not report a match in an object without a file', () => {
  const { told: reported, text } = search('a: x\n', { 'by-value': 'x', 'put-value': 'y' })
  assert.deepEqual([text, reported], ['a: y\n', ['no matches']])
})

test('does not report credentials', () => {
  const text = `kind: Secret\n${LOCATION}stringData:\n  a: opensesame\n`
  assert.deepEqual(search(text, { 'by-value-regex': 'open(.*)', 'put-value': 'shut${1}' }).told, [
    'stringData.a: Mutated field value to "<redacted>"',
  ])
  const url = `${LOCATION}a: postgres://shop:opensesame@db/shop # here\n`
  assert.deepEqual(search(url, { 'by-path': 'a' }).told, ['a: Matched field value "<redacted>"'])
  assert.deepEqual(
    search(`${LOCATION}a: {}\n`, { 'by-path': 'a.password', 'put-value': 'opensesame' }).told,
    ['a.password: Mutated field value to "<redacted>"'],
  )
})

test('an expression that makes backtracking engines hang is fast', () => {
  const started = process.cpuUsage()
  search(`${LOCATION}a: ${'a'.repeat(5000)}\n`, { 'by-value-regex': '(a+)+$b' })
  assert.ok(process.cpuUsage(started).user < 2_000_000)
})

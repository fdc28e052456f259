import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import type { YamlMap } from '@backporch/kyaml/yaml'
import * as fc from '../../test/seeds/fast-check.ts'
import { setImage, setImageOrNothing } from './fn.ts'
import type { Image } from './image-config.ts'
import { buildImageReference, createImageMatcher } from './image-name.ts'

function itemsOf(text: string): YamlMap[] {
  return readYamlNodes(text, 'all.yaml').filter((node) => node.kind === 'map')
}

/** The objects with the image set, as text, and the report of the function. */
function set(text: string, config: string, run = setImage) {
  const output = run({ items: itemsOf(text), config: itemsOf(config)[0] })
  return { ...output, text: output.items.map((item) => writeYamlNode(item)).join('---\n') }
}

const configMap = (data: string) => `apiVersion: v1\nkind: ConfigMap\ndata: {${data}}\n`

const ROLLOUT = `apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata:
  name: shop
  namespace: dev
spec:
  template:
    spec:
      initContainers:
      - image: reg.example/web:1.5
      containers:
      - image: reg.example/web:1.4
      - image: reg.example/webber:1.4
`

test('sets images of containers and init containers in any kind, with one result per field', () => {
  const { text, results, exitCode } = set(
    ROLLOUT,
    configMap('name: reg.example/web, newTag: "1.5"'),
  )
  assert.equal(exitCode, 0)
  assert.deepEqual(
    text.match(/image: .*/g),
    ['web:1.5', 'webber:1.4', 'web:1.5'].map((image) => `image: reg.example/${image}`),
  )
  const resourceRef = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Rollout',
    name: 'shop',
    namespace: 'dev',
  }
  const result = (list: string, from: string) => ({
    message: `set image from reg.example/web:${from} to reg.example/web:1.5`,
    severity: 'info',
    resourceRef,
    field: {
      path: `spec.template.spec.${list}.image`,
      currentValue: `reg.example/web:${from}`,
      proposedValue: 'reg.example/web:1.5',
    },
  })
  assert.deepEqual(results, [result('containers', '1.4'), result('initContainers', '1.5')])
  assert.deepEqual(set(ROLLOUT, configMap('name: web, newTag: "1"')).results, [
    { message: 'no images changed', severity: 'info' },
  ])
})

test('every object is rewritten through JSON, with or without an image', () => {
  assert.equal(
    set(
      `kind: My # what
apiVersion: dev.example.com/v1
metadata: &m {name: "m", labels: {b: "1", a: x}}
spec:
  limit: 1000000
  mode: 017
  day: 2026-01-02
  at: 12:30
  on: yes
  copy: *m
  note: >-
    two
    lines
`,
      configMap('name: web, newTag: "2"'),
    ).text,
    `apiVersion: dev.example.com/v1
kind: My
metadata:
  labels:
    a: x
    b: "1"
  name: m
spec:
  at: "12:30"
  copy:
    labels:
      a: x
      b: "1"
    name: m
  day: "2026-01-02T00:00:00Z"
  limit: 1e+06
  mode: 15
  note: two lines
  "on": "yes"
`,
  )
})

test('a problem stops v0.1.1, while v0.1.0 changes nothing and continues', () => {
  const problems: readonly (readonly [text: string, config: string, message: RegExp])[] = [
    [ROLLOUT, configMap('newTag: "1"'), /^missing image name$/],
    [ROLLOUT, configMap('name: web'), /^missing image newName, newTag, or digest$/],
    [
      ROLLOUT,
      configMap('name: web, newTag: "1", digest: "sha256:ab"'),
      /^image newTag and digest both set$/,
    ],
    [
      'kind: My\nspec: none\n',
      configMap('name: web, newTag: "1"'),
      /^considering field 'spec\/containers\[\]\/image' of object My.*: expected/,
    ],
    ['kind: My\ndata:\n  80: x\n', configMap('name: web, newTag: "1"'), /^the key 80 is no text$/],
    [
      'kind: My\ndata: {a: 1, a: 2}\n',
      configMap('name: web, newTag: "1"'),
      /^a map has a key twice$/,
    ],
  ]
  for (const [text, config, message] of problems) {
    const stopped = set(text, config)
    assert.equal(stopped.exitCode, 1)
    assert.match(stopped.results[0]?.message ?? '', message)
    const passed = set(text, config, setImageOrNothing)
    assert.deepEqual([passed.exitCode, passed.results], [0, stopped.results])
    assert.deepEqual(passed.items, itemsOf(text))
  }
})

test('both releases crash without a config, and for a name that is not a regular expression', () => {
  for (const run of [setImage, setImageOrNothing]) {
    assert.equal(run({ items: itemsOf(ROLLOUT), config: undefined }).exitCode, 2)
    assert.equal(set(ROLLOUT, configMap('name: "(", newTag: "1"'), run).exitCode, 2)
    assert.equal(set('kind: My\n', configMap('name: "(", newTag: "1"'), run).exitCode, 0)
  }
})

const none: Image = { name: 'web', newName: undefined, newTag: undefined, digest: undefined }
const REFERENCES: readonly (readonly [
  reference: string,
  change: Partial<Image>,
  wanted: string,
])[] = [
  ['web', { newTag: '2' }, 'web:2'],
  ['web:1', { newName: 'shop/web' }, 'shop/web:1'],
  ['host:5000/web', { newName: 'web' }, 'web'],
  ['host:5000/web:1', { newTag: '2' }, 'host:5000/web:2'],
  ['web@sha256:ab', { newName: 'x' }, 'x@sha256:ab'],
  ['web@sha256:ab', { newTag: '2' }, 'web:2'],
  ['web:1', { digest: 'sha256:cd' }, 'web@sha256:cd'],
]

test('splits and joins image references', () => {
  for (const [reference, change, wanted] of REFERENCES)
    assert.equal(buildImageReference(reference, { ...none, ...change }), wanted)
})

test('matches an image by name with a tag or a digest, and by an anchored expression', () => {
  const matches = (name: string, reference: string) => createImageMatcher(name)?.(reference)
  for (const reference of ['web', 'web:1', 'web:', 'web@sha256:ab', 'web:{TAG}'])
    assert.equal(matches('web', reference), true)
  for (const reference of ['webber', 'x/web', 'web:1:2', 'web@md5:ab', 'web/x', 'web:1@sha256:ab'])
    assert.equal(matches('web', reference), false)
  assert.equal(matches('reg.example/web', 'regXexample/web:1'), true)
  assert.equal(matches('(web|log)', 'log:1'), true)
})

test('a reference without new parts stays unchanged', () => {
  const name = fc.stringMatching(/^([a-z]{1,4}(:[0-9]{1,4})?\/)?[a-z]{1,5}$/)
  const part = fc.option(fc.stringMatching(/^[a-z0-9.]{1,4}$/), { nil: undefined })
  fc.assert(
    fc.property(name, part, part, (image, tag, digest) => {
      const reference =
        image +
        (tag === undefined ? '' : `:${tag}`) +
        (digest === undefined ? '' : `@sha256:${digest}`)
      assert.equal(buildImageReference(reference, none), reference)
    }),
  )
})

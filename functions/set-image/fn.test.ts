import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readYamlNodes } from '../../src/yaml/read/read-yaml-node.ts'
import { writeYamlNode } from '../../src/yaml/write/write-yaml-node.ts'
import type { YamlMap } from '../../src/yaml/yaml-node.ts'
import { setImage } from './fn.ts'
import { containerReference, fieldReference, imageMatcher } from './image-name.ts'

function itemsOf(text: string): YamlMap[] {
  return readYamlNodes(text, 'all.yaml').filter((node) => node.kind === 'map')
}

/** The objects with the image set, as text, and what the function said. */
function set(text: string, config: string) {
  const output = setImage({ items: itemsOf(text), config: itemsOf(config)[0] })
  return { ...output, text: output.items.map((item) => writeYamlNode(item)).join('---\n') }
}

const configMap = (data: string) => `apiVersion: v1\nkind: ConfigMap\ndata: {${data}}\n`
const summary = (count: number) => [{ message: `summary: updated a total of ${count} image(s)`, severity: 'info' }]

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
spec:
  template:
    spec:
      initContainers:
      - name: wait
        image: reg.example/web:1.4
      containers:
      - image: "reg.example/web:1.4" # as tested
        name: web
      - name: side
        image: reg.example/webber:1.4
      - name: bare
`

test('the image of containers is set, without the quotes that it had, and not that of init containers', () => {
  const { text, results, exitCode } = set(WEB, configMap('name: reg.example/web, newTag: "1.5"'))
  assert.equal(exitCode, 0)
  assert.equal(text, WEB.replace('"reg.example/web:1.4"', 'reg.example/web:1.5'))
  assert.deepEqual(results, summary(1))
})

test('only kinds with containers are changed', () => {
  const config = configMap('name: web, newTag: "2"')
  const pod = 'kind: Pod\nspec:\n  containers:\n  - image: web:1\n'
  assert.equal(set(pod, config).text, pod.replace('web:1', 'web:2'))
  const templated = (kind: string) => `kind: ${kind}\nspec:\n  template:\n    spec:\n      containers:\n      - image: web\n`
  for (const kind of ['StatefulSet', 'ReplicaSet', 'DaemonSet', 'PodTemplate']) assert.match(set(templated(kind), config).text, /web:2/)
  for (const kind of ['Job', 'CronJob', 'My']) assert.deepEqual(set(templated(kind), config).results, summary(0))
})

test('an image that is there already is not counted', () => {
  assert.deepEqual(set(WEB, configMap('name: reg.example/web, newTag: "1.4"')), {
    ...set(WEB, configMap('name: nowhere, newTag: "1"')),
    items: set(WEB, configMap('name: reg.example/web, newTag: "1.4"')).items,
  })
})

const MY = `apiVersion: dev.example.com/v1
kind: My
metadata: {name: "m"}
spec:
  images:
  - image: 'web:1' # first
  - {image: other:1}
  port: 080
  at: "12:30"
  on: yes
  ratio: 1.50
  note: >-
    two
    lines
`
const setImageOf = (image: string, fields: string) => `apiVersion: fn.kpt.dev/v1alpha1
kind: SetImage
image: {${image}}
additionalImageFields:
${fields}`

test('additional fields are set, and every object then has the style that JSON leaves', () => {
  const { text, results } = set(
    MY,
    setImageOf('name: web, newTag: "2"', '- {group: dev.example.com, kind: My, path: "spec/images[]/image"}\n'),
  )
  assert.equal(
    text,
    `apiVersion: dev.example.com/v1
kind: My
metadata:
  name: m
spec:
  images:
  - image: web:2 # first
  - image: other:1
  port: 080
  at: "12:30"
  "on": "yes"
  ratio: 1.5
  note: two lines
`,
  )
  assert.deepEqual(results, summary(1))
})

test('a comment behind flow style has no place behind a block', () => {
  const text = 'a: {b: c} # one\nlist: [{x: w}] # two\nitems:\n- {p: q} # three\nnone: [] # four\nz: 1 # five\n'
  assert.equal(
    set(text, setImageOf('name: web, newTag: "2"', '- path: none\n')).text,
    'a:\n  b: c\nlist:\n- x: w\nitems:\n- p: q\nnone: [] # four\nz: 1 # five\n',
  )
})

test('an additional field is one of its group, version and kind only, and of no CustomResourceDefinition', () => {
  const count = (field: string, text = MY) => set(text, setImageOf('name: web, newTag: "2"', `- {${field}}\n`)).results.at(-1)?.message
  assert.equal(count('path: spec/images/image'), summary(1)[0]?.message)
  assert.equal(count('path: /spec/images/image'), summary(1)[0]?.message)
  assert.equal(count('kind: My, version: v1, path: spec/images/image'), summary(1)[0]?.message)
  for (const other of ['kind: Your', 'version: v2', 'group: other.example.com', 'group: dev.example.com, kind: Your']) {
    assert.equal(count(`${other}, path: spec/images/image`), summary(0)[0]?.message, other)
  }
  assert.equal(count('path: spec/images/image', MY.replace('kind: My', 'kind: CustomResourceDefinition')), summary(0)[0]?.message)
  assert.equal(count('path: spec/nothing/image, create: true'), summary(0)[0]?.message)
  assert.equal(count('path: "a\\\\/b/c"', 'kind: My\na/b: {c: web}\n'), summary(1)[0]?.message)
})

test('a field that is no text is an error of its object, and the others are still reported', () => {
  const { exitCode, results } = set(
    `${WEB}---\n${MY}`,
    setImageOf('name: reg.example/web, newTag: "2"', '- path: spec/images\n- path: kind/image\n'),
  )
  assert.equal(exitCode, 1)
  assert.deepEqual(
    results.map(({ message, severity }) => [severity, message]),
    [
      ['error', "considering field 'kind/image': expected sequence or mapping node"],
      ['error', "considering field 'spec/images': wrong node kind: expected ScalarNode but got SequenceNode"],
      ['error', "considering field 'kind/image': expected sequence or mapping node"],
      ['info', 'summary: updated a total of 1 image(s)'],
    ],
  )
  assert.deepEqual(results[0]?.resourceRef, { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop' })
})

test('malformed containers are an error', () => {
  for (const containers of ['containers: web', 'containers: [web]', 'containers: [{image: [web]}]']) {
    assert.equal(set(`kind: Pod\nspec: {${containers}}\n`, configMap('name: web, newTag: "1"')).exitCode, 1)
  }
})

const REFUSED: readonly (readonly [config: string, message: string])[] = [
  [configMap('newTag: "1"'), 'must specify `name`'],
  [configMap(''), 'must specify `name`'],
  [configMap('name: web'), 'must specify one of `newName`, `newTag`, or `digest`'],
  [configMap('name: web, tag: "1"'), 'ConfigMap has wrong field name tag'],
  [configMap('name: web, __proto__: "1"'), 'ConfigMap has wrong field name __proto__'],
  [configMap('name: "(", newTag: "1"'), '`name` ( cannot be part of a regular expression'],
  [
    'apiVersion: fn.example.com/v1\nkind: SetImage\n',
    'unknown FunctionConfig `SetImage.fn.example.com`, expect `SetImage.fn.kpt.dev` or `ConfigMap.v1`',
  ],
]

test('a config without an image is an error, with the message of the original', () => {
  for (const [config, message] of REFUSED) {
    const { exitCode, results, stderr } = set(WEB, config)
    assert.equal(exitCode, 1)
    assert.deepEqual(results, [
      { message, severity: 'error' },
      { message: `function is terminated: ${message}`, severity: 'error' },
    ])
    assert.equal(stderr, `failed to evaluate function: function is terminated: ${message}`)
  }
  assert.equal(setImage({ items: [], config: undefined }).results[0]?.message, 'must specify `name`')
})

const none = { name: 'web', newName: '', newTag: '', digest: '' }
/** Reference, what is new in it, and how it comes out in a container and at an additional field. */
const REFERENCES: readonly (readonly [reference: string, change: Partial<typeof none>, container: string, field: string])[] = [
  ['web', { newTag: '2' }, 'web:2', 'web:2'],
  ['web:1', { newName: 'shop/web' }, 'shop/web:1', 'shop/web:1'],
  ['host:5000/web', { newName: 'web' }, 'web', 'web'],
  ['host:5000/web:1', { newTag: '2' }, 'host:5000/web:2', 'host:5000/web:2'],
  ['web@sha256:ab', { newName: 'x' }, 'x@sha256:ab', 'x@sha256:ab'],
  ['web@sha256:ab', { newTag: '2' }, 'web:2', 'web:2'],
  ['web:1', { digest: 'sha256:cd' }, 'web@sha256:cd', 'web@sha256:cd'],
  ['web:1', { newTag: '2', digest: 'sha256:cd' }, 'web@sha256:cd', 'web:2@sha256:cd'],
  ['web:1@sha256:ab', { newName: 'x' }, 'x:1', 'x:1@sha256:ab'],
]

test('references are split and joined', () => {
  for (const [reference, change, container, field] of REFERENCES) {
    assert.equal(containerReference(reference, { ...none, ...change }), container)
    assert.equal(fieldReference(reference, { ...none, ...change }), field)
  }
})

test('a name is that of an image with any tag or digest, and part of an expression', () => {
  const matches = (name: string, reference: string) => imageMatcher(name)?.(reference)
  for (const reference of ['web', 'web:1', 'web:', 'web@sha256:ab', 'web:1@sha256:ab', 'web:{TAG}'])
    assert.equal(matches('web', reference), true)
  for (const reference of ['webber', 'x/web', 'web:1:2', 'web@md5:ab', 'web/x']) assert.equal(matches('web', reference), false)
  assert.equal(matches('reg.example/web', 'regXexample/web:1'), true)
  assert.equal(matches('(web|log)', 'log:1'), true)
})

test('a reference that is given nothing new stays as it is', () => {
  const name = fc.stringMatching(/^([a-z]{1,4}(:[0-9]{1,4})?\/)?[a-z]{1,5}$/)
  const tag = fc.option(fc.stringMatching(/^[a-z0-9.]{1,4}$/), { nil: undefined })
  fc.assert(
    fc.property(name, tag, tag, (image, version, digest) => {
      const reference = image + (version === undefined ? '' : `:${version}`) + (digest === undefined ? '' : `@sha256:${digest}`)
      assert.equal(fieldReference(reference, none), reference)
      if (version === undefined || digest === undefined) assert.equal(containerReference(reference, none), reference)
    }),
  )
})

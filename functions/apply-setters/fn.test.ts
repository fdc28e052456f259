// biome-ignore-all lint/suspicious/noTemplateCurlyInString: setter patterns are written so
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import {
  createYamlMap,
  createYamlText,
  findEntry,
  findNodeAt,
  type YamlMap,
} from '@backporch/kyaml/yaml'
import * as fc from '../../test/seeds/fast-check.ts'
import { applySetters, applySettersOrFail } from './fn.ts'

const FILE = `  annotations:
    config.kubernetes.io/path: web/all.yaml
`

function itemsOf(text: string): YamlMap[] {
  return readYamlNodes(text, 'all.yaml').filter((node) => node.kind === 'map')
}

/** The objects with the setters applied, as text, and what the function said. */
function apply(text: string, setters: { readonly [name: string]: string }) {
  const config = createYamlMap([
    [
      'data',
      createYamlMap(Object.entries(setters).map(([name, value]) => [name, createYamlText(value)])),
    ],
  ])
  const output = applySetters({ items: itemsOf(text), config })
  return { ...output, text: output.items.map((item) => writeYamlNode(item)).join('---\n') }
}

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # kpt-set: \${app}
${FILE}spec:
  replicas: 2 # kpt-set: \${web-replicas}
  template:
    spec:
      containers:
      - name: web
        # pinned for now
        image: "reg.example/web:1.4" # kpt-set: reg.example/web:\${tag}
        args: [--slow, --loud] # kpt-set: \${args}
        ports: # the list is not set
        - containerPort: 8080
`

test('sets scalars, fully and in part, and keeps quotes and comments', () => {
  const { text, results, exitCode } = apply(DEPLOYMENT, { 'web-replicas': '5', tag: '1.5' })
  assert.equal(exitCode, 0)
  assert.equal(
    text,
    DEPLOYMENT.replace('replicas: 2', 'replicas: 5').replace('web:1.4"', 'web:1.5"'),
  )
  assert.deepEqual(results, [
    {
      message: 'set field value to "5"',
      severity: 'info',
      field: { path: 'spec.replicas' },
      file: { path: 'web/all.yaml' },
    },
    {
      message: 'set field value to "reg.example/web:1.5"',
      severity: 'info',
      field: { path: 'spec.template.spec.containers[0].image' },
      file: { path: 'web/all.yaml' },
    },
  ])
})

test('keeps a field whose comment names none of the given setters', () => {
  const { text, results } = apply(DEPLOYMENT, { other: 'x', ap: 'y' })
  assert.equal(text, DEPLOYMENT)
  assert.deepEqual(results, [{ message: 'no matches for input setter(s)', severity: 'info' }])
  assert.equal(applySetters({ items: itemsOf(DEPLOYMENT), config: undefined }).exitCode, 0)
})

test('release v0.1.1 fails without setters or set fields, and otherwise behaves like later releases', () => {
  const run = (setters: readonly (readonly [string, string])[]) =>
    applySettersOrFail({
      items: itemsOf(DEPLOYMENT),
      config: createYamlMap([
        ['data', createYamlMap(setters.map(([name, value]) => [name, createYamlText(value)]))],
      ]),
    })
  assert.deepEqual(run([]).results, [
    { message: 'failed to apply setters: input setters list cannot be empty', severity: 'error' },
  ])
  assert.deepEqual(run([['other', 'x']]).results, [
    {
      message: 'failed to apply setters: no matches for the input list of setters',
      severity: 'error',
    },
  ])
  assert.deepEqual(run([['other', 'x']]).exitCode, 1)
  const set = run([['tag', '1.5']])
  assert.deepEqual(
    [set.exitCode, set.items.map((item) => writeYamlNode(item))],
    [0, [apply(DEPLOYMENT, { tag: '1.5' }).text]],
  )
})

test('setters that are not given keep their value from the field', () => {
  assert.equal(
    apply('host: app.test.example.com # kpt-set: app.${stage}.${domain}.${tld}\n', {
      domain: 'demo',
      tld: 'org',
    }).text,
    'host: app.test.demo.org # kpt-set: app.${stage}.${domain}.${tld}\n',
  )
})

test('a setter whose value cannot be found is the only reported error', () => {
  const { exitCode, results } = apply(
    'a: x # kpt-set: ${a}\nimage: web # kpt-set: ${name}:${tag}-${os}\n',
    { a: 'y', name: 'shop' },
  )
  assert.equal(exitCode, 1)
  assert.deepEqual(results, [
    {
      message: 'failed to apply setters: values for setters [${tag} ${os}] must be provided',
      severity: 'error',
    },
  ])
})

test('does not infer an empty value from the text', () => {
  assert.equal(apply('image: :1.4 # kpt-set: ${name}:${tag}\n', { tag: '2' }).exitCode, 1)
  assert.equal(
    apply('image: :1.4 # kpt-set: ${name}:${tag}\n', { tag: '2', name: '' }).text,
    'image: :2 # kpt-set: ${name}:${tag}\n',
  )
})

test('a plain value takes the type of the new text', () => {
  const { items, text } = apply(
    'a: text # kpt-set: ${v}\nb: "text" # kpt-set: ${v}\nc: !!str 7 # kpt-set: ${v}\n',
    { v: '3' },
  )
  assert.equal(text, 'a: 3 # kpt-set: ${v}\nb: "3" # kpt-set: ${v}\nc: 3 # kpt-set: ${v}\n')
  assert.equal(findNodeAt(items[0], 'a')?.tag, '')
})

test('writes an empty value in quotes', () => {
  assert.equal(
    apply('a: x # kpt-set: ${v}\nb: "x" # kpt-set: ${v}\n', { v: '' }).text,
    'a: "" # kpt-set: ${v}\nb: "" # kpt-set: ${v}\n',
  )
})

test('sets lists as a whole: a block list by the comment of its key, a flow list by its own', () => {
  const text =
    'env: # kpt-set: ${env}\n- test\n# last\n- live\nroles: [a, b] # kpt-set: ${roles}\nnone: [] # kpt-set: ${none}\n'
  const { text: after, results } = apply(text, {
    env: '[live, 3]',
    roles: '- c\n- d # second\n',
    none: '- {a: b}',
  })
  assert.equal(
    after,
    'env: # kpt-set: ${env}\n- live\n- 3\nroles: # kpt-set: ${roles}\n- c\n- d # second\nnone: # kpt-set: ${none}\n- {a: b}\n',
  )
  assert.deepEqual(
    results.map(({ message, field }) => [field?.path, message]),
    [
      ['env', 'set field value to "[live, 3]"'],
      ['roles', 'set field value to "- c\\n- d # second\\n"'],
      ['none', 'set field value to "- {a: b}"'],
    ],
  )
})

test('a list set to nothing becomes an empty list, followed by its comment', () => {
  const { items, text } = apply('env: # kpt-set: ${env}\n- test\n', { env: '' })
  assert.equal(text, 'env: [] # kpt-set: ${env}\n')
  assert.equal(findEntry(items[0], 'env')?.key.lineComment, '')
  assert.equal(
    apply('env: [test] # kpt-set: ${env}\n', { env: '' }).text,
    'env: [] # kpt-set: ${env}\n',
  )
})

test('a list accepts only a single setter with a list value', () => {
  const message = (setter: string, value: string) =>
    apply(`env: # kpt-set: ${setter}\n- test\n`, { a: value }).results[0]?.message
  assert.equal(
    message('${a}-${b}', '[x]'),
    'failed to apply setters: invalid setter pattern for array node: "${a}-${b}"',
  )
  assert.equal(
    message('x${a}', '[x]'),
    'failed to apply setters: invalid setter pattern for array node: "x${a}"',
  )
  for (const value of ['x', 'a: b', '[x', '# no more', '{}']) {
    const shown = JSON.stringify(value)
    assert.equal(
      message('${a}', value),
      `failed to apply setters: input to array setter must be an array of values, but found ${shown}`,
    )
  }
})

test('items from a setter have no file location', () => {
  const [item] = apply('env: # kpt-set: ${env}\n- test\n', { env: '- {a: [b]}' }).items
  const list = findNodeAt(item, 'env')
  assert.equal(list?.kind === 'list' && list.items[0]?.source, undefined)
  assert.equal(
    findNodeAt(list?.kind === 'list' ? list.items[0] : undefined, 'a')?.source,
    undefined,
  )
})

test('does not follow an alias, and sets its anchor once', () => {
  const { text, results } = apply('a: &x old # kpt-set: ${v}\nb: *x\n', { v: 'new' })
  assert.equal(text, 'a: &x new # kpt-set: ${v}\nb: *x\n')
  assert.equal(results.length, 1)
})

test('sets credentials without reporting them', () => {
  const secret = `kind: Secret
metadata:
  name: db
stringData:
  user: admin # kpt-set: \${user}
---
kind: ConfigMap
data:
  url: x # kpt-set: \${where}
  motto: y # kpt-set: \${db-password}
  plain: z # kpt-set: \${plain}
`
  const setters = {
    user: 'root',
    where: 'postgres://u:hunter2@db/x',
    'db-password': 'opensesame',
    plain: 'shown',
  }
  const { text, results } = apply(secret, setters)
  for (const value of Object.values(setters)) assert.ok(text.includes(value))
  assert.deepEqual(
    results.map(({ message }) => message),
    ['<redacted>', '<redacted>', '<redacted>', 'shown'].map(
      (shown) => `set field value to "${shown}"`,
    ),
  )
  const { results: refused } = apply('list: # kpt-set: ${api-token}\n- a\n', {
    'api-token': 'opensesame',
  })
  assert.match(refused[0]?.message ?? '', /but found "<redacted>"$/)
})

test('rejects a value that grows beyond the limit', () => {
  const chain = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`s${index}`, `\${s${index + 1}}`.repeat(9)]),
  )
  assert.equal(
    apply('a: x # kpt-set: ${s0}\n', chain).results[0]?.message,
    'failed to apply setters: the value of "${s0}" is too long',
  )
})

test('names of built-in JavaScript properties are ordinary setters and fields', () => {
  const { text } = apply(
    '__proto__: x # kpt-set: ${__proto__}\nconstructor: y # kpt-set: ${toString}\n',
    JSON.parse('{"__proto__":"z"}'),
  )
  assert.equal(
    text,
    '__proto__: z # kpt-set: ${__proto__}\nconstructor: y # kpt-set: ${toString}\n',
  )
})

test('setting the current value changes nothing, and setting twice equals setting once', () => {
  const word = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/)
  fc.assert(
    fc.property(word, word, word, (name, tag, next) => {
      const text = `image: ${name}x:${tag}x # kpt-set: \${name}:\${tag}\n`
      assert.equal(apply(text, { name: `${name}x`, tag: `${tag}x` }).text, text)
      const once = apply(text, { tag: `${next}x` }).text
      assert.equal(once, `image: ${name}x:${next}x # kpt-set: \${name}:\${tag}\n`)
      assert.equal(apply(once, { tag: `${next}x` }).text, once)
    }),
    { numRuns: 50 },
  )
})

/** Files of a few megabytes that become hundreds: the package that has one says so, the others go on, and a small heap is enough. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, suite, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Failure } from '@backporch/kyaml/failure'
import { formatJson } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import type { YamlNode } from '@backporch/kyaml/yaml'
import { gitTestEnvironment, temporaryFolder } from '../contract/git-remotes.ts'
import { runProgram } from '../e2e/run-program.ts'
import { appliedBy, editedBy } from '../fakes/live-object.ts'
import { yaml } from '../fakes/turn-world.ts'
import { PROGRAM } from '../program.ts'
import * as fc from '../seeds/fast-check.ts'

const CONFIG = (name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\n`
const KPTFILE = (name: string): string =>
  `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: ${name}}\n`
const KEYS = (count: number): string =>
  Array.from({ length: count }, (_, at) => `  k${at}: v\n`).join('')

/** Package, its files, and why it is not read. */
const HEAVY: readonly (readonly [
  name: string,
  files: { readonly [path: string]: string },
  why: RegExp,
])[] = [
  [
    'doubled',
    { 'a.yaml': `${CONFIG('doubled')}data:\n${'  k: v\n'.repeat(800_000)}` },
    /the file has more than 500,000 keys/,
  ],
  [
    'keys',
    { 'a.yaml': `${CONFIG('keys')}data:\n${KEYS(700_000)}` },
    /the file has more than 500,000 keys/,
  ],
  [
    'numbers',
    { 'a.json': `{"apiVersion":"v1","kind":"ConfigMap","list":[${'1,'.repeat(3_999_999)}1]}` },
    /the file has more than 500,000 keys/,
  ],
  [
    'items',
    { 'a.yaml': `${CONFIG('items')}list:\n${'- 123\n'.repeat(1_000_000)}` },
    /the file has more than 500,000 keys/,
  ],
  [
    'four',
    Object.fromEntries(
      [1, 2, 3, 4].map((at) => [
        `${at}.yaml`,
        `${CONFIG(`four-${at}`)}data:\n${'  k: v\n'.repeat(1_000_000)}`,
      ]),
    ),
    /the file has more than 500,000 keys/,
  ],
  [
    'documents',
    { 'a.yaml': `---\n${CONFIG('same')}`.repeat(100_000) },
    /the file has more than 10,000 documents/,
  ],
  ['empty', { 'a.yaml': '---\n'.repeat(2_400_000) }, /the file has more than 10,000 documents/],
  [
    'object',
    { 'a.yaml': `${CONFIG('object')}data:\n${KEYS(240_000)}` },
    /the object has more than 150,000 keys/,
  ],
  [
    'different',
    { 'a.yaml': `${CONFIG('different')}data:\n${KEYS(70_000)}` },
    /differ in more than 20,000 fields/,
  ],
]

suite('with a heap of 512 MiB', () => {
  const root = temporaryFolder()
  const environment = gitTestEnvironment(root)
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }

  before(() => {
    const healthy = `${CONFIG('web')}data: {color: blue}\n`
    for (const [name, files] of [...HEAVY, ['web', { 'a.yaml': healthy }] as const]) {
      write(`deploy/apps/${name}/Kptfile`, KPTFILE(name))
      for (const [path, text] of Object.entries(files)) write(`deploy/apps/${name}/${path}`, text)
    }
    const edited = editedBy(
      'kubectl-edit',
      appliedBy('kustomize-controller', yaml(healthy)),
      'data.color',
      'red',
    )
    write('live/web.json', formatJson(edited))
    write(
      'live/different.json',
      formatJson(
        appliedBy('kustomize-controller', yaml(`${CONFIG('different')}data: {color: red}\n`)),
      ),
    )
    for (const args of [
      ['init', '-q', '-b', 'main'],
      ['add', '-A'],
      ['commit', '-q', '-m', 'Heavy'],
    ])
      execFileSync('git', args, { cwd: join(root, 'deploy'), env: environment })
  })

  test('refuses each heavy package with BP1111, its place and its count, and reports drift of the healthy one', async () => {
    const env = {
      ...environment,
      XDG_CACHE_HOME: join(root, 'cache'),
      XDG_STATE_HOME: join(root, 'state'),
      NODE_OPTIONS: '--max-old-space-size=512',
    }
    const args = [PROGRAM, 'diff', '-v', '--repo', 'deploy', '--live', 'live']
    const { code, stdout, stderr } = await runProgram(process.execPath, args, { cwd: root, env })
    assert.equal(code, 2, stderr.slice(-2_000))
    assert.match(stdout, /data\.color +"blue" → "red"/, stderr.slice(-2_000))
    const failures = stderr.split(/^error /m).slice(1)
    for (const [name, files, why] of HEAVY) {
      const own = failures.filter((failure) => new RegExp(`where: apps/${name}\\b`).test(failure))
      assert.equal(
        own.length,
        name === 'four' ? Object.keys(files).length : 1,
        `${name}: ${own.join('')}`,
      )
      for (const failure of own) {
        assert.match(failure, /^BP1111: /)
        assert.match(failure, why)
        assert.match(failure, /fix: (?:split|correct)/)
      }
    }
  })
})

/** What may stand in a file again and again. `#` stands for a number. */
const UNITS = [
  '  k#: v\n',
  '  k: v\n',
  '  k#: off\n',
  '  k#: 12345678901234567890\n',
  '  k#: "a\\n\\n\\n"\n',
  "  k#: 'it''s'\n",
  '  k#: # c\n    v\n',
  '  # c\n  k#: v # d\n\n',
  '  k#: &a# 1\n',
  '  k#: [[[[[[1]]]]]]\n',
  '  k#: [{},[],{a,b}]\n',
  '  k#: {a: b, c: [1, 2, 3]}\n',
  '  k#: |\n    a\n    b\n\n    c\n',
  '  k#: a\n    b\n    c\n',
  '  k#:\n  - - - - 1\n',
  '  k#: !!str 1\n',
  '  ? k#\n',
  '\n',
  '#\n',
  '---\n',
  '---\na#:\n  b: c\n',
] as const

/** As `assertMemory` assumes: of each key, value and comment, and of each byte. */
const NODE_BYTES = 300
const TEXT_BYTES = 3
/** At most 10 MB, which the guard leaves out. */
const DOCUMENT_BYTES = 1_000
/** What the process itself takes or frees meanwhile. */
const UNSTEADY = 1_000_000

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function heapInUse(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

function countNodes(node: YamlNode): number {
  if (node.kind === 'list') return node.items.reduce((sum, item) => sum + countNodes(item), 1)
  return node.kind === 'map'
    ? node.entries.reduce((sum, { key, value }) => sum + countNodes(key) + countNodes(value), 1)
    : 1
}

// The first texts are compiled code too.
for (let time = 0; time < 20; time += 1)
  parseGoYaml(
    `a: [b, {c: "d\\n"}]\ne: |\n  f\n  g\n${UNITS.slice(0, 7).join('').trimStart()}`.replaceAll(
      /^ {2}(?=k)/gm,
      '',
    ),
    'a.yaml',
  )

/** Reads a text, and asserts that what it takes is not more than the guard assumes. */
function assertModelled(text: string): void {
  const before = heapInUse()
  const read = parseGoYaml(text, 'a.yaml')
  const taken = heapInUse() - before
  const nodes =
    read.documents.reduce((sum, { node }) => sum + countNodes(node), 0) + text.split('#').length
  const { length: documents } = read.documents
  const most = nodes * NODE_BYTES + text.length * TEXT_BYTES + documents * DOCUMENT_BYTES + UNSTEADY
  assert.ok(
    taken < most,
    `${taken} bytes for ${nodes} nodes, ${documents} documents and ${text.length} bytes`,
  )
  assert.ok(nodes < 600_000 && documents <= 10_000 && read.notes.length <= 10)
}

const LONG_VALUES: { readonly [name: string]: string } = {
  'a block of short lines': `k: |\n${'  a\n'.repeat(100_000)}`,
  'a folded block of short lines': `k: >\n${'  a\n'.repeat(100_000)}`,
  'a plain text of short lines': `k: a\n${'  a\n'.repeat(100_000)}`,
  'a quoted text of short lines': `k: "a\n${'  a\n'.repeat(100_000)}  "\n`,
  'a text of escapes': `k: "${'\\n'.repeat(200_000)}"\n`,
  'a text of quotes': `k: '${"''".repeat(200_000)}'\n`,
  'a comment of short lines': `k:\n${'  #\n'.repeat(100_000)}  l: v\n`,
  'lines that end with CR and LF': `k: |+\r\n${'\r\n'.repeat(200_000)}`,
}

for (const [name, text] of Object.entries(LONG_VALUES))
  test(`${name} takes no more memory than its bytes`, () =>
    assertModelled(Buffer.from(text).toString()))

test('refuses a file of any shape, or parses it in memory bounded by its nodes and bytes', () => {
  const shapes = fc.record({
    units: fc.array(fc.constantFrom(...UNITS), { minLength: 1, maxLength: 3 }),
    bytes: fc.constantFrom(40_000, 150_000, 600_000),
  })
  fc.assert(
    fc.property(shapes, ({ units, bytes }) => {
      const once = units.join('')
      let text = `${CONFIG('a')}data:\n`
      for (let at = 0; text.length < bytes; at += 1)
        text += once.replaceAll('#:', `${at}:`).replaceAll('&a#', `&a${at}`)
      text = Buffer.from(text).toString()
      try {
        assertModelled(text)
      } catch (thrown) {
        assert.ok(
          thrown instanceof Failure && (thrown.code === 'BP1110' || thrown.code === 'BP1111'),
          String(thrown),
        )
      }
    }),
    { numRuns: 10 },
  )
})

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { type Failure, formatFailure } from '@backporch/kyaml/failure'
import * as fc from '../../../test/seeds/fast-check.ts'
import { readKptfile } from './kptfile.ts'
import type { Kptfile } from './kptfile-value.ts'

const CORPUS = new URL('../../../test/corpus/kptfile/', import.meta.url)
const HEAD = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n'

function read(text: string): Kptfile {
  const reading = readKptfile(text, 'apps/web/Kptfile')
  if ('failures' in reading) return assert.fail(reading.failures.map(formatFailure).join('\n'))
  return reading.kptfile
}

function failures(text: string): readonly Failure[] {
  const reading = readKptfile(text, 'apps/web/Kptfile')
  return 'failures' in reading ? reading.failures : []
}

describe('readKptfile', () => {
  for (const file of readdirSync(CORPUS).filter((name) => name.endsWith('.yaml'))) {
    it(`reports the failure of ${file.slice(0, -5)}`, () => {
      const message = failures(readFileSync(new URL(file, CORPUS), 'utf8'))
      assert.ok(message.length > 0)
      const golden = new URL(file.replace(/\.yaml$/, '.txt'), CORPUS)
      const text = `${message.map(formatFailure).join('\n')}\n`
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, text)
      assert.equal(text, readFileSync(golden, 'utf8'))
    })
  }

  it('accepts every name that is not empty', () => {
    const named = (name: string) =>
      failures(HEAD.replace('name: web', `name: ${name}`)).map(({ code }) => code)
    for (const name of [
      'web',
      'apps/web',
      'Policy Blog Resources',
      'basens-AA',
      '../x',
      '" "',
      '12',
      'a'.repeat(300),
    ])
      assert.deepEqual(named(name), [], name)
    for (const name of ['', '""', '~']) assert.deepEqual(named(name), ['BP1102'], name)
    assert.deepEqual(named('[a]'), ['BP1101', 'BP1102'])
  })

  it('accepts every upstream, since it fetches nothing from it', () => {
    const upstream = (git: string) =>
      failures(`${HEAD}upstream:\n  type: git\n  git: ${git}\n`).map(({ code }) => code)
    for (const repo of [
      'sso://team/packages',
      'https://ada@example.com/r',
      'file:///srv/git',
      'ext::sh -c x',
      '-x',
    ])
      for (const ref of ['main', '--upload-pack=x', '@{-1}', 'a b'])
        assert.deepEqual(
          upstream(JSON.stringify({ repo, directory: '/', ref })),
          [],
          `${repo} ${ref}`,
        )
    assert.deepEqual(upstream('{repo: [sso://team/packages]}'), ['BP1101'])
  })

  it('reads a whole Kptfile', () => {
    const text = `${HEAD}  labels: {team: shop}
  annotations:
    config.kubernetes.io/local-config: "true"
upstream:
  type: git
  git: {repo: https://example.com/r.git, directory: web, ref: v1}
  updateStrategy: resource-merge
info:
  readinessGates:
    - conditionType: Reviewed
pipeline:
  mutators:
    - image: ghcr.io/kptdev/krm-functions-catalog/set-namespace:v0.4.5@sha256:${'a'.repeat(64)}
      configPath: ./fn/ns.yaml
  validators:
    - exec: check
      name: last
      tag: v1
      configMap: {text: a, number: 0x1F, word: yes, quoted: '017', nothing: ~}
      selectors: [{kind: Deployment, labels: {app: web}}]
      exclude: [{name: other, namespace: shop, apiVersion: v1, annotations: {a: b}}]
inventory: {namespace: shop, name: inventory-1, inventoryID: id-1}
status:
  conditions:
    - {type: Drifted, status: "True", reason: DriftDetected, message: two fields}
`
    const kptfile = read(text)
    assert.deepEqual(
      {
        ...kptfile,
        labels: Object.fromEntries(kptfile.labels),
        annotations: [...kptfile.annotations.keys()],
      },
      {
        name: 'web',
        labels: { team: 'shop' },
        annotations: ['config.kubernetes.io/local-config'],
        pipeline: {
          mutators: [
            {
              image: `ghcr.io/kptdev/krm-functions-catalog/set-namespace:v0.4.5@sha256:${'a'.repeat(64)}`,
              exec: undefined,
              tag: undefined,
              configPath: './fn/ns.yaml',
              configMap: new Map(),
              selectors: [],
              exclude: [],
              notEvaluated: [],
              line: 17,
            },
          ],
          validators: [
            {
              image: undefined,
              exec: 'check',
              tag: 'v1',
              configPath: undefined,
              configMap: new Map([
                ['text', 'a'],
                ['number', '0x1F'],
                ['word', 'yes'],
                ['quoted', '017'],
                ['nothing', ''],
              ]),
              selectors: [
                {
                  apiVersion: undefined,
                  kind: 'Deployment',
                  name: undefined,
                  namespace: undefined,
                  labels: new Map([['app', 'web']]),
                  annotations: new Map(),
                },
              ],
              exclude: [
                {
                  apiVersion: 'v1',
                  kind: undefined,
                  name: 'other',
                  namespace: 'shop',
                  labels: new Map(),
                  annotations: new Map([['a', 'b']]),
                },
              ],
              notEvaluated: [],
              line: 20,
            },
          ],
        },
        inventory: { namespace: 'shop', name: 'inventory-1', id: 'id-1' },
      },
    )
  })

  it('accepts fields of a newer kpt', () => {
    const newer = `${HEAD}upstream: {preserveExplicitNull: true}
upstreamLock: {type: generic, generic: {storeID: DB, resourceID: r, resourceVersion: "1"}}
pipeline:
  mutators:
    - {image: set-labels, tag: ">=0.2", when: "true", resourceFileRegexp: ".*", configRef: {kind: ConfigMap, name: c}}
status: {renderStatus: {mutationSteps: [{exitCode: 0}]}}
`
    const { mutators } = read(newer).pipeline
    assert.deepEqual(
      mutators.map(({ notEvaluated }) => notEvaluated),
      [['when', 'resourceFileRegexp', 'configRef']],
    )
  })

  it('reports what restricts a function by file', () => {
    const narrowed = `${HEAD}pipeline: {mutators: [{image: a, selectors: [{kind: A}, {resourceFileRegexp: x}], exclude: [{resourceFileRegexp: y}], when: ""}]}\n`
    assert.deepEqual(read(narrowed).pipeline.mutators[0]?.notEvaluated, [
      'selectors[1].resourceFileRegexp',
      'exclude[0].resourceFileRegexp',
    ])
  })

  it('reads CRLF, a byte order mark and numbers like kpt', () => {
    const text = `\uFEFF${HEAD.replaceAll('\n', '\r\n')}pipeline:\r\n  mutators:\r\n    - {image: set-labels, configMap: {n: 5, b: true}}\r\n`
    assert.equal(read(text).name, 'web')
  })

  it('treats empty parts as absent', () => {
    const empty = read(`${HEAD}  labels:\npipeline:\nstatus: {}\ninfo:\nupstream: {}\n`)
    assert.deepEqual([empty.pipeline.mutators.length, empty.inventory], [0, undefined])
  })

  it('reports both lines of a duplicate key', () => {
    const [failure] = failures(readFileSync(new URL('c07-duplicate-key.yaml', CORPUS), 'utf8'))
    assert.equal(failure?.code, 'BP1110')
    assert.equal(failure?.where, 'apps/web/Kptfile:9:1')
    assert.match(failure?.why ?? '', /first at line 5/)
  })

  it('returns all failures at once, in line order', () => {
    const codes = failures(readFileSync(new URL('many-problems.yaml', CORPUS), 'utf8')).map(
      ({ code, where }) => `${code} ${where?.split(':')[1]}`,
    )
    assert.deepEqual(codes, [
      'BP1102 4',
      'BP1103 5',
      'BP1103 8',
      'BP1104 9',
      'BP1104 10',
      'BP1101 11',
    ])
  })

  it('never throws, for any input', () => {
    const piece = fc.constantFrom(
      'apiVersion: kpt.dev/v1\n',
      'kind: Kptfile\n',
      'metadata:\n',
      '  name: web\n',
      'pipeline:\n',
      '  mutators:\n',
      '  - image: x\n',
      '- a\n',
      '&a ',
      '*a',
      '<<: ',
      '---\n',
      '__proto__: {x: 1}\n',
      ': ',
      '\t',
      '{',
      ']',
      '\u0000',
      'x',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const reading = readKptfile(pieces.join(''), 'Kptfile')
        assert.ok('kptfile' in reading || reading.failures.length > 0)
      }),
      { numRuns: 2000 },
    )
  })
})

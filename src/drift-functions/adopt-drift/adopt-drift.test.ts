import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import { LEVEL, REPLICAS, run, type Texts } from '../../../test/fakes/adopted-package.ts'
import { changeOf, recordOf, reportOf, WEB } from '../../../test/fakes/drift-package.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import type { Change } from '../../record/documents/change.ts'

/** The files that differ, after what was replaced in them. */
function expectEdits(
  texts: Texts,
  edits: readonly (readonly [path: string, from: string, to: string])[],
): void {
  const wanted: { [path: string]: string } = { ...WEB }
  for (const [path, from, to] of edits) {
    assert.ok(wanted[path]?.includes(from), `${path} has no ${from}`)
    wanted[path] = (wanted[path] ?? '').replace(from, to)
  }
  assert.deepEqual(texts, wanted)
}

const COLOR = changeOf('data.color', {
  git: 'blue',
  live: 'red',
  ref: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'first' },
})
const PASSWORD = changeOf('spec.template.spec.containers[name=app].env[name=DB_PASSWORD].value', {
  git: 'hmac-sha256:0011223344556677 (8 bytes)',
  live: 'hmac-sha256:8899aabbccddeeff (9 bytes)',
  redacted: true,
})
const EXTRA = changeOf('', {
  change: 'unexpected',
  ref: { group: '', kind: 'Pod', namespace: 'shop', name: 'debug' },
})

test('writes a value with a setter comment to the setter, and to the manifest that is stored rendered', () => {
  const { texts, exitCode, results } = run(recordOf([REPLICAS]))
  assert.equal(exitCode, 0)
  expectEdits(texts, [
    ['setters.yaml', 'replicas: "3"', 'replicas: "5"'],
    ['deployment.yaml', 'replicas: 3 #', 'replicas: 5 #'],
  ])
  assert.deepEqual(
    results.map(({ message, severity, resourceRef, field, file }) => [
      severity,
      message,
      resourceRef?.kind,
      field?.path,
      file?.path,
    ]),
    [
      ['info', 'adopted: git now matches the cluster', 'Deployment', 'spec.replicas', undefined],
      ['info', 'edited setters.yaml', undefined, undefined, 'setters.yaml'],
      ['info', 'edited deployment.yaml', undefined, undefined, 'deployment.yaml'],
    ],
  )
})

const EDITS: readonly (readonly [
  name: string,
  change: Change,
  edits: readonly (readonly [string, string, string])[],
])[] = [
  [
    'a manifest value, in place and with its comment',
    LEVEL,
    [['deployment.yaml', 'value: info}', 'value: debug}']],
  ],
  [
    'a value in the first of two documents, with its quotes',
    COLOR,
    [['more.yaml', "'blue'", "'red'"]],
  ],
  [
    'a field that only live has',
    changeOf('spec.minReadySeconds', { change: 'added', live: 4 }),
    [
      [
        'deployment.yaml',
        '        - {name: LEVEL, value: info} # how much it says\n',
        '        - {name: LEVEL, value: info} # how much it says\n  minReadySeconds: 4\n',
      ],
    ],
  ],
  [
    'a field that live lacks',
    changeOf('spec.paused', { change: 'removed', git: false }),
    [['deployment.yaml', '  paused: false\n', '']],
  ],
  [
    'an object that live lacks',
    changeOf('', {
      change: 'missing',
      ref: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'first' },
    }),
    [['more.yaml', /^.*?---\n/s.exec(WEB['more.yaml'] ?? '')?.[0] ?? '', '']],
  ],
]

for (const [name, change, edits] of EDITS)
  test(`adopts ${name}, and reports nothing on the second run`, () => {
    const first = run(recordOf([change]))
    assert.equal(first.exitCode, 0, JSON.stringify(first.results))
    expectEdits(first.texts, edits)
    const second = run(recordOf([change]), first.texts)
    assert.deepEqual([second.exitCode, second.results, second.texts], [0, [], first.texts])
  })

test('adopts a label that drifted alike on every object in the config of its function', () => {
  const labels = [
    'metadata.labels.team',
    'spec.selector.matchLabels.team',
    'spec.template.metadata.labels.team',
  ]
  const refs = ['first', 'second'].map((name) => ({
    group: '',
    kind: 'ConfigMap',
    namespace: 'shop',
    name,
  }))
  const changes = [
    ...labels.map((path) => changeOf(path, { git: 'store', live: 'sales' })),
    ...refs.map((ref) => changeOf('metadata.labels.team', { git: 'store', live: 'sales', ref })),
  ]
  // The setters, which no cluster gets, do not count.
  const { texts, exitCode, results } = run(recordOf(changes))
  assert.equal(exitCode, 0, JSON.stringify(results))
  assert.match(texts['Kptfile'] ?? '', /team: sales # who is called at night/)
  assert.equal((texts['deployment.yaml'] ?? '').match(/team: sales/g)?.length, 3)
})

test('refuses one label of many, because the others would change too', () => {
  const { texts, exitCode, results } = run(
    recordOf([changeOf('metadata.labels.team', { git: 'store', live: 'sales' })]),
  )
  assert.equal(exitCode, 1)
  expectEdits(texts, [])
  assert.match(
    results[0]?.message ?? '',
    /^not adopted: its value comes from the label team of set-labels/,
  )
})

test('skips the impossible change of a report at any position, and applies the others', () => {
  const added = Array.from({ length: 24 }, (_none, at) =>
    changeOf(`metadata.annotations.a${at}`, { change: 'added', live: `v${at}` }),
  )
  const label = changeOf('metadata.labels.team', { git: 'store', live: 'sales' })
  const { texts, exitCode, results } = run(reportOf([...added, label]))
  assert.equal(exitCode, 0)
  assert.equal((texts['deployment.yaml'] ?? '').match(/ a\d+: v\d+\n/g)?.length, 24)
  const refused = results.filter(({ message }) => message.startsWith('not adopted'))
  assert.deepEqual(
    refused.map(({ field }) => field?.path),
    ['metadata.labels.team'],
  )
})

const REFUSED: readonly (readonly [name: string, change: Change, why: RegExp])[] = [
  ['a hidden value', PASSWORD, /is a credential/],
  [
    'an unread value',
    changeOf('data.key', { live: 'redacted (not read)', redacted: true }),
    /does not declare|credential/,
  ],
  ['an undeclared object', EXTRA, /git does not declare the object/],
  [
    'a field of an undeclared object',
    changeOf('data.a', { ...EXTRA, change: 'modified', path: 'data.a', live: 1 }),
    /does not declare/,
  ],
  [
    'a credential inserted into the report',
    changeOf('spec.token', { change: 'added', live: 's3cr3t-value' }),
    /is a credential/,
  ],
  [
    'a hidden text within a value',
    changeOf('spec.strategy', {
      change: 'added',
      live: { a: ['hmac-sha256:8899aabbccddeeff (9 bytes)'] },
    }),
    /is a credential/,
  ],
  [
    'a credential in a path',
    changeOf('metadata.labels["hmac-sha256:8899aabbccddeeff"]', { change: 'added', live: 'x' }),
    /is a credential/,
  ],
  ['an invalid path', changeOf('spec[', { live: 1 }), /not a field path/],
  ['a change without its value', changeOf('spec.replicas'), /no live value/],
  [
    'a change of a field that git changed since',
    changeOf('spec.replicas', { git: 2, live: 5 }),
    /git has changed since/,
  ],
  [
    'invalid annotations',
    changeOf('metadata.annotations', { change: 'added', live: 0 }),
    /no object can be written/,
  ],
  ['a name', changeOf('metadata.name', { git: 'web', live: 'other' }), /./],
]

for (const [name, change, why] of REFUSED) {
  test(`refuses ${name} in a record, and writes nothing`, () => {
    const { exitCode, results, texts } = run(recordOf([change, LEVEL]))
    assert.equal(exitCode, 1)
    expectEdits(texts, [])
    assert.deepEqual(
      results.map(({ severity, resourceRef }) => [severity, resourceRef?.kind, resourceRef?.name]),
      [['error', change.ref.kind, change.ref.name]],
    )
    assert.match(results[0]?.message ?? '', why)
  })
  test(`skips ${name} of a report with a result, and writes the others`, () => {
    const { exitCode, results, texts } = run(reportOf([change, LEVEL]))
    assert.equal(exitCode, 0, JSON.stringify(results))
    expectEdits(texts, [['deployment.yaml', 'value: info}', 'value: debug}']])
    assert.deepEqual(
      results
        .filter(({ severity }) => severity !== 'info')
        .map(({ severity, resourceRef }) => [severity, resourceRef?.name]),
      [['warning', change.ref.name]],
    )
  })
}

test('no result contains a value, adopted or refused', () => {
  const changes = [
    changeOf('spec.token', { change: 'added', live: 's3cr3t-value' }),
    changeOf('spec.template.spec.containers[name=app].env[name=LEVEL].value', {
      git: 'info',
      live: 'very-telling',
    }),
    changeOf('spec.paused', { git: 'was-telling', live: 'is-telling' }),
    PASSWORD,
  ]
  for (const document of [reportOf(changes), recordOf(changes)]) {
    const { results } = run(document)
    assert.ok(results.length >= 3)
    assert.doesNotMatch(
      JSON.stringify(results),
      /s3cr3t|telling|8899aabb|currentValue|proposedValue/,
    )
  }
})

test('writes only Adopt changes of a record, but all changes of a report', () => {
  const changes = [{ ...LEVEL, resolution: 'Restore' as const }, COLOR]
  expectEdits(run(recordOf(changes, { plan: 'Mixed' })).texts, [['more.yaml', "'blue'", "'red'"]])
  expectEdits(run(reportOf(changes)).texts, [
    ['more.yaml', "'blue'", "'red'"],
    ['deployment.yaml', 'value: info}', 'value: debug}'],
  ])
})

test('with any report, throws nothing, writes nothing on an error, and adopts nothing on a second run', () => {
  const locations = [
    'spec.replicas',
    'spec',
    'metadata.name',
    'metadata.labels',
    'metadata.annotations["internal.config.kubernetes.io/path"]',
    'spec.template.spec.containers[name=app]',
    'spec.template.spec.containers[name=new]',
    'spec.template.spec.containers[0].image',
    'kind',
    '__proto__.x',
    'data.color',
    'spec.x[="y"]',
    'spec.selector.matchLabels.team',
  ]
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
    fc.constantFrom<Json>('5', 'a\nb', '#x', { name: 'app' }),
  )
  const change = fc
    .record({
      location: fc.constantFrom(...locations),
      live: value,
      kind: fc.constantFrom(
        'modified' as const,
        'added' as const,
        'removed' as const,
        'missing' as const,
      ),
      ref: fc.constantFrom(REPLICAS.ref, COLOR.ref),
    })
    .map(({ location, live, kind, ref }) =>
      changeOf(kind === 'missing' ? '' : location, {
        change: kind,
        ref,
        ...(kind === 'modified' || kind === 'added' ? { live } : {}),
      }),
    )
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      (changes, decided) => {
        const document = decided ? recordOf(changes) : reportOf(changes)
        const { exitCode, texts } = run(document)
        if (exitCode !== 0) assert.deepEqual(texts, WEB)
        else {
          const again = run(document, texts)
          assert.deepEqual(
            [again.results.filter(({ severity }) => severity === 'info'), again.texts],
            [[], texts],
          )
        }
      },
    ),
    { numRuns: 30 },
  )
})

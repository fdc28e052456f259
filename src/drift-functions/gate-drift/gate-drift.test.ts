import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FunctionOutput } from '@backporch/kpt/function'
import type { YamlMap } from '@backporch/kyaml/yaml'
import { changeOf, itemsOf, recordOf, reportOf, treeOf } from '../../../test/fakes/drift-package.ts'
import { gateDrift } from './gate-drift.ts'

function kptfile(status = '', reason = 'DriftDetected', path = 'Kptfile'): YamlMap[] {
  const condition = `status:\n  conditions:\n  - type: Ready\n    status: "True"\n  - {type: Drifted, status: "${status}", reason: ${reason}, message: drift-9f2c1a7b}\n`
  return itemsOf({
    [path]: `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n${status === '' ? '' : condition}`,
  })
}

function gate(items: readonly YamlMap[], config?: YamlMap): FunctionOutput {
  const output = gateDrift({ items, config })
  assert.equal(output.exitCode, output.results.some(({ severity }) => severity === 'error') ? 1 : 0)
  assert.equal(output.items, items)
  return output
}

function options(data: { readonly [key: string]: string }): YamlMap {
  return treeOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'gate' }, data })
}

/** Among the resources, with its path. */
function atPath(document: object, path = 'drift.yaml'): YamlMap[] {
  return itemsOf({ [path]: JSON.stringify(document) })
}

const HIGH = changeOf('spec.replicas', {
  git: 'was-telling',
  live: 'is-telling',
  risk: 'high',
  reason: 'APP-IMAGE',
})
const LOW = changeOf('metadata.labels.note', {
  live: 'is-telling',
  change: 'added',
  risk: 'low',
  reason: 'META',
})

const CONDITIONS: readonly (readonly [status: string, reason: string, exitCode: number])[] = [
  ['True', 'DriftDetected', 1],
  ['True', 'Anything', 1],
  ['False', 'RestoreApproved', 0],
  ['False', 'Adopted', 0],
  ['False', 'Released', 0],
  ['Unknown', 'Lost', 0],
  ['', '', 0],
]
for (const [status, reason, exitCode] of CONDITIONS)
  test(`a Kptfile whose condition is ${status || 'not there'} ${reason} ${exitCode === 0 ? 'passes' : 'fails the gate'}`, () => {
    const output = gate(kptfile(status, reason))
    assert.equal(output.exitCode, exitCode)
    if (exitCode === 0) return
    const [result] = output.results
    assert.match(
      result?.message ?? '',
      new RegExp(
        `without a decision \\(${reason}, drift-9f2c1a7b\\): decide with "backporch restore"`,
      ),
    )
    assert.deepEqual(
      [result?.file, result?.field?.path],
      [{ path: 'Kptfile' }, 'status.conditions[type=Drifted]'],
    )
  })

test('one subpackage with drift fails the gate', () => {
  assert.equal(
    gate([...kptfile('False', 'Adopted'), ...kptfile('True', 'DriftDetected', 'db/Kptfile')])
      .exitCode,
    1,
  )
})

test('the remedy comes first, then each change with object, field, risk and writer, without values', () => {
  const report = reportOf([HIGH, LOW], { episode: '9f2c1a7b', lifecycle: 'Proposed' })
  const { results } = gate(kptfile(), treeOf(report))
  assert.deepEqual(
    results.map(({ message, severity, resourceRef, field }) => [
      severity,
      resourceRef?.name,
      field?.path,
      message,
    ]),
    [
      [
        'error',
        undefined,
        undefined,
        '2 changes of apps/web in prod-eu-1 without a decision: review proposed/apps/web/drift-9f2c1a7b, or decide with "backporch restore apps/web", "backporch adopt apps/web" or "backporch release apps/web" (docs/guides/deciding.md)',
      ],
      [
        'error',
        'web',
        'spec.replicas',
        'unreviewed drift: modified by kubectl-edit at 2026-11-21T09:30:00Z, risk high (APP-IMAGE)',
      ],
      [
        'error',
        'web',
        'metadata.labels.note',
        'unreviewed drift: added by kubectl-edit at 2026-11-21T09:30:00Z, risk low (META)',
      ],
    ],
  )
  assert.doesNotMatch(JSON.stringify(results), /telling/)
})

const DOCUMENTS: readonly (readonly [name: string, document: object, exitCode: number])[] = [
  ['a report of drift', reportOf([HIGH]), 1],
  [
    'a report of proposed drift',
    reportOf([HIGH], { lifecycle: 'Proposed', episode: '9f2c1a7b' }),
    1,
  ],
  ['a report without drift', reportOf([], { state: 'InSync' }), 0],
  ['a report of rejected drift', reportOf([HIGH], { state: 'Silenced' }), 0],
  [
    'a report of a merged decision that is not yet applied',
    reportOf([HIGH], { state: 'Applying' }),
    0,
  ],
  ['a draft record', recordOf([HIGH], { lifecycle: 'Draft' }), 1],
  ['a record that decides when it is merged', recordOf([HIGH]), 0],
]
for (const [name, document, exitCode] of DOCUMENTS)
  test(`${name} ${exitCode === 0 ? 'passes' : 'fails the gate'}, as config and by its path`, () => {
    assert.equal(gate(kptfile(), treeOf(document)).exitCode, exitCode)
    assert.equal(
      gate([...kptfile(), ...atPath(document)], options({ report: 'drift.yaml' })).exitCode,
      exitCode,
    )
    assert.equal(gate([...kptfile(), ...atPath(document)]).exitCode, 0)
  })

test('changes below the minimum risk do not fail the gate, also if the condition reports the same drift', () => {
  const report = reportOf([HIGH, LOW], { episode: '9f2c1a7b', lifecycle: 'Draft' })
  const run = (minimumRisk: string, workspace = report): FunctionOutput =>
    gate([...kptfile('True'), ...atPath(workspace)], options({ minimumRisk, report: 'drift.yaml' }))
  assert.deepEqual(
    run('high').results.map(({ field }) => field?.path),
    [undefined, 'spec.replicas'],
  )
  assert.match(run('high').results[0]?.message ?? '', /; 1 of lower risk than high does not count/)
  const { exitCode, results } = run('critical')
  assert.deepEqual([exitCode, results.map(({ severity }) => severity)], [0, ['info']])
  const other = run('critical', reportOf([HIGH], { episode: '00000000', lifecycle: 'Draft' }))
  assert.equal(other.exitCode, 1)
})

test('an unknown state passes, unless the config makes it fail', () => {
  const unknown = [
    { items: kptfile(), more: {} },
    { items: [], more: {} },
    {
      items: [...kptfile('False', 'Adopted'), ...atPath(reportOf([], { state: 'Unknown' }))],
      more: { report: 'drift.yaml' },
    },
    {
      items: atPath(
        reportOf([], {
          state: 'InSync',
          incomplete: [{ state: 'unreadable', code: 'BP3003', why: 'forbidden' }],
        }),
      ),
      more: { report: 'drift.yaml' },
    },
  ]
  for (const { items, more } of unknown) {
    assert.deepEqual(
      gate(items, options(more)).results.map(({ severity }) => severity),
      ['info'],
    )
    assert.equal(gate(items, options({ ...more, unknown: 'fail' })).exitCode, 1)
  }
  assert.deepEqual(gate(kptfile('False', 'Adopted'), options({ unknown: 'fail' })).results, [])
})

const CONFIGS: readonly (readonly [name: string, config: YamlMap, said: RegExp])[] = [
  [
    'an invalid risk',
    options({ minimumRisk: 'grave' }),
    /minimumRisk is "grave": wanted low, medium, high or critical/,
  ],
  ['an invalid choice', options({ unknown: 'maybe' }), /unknown is "maybe": wanted pass or fail/],
  ['an unknown key', options({ minimalRisk: 'high' }), /unknown key "minimalRisk"/],
  [
    'a missing report',
    options({ report: 'gone.yaml' }),
    /report is "gone.yaml": the resources contain no such DriftReport/,
  ],
  [
    'another kind',
    treeOf({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }),
    /neither a ConfigMap nor/,
  ],
  ['a malformed report', treeOf({ ...reportOf([]), status: {} }), /functionConfig status\.state: /],
]
for (const [name, config, text] of CONFIGS)
  test(`a config with ${name} fails`, () => {
    const { exitCode, results } = gate(kptfile(), config)
    assert.equal(exitCode, 1)
    assert.match(results[0]?.message ?? '', text)
  })

test('text from a cluster stays on one line, and the output for many changes is limited', () => {
  const actor = { ...HIGH.actor, manager: 'evil\n::error::\u202e' }
  const { results } = gate(
    [],
    treeOf(reportOf(Array.from({ length: 300 }, () => ({ ...HIGH, actor })))),
  )
  assert.equal(results.length, 101)
  assert.match(results[1]?.message ?? '', /by evil\\u\{a\}::error::\\u\{202e\} at/)
  assert.match(results[0]?.message ?? '', /^300 changes of .*, of which 100 are listed/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FunctionOutput } from '@backporch/kpt/function'
import { getKey, isJsonArray, isJsonObject, type Json, setKey } from '@backporch/kyaml/json'
import { convertJsonToYaml, type YamlMap } from '@backporch/kyaml/yaml'
import { changeOf, itemsOf, recordOf, reportOf, treeOf } from '../../../test/fakes/drift-package.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import { API_VERSION, LOCAL_CONFIG } from '../../record/documents/document.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { formatDocument } from '../../record/write-document.ts'
import { verifyDriftRecords } from './verify-drift-records.ts'

const RECORD_PATH = '.drift/records/prod-eu-1/apps--web/20261121-9f2c1a7b.yaml'
const RECORD = recordOf([changeOf('spec.replicas', { git: 3, live: 5 })])
const REPORT = reportOf([changeOf('spec.replicas', { git: 3, live: 5 })])
const CLOSED: ClosedEpisode = {
  apiVersion: API_VERSION,
  kind: 'ClosedEpisode',
  metadata: { name: '9f2c1a7b', annotations: LOCAL_CONFIG },
  spec: { ...REPORT.spec, episode: '9f2c1a7b', began: '2026-11-21T09:45:00Z', plan: 'Adopt' },
  status: { outcome: 'Merged', decidedBy: 'ada', at: '2026-11-21T11:00:00Z' },
}
const POLICY = `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: prod, annotations: {config.kubernetes.io/local-config: "true"}}
spec: {mode: Propose}
`
const INERT = '# +argocd:skip-file-rendering\n'

/** As kpt gives it: a record of a copy without its last document. */
function formatMarked(document: object): string {
  return INERT + formatDocument(document)
}

function verify(
  texts: { readonly [path: string]: string },
  data: { readonly [key: string]: string } = {},
): FunctionOutput {
  const items = itemsOf(texts)
  const output = verifyDriftRecords({
    items,
    config: treeOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data }),
  })
  assert.equal(output.items, items)
  assert.equal(output.exitCode, output.results.some(({ severity }) => severity === 'error') ? 1 : 0)
  return output
}

/** `severity field: message` of every result. */
function message(
  texts: { readonly [path: string]: string },
  data: { readonly [key: string]: string } = {},
): readonly string[] {
  return verify(texts, data).results.map(
    ({ severity, field, message }) => `${severity} ${field?.path ?? ''}: ${message}`,
  )
}

/** The same document with another value at a place. */
function withAt(document: object, location: string, value: Json | undefined): object {
  const copy = structuredClone(document) as { [key: string]: Json }
  const keys = location.split('.')
  let at: Json | undefined = copy
  for (const key of keys.slice(0, -1))
    at = isJsonArray(at) ? at[Number(key)] : isJsonObject(at) ? getKey(at, key) : undefined
  const last = keys.at(-1) ?? ''
  assert.ok(isJsonObject(at), location)
  if (value === undefined) delete (at as { [key: string]: Json })[last]
  else setKey(at as { [key: string]: Json }, last, value)
  return copy
}

test('documents that Backporch writes are valid at their paths', () => {
  const texts = {
    [RECORD_PATH]: formatMarked(RECORD),
    '.drift/policy.yaml': INERT + POLICY,
    'drift.yaml': formatMarked(REPORT),
    'clusters/prod-eu-1/apps--web/report.yaml': formatDocument(REPORT),
    'clusters/prod-eu-1/apps--web/resourcegroup.yaml':
      'apiVersion: kpt.dev/v1alpha1\nkind: ResourceGroup\nmetadata: {name: a}\n',
    'clusters/prod-eu-1/db/resourcegroup.yaml':
      'apiVersion: kpt.dev/v1alpha1\nkind: ResourceGroup\nmetadata: {name: b}\n',
    'closed/2026/11/9f2c1a7b.yaml': formatDocument(CLOSED),
    'web/resourcegroup.yaml':
      'apiVersion: kpt.dev/v1alpha1\nkind: ResourceGroup\nmetadata: {name: c}\n',
    'web/deployment.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n',
  }
  assert.deepEqual(message(texts), [])
  assert.deepEqual(message(texts, { drafts: 'fail' }), [])
})

test('a result names its file, document and field', () => {
  const text = `${INERT}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, annotations: {config.kubernetes.io/local-config: "true"}}\n---\n${formatDocument(withAt(RECORD, 'spec.changes.0.risk', 'grave'))}`
  assert.deepEqual(verify({ '.drift/more.yaml': text }).results, [
    {
      message: 'Invalid option: expected one of "critical"|"high"|"medium"|"low"',
      severity: 'error',
      resourceRef: { apiVersion: API_VERSION, kind: 'DriftRecord', name: 'drift-9f2c1a7b' },
      field: { path: 'spec.changes[0].risk' },
      file: { path: '.drift/more.yaml', index: 1 },
    },
  ])
})

const HIDDEN = 'hmac-sha256:0011223344556677 (8 bytes)'
const WRONG: readonly (readonly [place: string, value: Json | undefined, said: string])[] = [
  [
    'metadata.annotations',
    {},
    'error metadata.annotations.config.kubernetes.io/local-config: Invalid input: expected "true"',
  ],
  ['metadata.name', 'drift-00000000', 'error metadata.name: wanted drift- and the episode'],
  [
    'spec.unit.package',
    '../web',
    'error spec.unit.package: wanted a path from the root of the repository',
  ],
  [
    'spec.fingerprint',
    'sha256:12',
    'error spec.fingerprint: wanted sha256: and 64 hex digits, or nothing',
  ],
  ['spec.fingerprint', '', 'error spec.fingerprint: there are changes, so there is a fingerprint'],
  [
    'spec.observed.at',
    'yesterday',
    'error spec.observed.at: wanted a time as 2026-11-21T09:30:00Z',
  ],
  [
    'spec.observed.at',
    '2026-11-20T10:00:00Z',
    'error spec.began: the episode began after it was observed',
  ],
  ['spec.changes.0.path', 'spec[', 'error spec.changes[0].path: wanted a keyed field path'],
  ['spec.changes.0.path', undefined, 'error spec.changes[0].path: wanted a keyed field path'],
  ['spec.changes.0.change', 'added', 'error spec.changes[0].git: with added git has no value'],
  [
    'spec.changes.0.change',
    'removed',
    'error spec.changes[0].live: with removed the cluster has no value',
  ],
  [
    'spec.changes.0.change',
    'missing',
    'error spec.changes[0].path: a change of the kind missing applies to the whole object',
  ],
  ['spec.changes.0.live', undefined, 'error spec.changes[0].live: the live value is missing'],
  [
    'spec.changes.0.live',
    HIDDEN,
    'error spec.changes[0].redacted: a value is hidden, so it has to be true',
  ],
  [
    'spec.changes.0.redacted',
    true,
    'error spec.changes[0].redacted: it is true, and no value is hidden',
  ],
  [
    'spec.changes.0.live',
    { kind: 'Secret', data: { a: 'Yg==' } },
    'error spec.changes[0].live: it contains a Secret in plain text',
  ],
  ['spec.changes.0.fingerprint', 'x', 'error spec.changes[0].fingerprint: wanted 16 hex digits'],
  ['spec.changes', [], 'error spec.changes: a record without a change decides nothing'],
  [
    'spec.proposedAt',
    '2026-11-20T10:00:00Z',
    'error spec.proposedAt: it was proposed before it began',
  ],
  ['spec.plan', 'Restore', 'error spec.plan: the resolutions of the changes make it Adopt'],
  [
    'spec.plannedBefore',
    'Restore',
    'error spec.plannedBefore: wanted an earlier plan that differs from spec.plan, and spec.plannedBy',
  ],
  ['spec.after', '9f2c1a7b', 'error spec.after: an episode does not follow itself'],
  ['spec.keyId', 'abc', 'error spec.keyId: wanted eight hex digits'],
  ['spec.message', '  ', 'error spec.message: it is present and empty'],
  [
    'spec.settle',
    'nobody',
    'error spec.settle: Invalid option: expected one of "syncer"|"backporch"',
  ],
  [
    'spec.unit.cluster',
    'prod-us-1',
    'error : the file of this record is .drift/records/prod-us-1/apps--web/20261121-9f2c1a7b.yaml',
  ],
  ['apiVersion', 'backporch.dev/v1', 'error apiVersion: wanted backporch.dev/v1alpha1'],
  ['kind', 'DriftRecrod', 'error kind: there is no kind "DriftRecrod" of backporch.dev/v1alpha1'],
]
for (const [location, value, wanted] of WRONG)
  test(`rejects a record whose ${location} is ${JSON.stringify(value)}`, () => {
    const found = message({ [RECORD_PATH]: formatMarked(withAt(RECORD, location, value)) })
    assert.ok(found.includes(wanted), found.join('\n'))
  })

test('rejects a record under another file name only in the folder of records', () => {
  const text = formatMarked(RECORD)
  const wanted = [`error : the file of this record is ${RECORD_PATH}`]
  assert.deepEqual(
    message({ '.drift/records/prod-eu-1/apps--web/20261121-00000000.yaml': text }),
    wanted,
  )
  assert.deepEqual(message({ 'fleet/.drift/records/other/20261121-9f2c1a7b.yaml': text }), wanted)
  assert.deepEqual(message({ 'web/drift.yaml': text }), [])
})

test('rejects a record that adopts a hidden value or an undeclared Secret', () => {
  const hidden = changeOf('data.key', { git: HIDDEN, live: HIDDEN, redacted: true })
  const secret = changeOf('', {
    change: 'unexpected',
    ref: { group: '', kind: 'Secret', namespace: 'shop', name: 'db' },
  })
  const unexpected = changeOf('', {
    change: 'unexpected',
    ref: { group: '', kind: 'Pod', namespace: 'shop', name: 'debug' },
  })
  assert.deepEqual(
    message({ 'drift.yaml': formatMarked(recordOf([hidden, secret, unexpected])) }),
    [
      'error spec.changes[0].resolution: a hidden value cannot be adopted',
      'error spec.changes[1].resolution: a Secret that git does not declare cannot be adopted',
    ],
  )
  const twice = message({
    'drift.yaml': formatMarked(recordOf([...RECORD.spec.changes, ...RECORD.spec.changes])),
  })
  assert.deepEqual(twice, ['error spec.changes[1]: another change has the same object and path'])
})

test('drafts and plans without a reason are valid unless the config forbids them', () => {
  const draft = { 'a.yaml': formatMarked(recordOf(RECORD.spec.changes, { lifecycle: 'Draft' })) }
  assert.deepEqual(message(draft), [])
  assert.deepEqual(message(draft, { drafts: 'fail' }), [
    'error spec.lifecycle: a draft has no approval: merging it decides nothing',
  ])
  const proposed = (
    more: Partial<DriftRecord['spec']>,
    resolution: 'Adopt' | 'Restore' = 'Adopt',
  ): readonly string[] => {
    const changes = RECORD.spec.changes.map((change) => ({ ...change, resolution }))
    return message(
      { 'a.yaml': formatMarked(recordOf(changes, { plan: resolution, ...more })) },
      { message: 'required' },
    )
  }
  assert.deepEqual(proposed({}), ['error spec.message: a plan to Adopt needs a reason'])
  assert.deepEqual(proposed({ message: 'peak season' }), [])
  assert.deepEqual(proposed({}, 'Restore'), [])
})

test('a record that a syncer would apply is an error; a report in the tree and an unannotated policy are warnings', () => {
  const line =
    'the line # +argocd:skip-file-rendering is not directly above it: Argo CD would apply the file'
  assert.deepEqual(message({ [RECORD_PATH]: formatDocument(RECORD) }), [`error : ${line}`])
  assert.deepEqual(message({ [RECORD_PATH]: `# ours\n${INERT}${formatDocument(RECORD)}` }), [
    `error : ${line}`,
  ])
  assert.deepEqual(message({ 'drift.yaml': formatDocument(REPORT) }), [`warning : ${line}`])
  assert.deepEqual(message({ '.drift/policy.yaml': POLICY.replace(/, annotations: .*/, '}') }), [
    'warning metadata.annotations: without config.kubernetes.io/local-config: "true" a syncer would apply it',
  ])
})

test('allows only Backporch documents beside the packages, and no ResourceGroup', () => {
  const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: live}\n'
  assert.match(
    message({ '.drift/live.yaml': manifest })[0] ?? '',
    /^error : only documents of Backporch belong here/,
  )
  assert.match(
    message({
      '.drift/group.yaml':
        'apiVersion: kpt.dev/v1alpha1\nkind: ResourceGroup\nmetadata: {name: a}\n',
    })[0] ?? '',
    /^error kind: a ResourceGroup belongs in a package or on the ledger/,
  )
})

test('requires one ResourceGroup per package, one policy per name, and one record per episode', () => {
  const kptfile = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: web}\n'
  const group = 'apiVersion: kpt.dev/v1alpha1\nkind: ResourceGroup\nmetadata: {name: a}\n'
  const one = { Kptfile: kptfile, 'a.yaml': group, 'db/Kptfile': kptfile, 'db/b.yaml': group }
  assert.deepEqual(message(one), [])
  assert.deepEqual(message({ ...one, 'sub/c.yaml': group }), [
    'error : the package has another ResourceGroup, so kpt live refuses it (a.yaml)',
  ])
  assert.deepEqual(message({ '.drift/a.yaml': INERT + POLICY, '.drift/b.yaml': INERT + POLICY }), [
    'error : another DriftPolicy has this name (.drift/a.yaml)',
  ])
  const record = formatMarked(RECORD)
  assert.deepEqual(message({ 'a.yaml': record, 'b.yaml': record }), [
    'error : another record has the same episode (a.yaml)',
  ])
})

test('parses a policy like Backporch does', () => {
  assert.deepEqual(
    message({ '.drift/policy.yaml': `${INERT}${POLICY.replace('mode: Propose', 'mod: Propose')}` }),
    ['error spec: Unrecognized key: "mod"'],
  )
  const placement = `${INERT}${POLICY.replace('DriftPolicy', 'Placement').replace('{mode: Propose}', '{clusters: [], packages: ["a"]}')}`
  assert.equal(verify({ '.drift/placement.yaml': placement }).exitCode, 1)
})

const REPORTS: readonly (readonly [place: string, value: Json, said: string])[] = [
  [
    'metadata.name',
    '0000000000000000',
    'error metadata.name: for this cluster and package it must be ',
  ],
  ['status.lifecycle', 'Draft', 'error status.lifecycle: it needs an episode'],
  ['status.held', { reason: 'storm', why: 'a storm' }, 'error status.held: only a draft is held'],
  ['spec.changes', [], 'error status.state: there is no change'],
  ['status.branch', 'main', 'error status.branch: wanted a branch below drafts/ or proposed/'],
  [
    'spec.unit.cluster',
    'prod-us-1',
    'error : the file of this report is clusters/prod-us-1/apps--web/report.yaml',
  ],
]
for (const [position, value, wanted] of REPORTS)
  test(`rejects a report whose ${position} is ${JSON.stringify(value)}`, () => {
    const found = message({
      'clusters/prod-eu-1/apps--web/report.yaml': formatDocument(withAt(REPORT, position, value)),
    })
    assert.ok(
      found.some((line) => line.startsWith(wanted)),
      found.join('\n'),
    )
  })

test('rejects a closed episode under another name', () => {
  assert.deepEqual(message({ 'closed/2026/10/9f2c1a7b.yaml': formatDocument(CLOSED) }), [
    'error : the file of this episode is closed/2026/11/9f2c1a7b.yaml',
  ])
})

test('a config with an unknown key or value fails', () => {
  assert.deepEqual(message({}, { draft: 'fail' }), [
    'error : unknown key "draft": wanted drafts or message',
  ])
  assert.deepEqual(message({}, { drafts: 'no' }), ['error : drafts is "no": wanted pass or fail'])
  assert.deepEqual(message({}, { message: 'no' }), [
    'error : message is "no": wanted optional or required',
  ])
})

test('throws for no document, and limits its results', () => {
  const kinds = [
    'DriftRecord',
    'DriftReport',
    'ClosedEpisode',
    'ClusterObservation',
    'DriftReportList',
    'DriftPolicy',
    'Placement',
  ]
  const part = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
    fc.constantFrom<Json>('', 'sha256:', '9f2c1a7b', [], {}),
  )
  const locations = [
    'metadata',
    'spec',
    'spec.unit',
    'spec.changes',
    'spec.episode',
    'spec.began',
    'spec.observed',
    'status',
    'spec.changes.0.ref',
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.constantFrom(...locations),
      part,
      (kind, location, value) => {
        const document = withAt({ ...RECORD, kind, status: {} }, location, value)
        const item = convertJsonToYaml(document as unknown as Json) as YamlMap
        const { results } = verifyDriftRecords({ items: [item, item], config: undefined })
        assert.ok(results.length <= 2 * 22 + 2)
        for (const { message } of results)
          assert.ok(message.length < 600 && !message.includes('\n'))
      },
    ),
    { numRuns: 300 },
  )
})

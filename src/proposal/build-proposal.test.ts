import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { findValueAt } from '@backporch/kyaml/field'
import { isJsonEqual, type Json } from '@backporch/kyaml/json'
import { builtInFunctions } from '../../functions/built-in-functions.ts'
import { built, inputOf, RECORD } from '../../test/fakes/built-proposal.ts'
import { driftOf } from '../../test/fakes/drift-samples.ts'
import { path } from '../../test/fakes/live-object.ts'
import { filesOf } from '../../test/fakes/pipeline-files.ts'
import { changeIn, desiredIn, PACKAGE } from '../../test/fakes/resolved-changes.ts'
import { CONFIG, DEPLOYMENT, KPTFILE } from '../../test/fakes/turn-world.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import type { Drift, Resolution } from '../drift/compare/drift.ts'
import type { ResolvedChange } from '../sources/edits/resolution-edits.ts'
import { buildProposal, type ProposalInput } from './build-proposal.ts'

function refusal(changes: readonly ResolvedChange[], more: Partial<ProposalInput> = {}): Failure {
  try {
    built(changes, more)
  } catch (thrown) {
    assert.ok(thrown instanceof Failure, String(thrown))
    return thrown
  }
  throw new assert.AssertionError({ message: 'not refused' })
}

const one = (
  field: string,
  live: Json | undefined,
  resolution: Resolution,
  kind = 'Deployment',
  name = 'web',
): ResolvedChange => changeIn(PACKAGE, { kind, name, field, live, resolution })

test('Restore writes the record and the condition, and no authored file', () => {
  const files = built(
    [one('spec.replicas', 5, 'Restore'), one('data.color', 'red', 'Restore', 'ConfigMap')],
    { plan: 'Restore' },
  )
  assert.deepEqual(Object.keys(files).sort(), [
    '.drift/records/prod/apps--web/20261121-1a2b3c4d.yaml',
    'apps/web/Kptfile',
  ])
  assert.match(
    files['apps/web/Kptfile'] ?? '',
    /^apiVersion: kpt.dev\/v1\nkind: Kptfile\nmetadata:\n {2}name: web\nstatus:\n {2}conditions:\n[\s\S]*reason: RestoreApproved/,
  )
})

const CONDITIONS: readonly (readonly [
  lifecycle: 'Draft' | 'Proposed',
  plan: ProposalInput['plan'],
  status: string,
  reason: string,
])[] = [
  ['Draft', 'Adopt', 'True', 'DriftDetected'],
  ['Proposed', 'Restore', 'False', 'RestoreApproved'],
  ['Proposed', 'Adopt', 'False', 'Adopted'],
  ['Proposed', 'Release', 'False', 'Released'],
]

for (const [lifecycle, plan, status, reason] of CONDITIONS) {
  test(`the condition of a ${lifecycle} with plan ${plan} is ${status}, ${reason}`, () => {
    const kptfile =
      built([one('spec.replicas', 5, 'Restore')], { lifecycle, plan })['apps/web/Kptfile'] ?? ''
    assert.match(kptfile, new RegExp(`status: ['"]${status}['"]`))
    assert.match(kptfile, new RegExp(`reason: ${reason}`))
  })
}

test('the condition of a mixed plan lists the reason of each resolution once', () => {
  const adopted = one('spec.replicas', 5, 'Adopt')
  const restored = [
    one('data.color', 'red', 'Restore', 'ConfigMap'),
    one('data.size', '6', 'Restore', 'ConfigMap'),
  ]
  const reason = (changes: readonly ResolvedChange[]): string | undefined =>
    /reason: (.*)/.exec(built(changes, { plan: 'Mixed' })['apps/web/Kptfile'] ?? '')?.[1]
  assert.equal(reason([...restored, adopted]), 'Adopted,RestoreApproved')
  assert.equal(reason([adopted, ...restored]), 'Adopted,RestoreApproved')
})

const EDITED: readonly (readonly [
  name: string,
  change: ResolvedChange,
  file: string,
  from: string,
  to: string,
])[] = [
  [
    'Adopt of a value',
    one('spec.replicas', 5, 'Adopt'),
    'deployment.yaml',
    'replicas: 3 #',
    'replicas: 5 #',
  ],
  [
    'Adopt of a value in quotes',
    one('spec.template.spec.containers[name=app].image', 'nginx:1.28', 'Adopt'),
    'deployment.yaml',
    '"nginx:1.27"',
    '"nginx:1.28"',
  ],
  [
    'Adopt of a removed key',
    one('data.color', undefined, 'Adopt', 'ConfigMap', 'other'),
    'all.yaml',
    'data:\n  size',
    'data:\n  size',
  ],
  [
    'Release of a value',
    one('spec.replicas', 5, 'Release'),
    'deployment.yaml',
    '  replicas: 3 # for the day\n',
    '',
  ],
]

for (const [name, change, file, from, to] of EDITED) {
  test(`${name} changes exactly its own line`, () => {
    const before = PACKAGE[file as keyof typeof PACKAGE]
    const wanted =
      from === to
        ? `${CONFIG}---\n${CONFIG.replace('name: web', 'name: other').replace('  color: blue\n', '')}`
        : before.replace(from, to)
    assert.equal(built([change])[`apps/web/${file}`], wanted)
  })
}

test('an object without a change keeps every byte, and so does its file', () => {
  const files = built([
    one('data.color', 'red', 'Adopt', 'ConfigMap'),
    one('spec.replicas', 5, 'Restore'),
  ])
  assert.equal(files['apps/web/all.yaml'], PACKAGE['all.yaml'].replace('color: blue', 'color: red'))
  assert.equal(files['apps/web/deployment.yaml'], undefined)
})

test('Adopt of a missing object removes it from git, and its file when it becomes empty', () => {
  const missing = (kind: string, name: string, resolution: Resolution) =>
    changeIn(PACKAGE, {
      kind,
      name,
      field: '',
      live: undefined,
      resolution,
      more: { change: 'missing', path: [] },
    })
  const gone = built([missing('Deployment', 'web', 'Adopt')])
  assert.match(gone['apps/web/deployment.yaml'] ?? 'null', /null|^# the shop/)
  const half = built([missing('ConfigMap', 'other', 'Adopt')])
  assert.equal(half['apps/web/all.yaml']?.trimEnd(), CONFIG.trimEnd())
  assert.equal(built([missing('Secret', 'db', 'Release')])['apps/web/secret.yaml'], null)
})

function whole(live: Json | undefined, id: Partial<Drift['id']> = {}): ResolvedChange {
  const drift = driftOf('', { change: 'unexpected', live })
  return {
    desired: undefined,
    resolution: 'Adopt',
    drift: { ...drift, id: { ...drift.id, group: '', ...id } },
  }
}

const REFUSED: readonly (readonly [
  name: string,
  changes: readonly ResolvedChange[],
  more: Partial<ProposalInput>,
  code: string,
])[] = [
  ['a value of a Secret', [one('data.user', 'Yg==', 'Adopt', 'Secret', 'db')], {}, 'BP2002'],
  [
    'a credential recognised by its name',
    [one('data.password', 'hunter2', 'Adopt', 'ConfigMap')],
    {},
    'BP2002',
  ],
  [
    'a credential recognised by its form',
    [one('data.color', 'AKIAIOSFODNN7EXAMPLE', 'Adopt', 'ConfigMap')],
    {},
    'BP2002',
  ],
  [
    'a credential in an annotation of a Secret',
    [one('metadata.annotations.token', 'hunter2', 'Adopt', 'Secret', 'db')],
    {},
    'BP2002',
  ],
  [
    'an unread value',
    [
      {
        ...one('data.color', 'red', 'Adopt', 'ConfigMap'),
        drift: driftOf('data.color', { liveUnread: true }),
      },
    ],
    {},
    'BP2002',
  ],
  [
    'an undeclared object that a controller owns',
    [whole({ metadata: { name: 'web', ownerReferences: [{ name: 'a' }] } })],
    {},
    'BP2010',
  ],
  ['an undeclared Secret', [whole({ data: { key: 'Yg==' } }, { kind: 'Secret' })], {}, 'BP2002'],
  ['an unread undeclared object', [whole(undefined)], {}, 'BP2001'],
]

for (const [name, changes, more, code] of REFUSED) {
  test(`Adopt is refused with ${code}: ${name}`, () => {
    const failure = refusal(changes, more)
    assert.equal(failure.code, code)
    assert.doesNotMatch(JSON.stringify(failure), /hunter2|Yg==|AKIA/)
  })
}

test('an edit and the condition in the Kptfile are written as one file', () => {
  const setImage =
    'pipeline:\n  mutators:\n  - image: ghcr.io/kptdev/krm-functions-catalog/set-image:v0.1.1\n    configMap: {name: nginx, newTag: "1.27"}\n'
  const texts = { Kptfile: KPTFILE + setImage, 'deployment.yaml': DEPLOYMENT }
  const change = changeIn(
    texts,
    {
      kind: 'Deployment',
      name: 'web',
      field: 'spec.template.spec.containers[name=app].image',
      live: 'nginx:1.28',
      resolution: 'Adopt',
    },
    builtInFunctions,
  )
  const { changes } = buildProposal(
    inputOf([change], {
      files: filesOf(texts),
      pipeline: true,
      functions: builtInFunctions,
      plan: 'Adopt',
    }),
  )
  assert.deepEqual(changes.map((file) => file.path).sort(), [
    RECORD.path,
    'apps/web/Kptfile',
    'apps/web/deployment.yaml',
  ])
  const kptfile =
    changes.find((file) => file.path === 'apps/web/Kptfile')?.content ?? new Uint8Array()
  assert.match(
    new TextDecoder().decode(kptfile),
    /newTag: "1\.28"\}\nstatus:\n(.*\n)*.*reason: Adopted/,
  )
})

test('a pipeline does not prevent a Restore proposal', () => {
  assert.equal(
    Object.keys(built([one('spec.replicas', 5, 'Restore')], { pipeline: true })).length,
    2,
  )
})

test('the proof refuses an edit that lands in another object', () => {
  const change = one('data.color', 'red', 'Adopt', 'ConfigMap')
  const { location } = desiredIn(PACKAGE, 'ConfigMap', 'other')
  assert.ok(change.desired !== undefined)
  const failure = refusal([{ ...change, desired: { ...change.desired, location } }])
  assert.equal(failure.code, 'BP2001')
  assert.match(failure.why, /it is not ConfigMap shop\/web/)
})

test('the proof refuses an edit that does not give the chosen value', () => {
  // The value in git stands for the package that was observed; the files are of another commit.
  const failure = refusal([one('metadata.labels.app', 'api', 'Adopt')], {
    files: filesOf({
      ...PACKAGE,
      'deployment.yaml': DEPLOYMENT.replace('kind: Deployment', 'kind: StatefulSet'),
    }),
  })
  assert.equal(failure.code, 'BP2001')
})

const MOVES: readonly (readonly [name: string, text: string])[] = [
  [
    'an anchor that another field repeats',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, labels: &l {color: blue}}\ndata: *l\n',
  ],
  [
    'a mapping that another field merges',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, labels: &l {color: blue}}\ndata:\n  <<: *l\n  size: "5"\n',
  ],
]

for (const [name, text] of MOVES) {
  test(`rejects an edit that would change another field: ${name}`, () => {
    const texts = { Kptfile: KPTFILE, 'a.yaml': text }
    const change = changeIn(texts, {
      kind: 'ConfigMap',
      name: 'web',
      field: 'metadata.labels.color',
      live: 'red',
      resolution: 'Adopt',
    })
    let after: { readonly [path: string]: string | null }
    try {
      after = built([change], { files: filesOf(texts) })
    } catch (thrown) {
      assert.ok(thrown instanceof Failure && ['BP2001', 'BP2007'].includes(thrown.code))
      return
    }
    const object = desiredIn(
      { Kptfile: KPTFILE, 'a.yaml': after['apps/web/a.yaml'] ?? '' },
      'ConfigMap',
      'web',
    ).object
    assert.equal(findValueAt(object, path('metadata.labels.color')), 'red')
    assert.equal(findValueAt(object, path('data.color')), 'blue')
  })
}

test('after Adopt the package renders to the live values and is otherwise unchanged', () => {
  const text = fc.oneof(
    fc.stringMatching(/^[ -~]{0,12}$/),
    fc.constantFrom('no', '1e3', '0x1f', '12:30', ' a', "it's", 'a: b', '#x', '日本'),
  )
  const edits = fc.record({
    color: fc.option(text, { nil: undefined }),
    size: fc.option(text, { nil: undefined }),
    extra: fc.option(text, { nil: undefined }),
  })
  fc.assert(
    fc.property(edits, (wanted) => {
      const changes = Object.entries(wanted).flatMap(([key, live]) => {
        const change = one(`data.${key}`, live, 'Adopt', 'ConfigMap')
        return live === undefined && change.drift.git === undefined ? [] : [change]
      })
      const files = built(changes)
      const after = { ...PACKAGE, 'all.yaml': files['apps/web/all.yaml'] ?? PACKAGE['all.yaml'] }
      const data = Object.fromEntries(
        Object.entries(wanted).filter(([, value]) => value !== undefined),
      )
      assert.ok(
        isJsonEqual(
          findValueAt(desiredIn(after, 'ConfigMap', 'web').object, path('data')),
          data as Json,
        ),
      )
      assert.ok(
        isJsonEqual(
          desiredIn(after, 'ConfigMap', 'other').object,
          desiredIn(PACKAGE, 'ConfigMap', 'other').object,
        ),
      )
      assert.deepEqual(
        Object.keys(files).filter(
          (name) =>
            !name.startsWith('.drift/') &&
            !['apps/web/Kptfile', 'apps/web/all.yaml'].includes(name),
        ),
        [],
      )
    }),
  )
})

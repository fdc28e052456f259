import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerCalls, NO_FUNCTIONS } from '@backporch/kpt/function'
import { Failure } from '@backporch/kyaml/failure'
import { findValueAt } from '@backporch/kyaml/field'
import type { Json } from '@backporch/kyaml/json'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import { CONFIG, DEPLOYMENT, KPTFILE } from '../../../test/fakes/turn-world.ts'
import type { Drift, Resolution } from '../../drift/compare/drift.ts'
import { renderPackage } from '../kpt/render/render-package.ts'
import { proveEdit, type Rendered } from './prove-edit.ts'
import type { ResolvedChange } from './resolution-edits.ts'

function rendered(...texts: readonly string[]): Rendered {
  const files = [KPTFILE, ...texts].map((text, index) => ({
    path: index === 0 ? 'Kptfile' : `${index}.yaml`,
    content: new TextEncoder().encode(text),
    mode: '100644' as const,
  }))
  const rendering = answerCalls(renderPackage('apps/web', files), NO_FUNCTIONS)
  assert.ok('desired' in rendering)
  return new Map(
    rendering.desired.resources.map((resource) => [
      `${resource.id.kind}/${resource.id.name}`,
      resource,
    ]),
  )
}

const BEFORE = rendered(DEPLOYMENT, CONFIG)

function change(
  object: string,
  field: string,
  live: Json | undefined,
  resolution: Resolution,
  more: Partial<Drift> = {},
): ResolvedChange {
  const desired = BEFORE.get(object)
  assert.ok(desired !== undefined)
  const drift = driftOf(field, {
    id: desired.id,
    live,
    change: live === undefined ? 'removed' : 'modified',
    ...more,
  })
  return { desired, resolution, drift: { ...drift, git: findValueAt(desired.object, drift.path) } }
}

const REPLICAS = change('Deployment/web', 'spec.replicas', 5, 'Adopt')
const IMAGE = change(
  'Deployment/web',
  'spec.template.spec.containers[name=app].image',
  'nginx:1.28',
  'Adopt',
)
const COLOR_GONE = change('ConfigMap/web', 'data.color', undefined, 'Adopt')
const RELEASED = change('Deployment/web', 'spec.replicas', 5, 'Release')
const OBJECT_GONE = change('ConfigMap/web', '', undefined, 'Adopt', { change: 'missing' })
const five = DEPLOYMENT.replace('replicas: 3', 'replicas: 5')
const without = DEPLOYMENT.replace('  replicas: 3 # for the day\n', '')

const PROVEN: readonly (readonly [
  name: string,
  after: Rendered,
  changes: readonly ResolvedChange[],
])[] = [
  ['no choice and no change', BEFORE, []],
  ['a Restore', BEFORE, [change('Deployment/web', 'spec.replicas', 5, 'Restore')]],
  ['an adopted value', rendered(five, CONFIG), [REPLICAS]],
  ['two adopted values', rendered(five.replace('1.27', '1.28'), CONFIG), [REPLICAS, IMAGE]],
  ['an adopted removal', rendered(DEPLOYMENT, CONFIG.replace('  color: blue\n', '')), [COLOR_GONE]],
  ['a released value', rendered(without, CONFIG), [RELEASED]],
  ['a removed object', rendered(DEPLOYMENT), [OBJECT_GONE]],
  [
    'comments and order',
    rendered(
      five.replace('# the shop', '# our shop'),
      CONFIG.replace('  color: blue\n  size: "5"\n', '  size: "5"\n  color: blue\n'),
    ),
    [REPLICAS],
  ],
]

for (const [name, after, changes] of PROVEN)
  test(`accepts the edit: ${name}`, () => proveEdit(BEFORE, after, changes))

const REFUSED: readonly (readonly [
  name: string,
  after: Rendered,
  changes: readonly ResolvedChange[],
  why: RegExp,
])[] = [
  ['the value is absent', BEFORE, [REPLICAS], /spec\.replicas does not hold the chosen value/],
  [
    'the value differs',
    rendered(DEPLOYMENT.replace('replicas: 3', 'replicas: 6'), CONFIG),
    [REPLICAS],
    /spec\.replicas does not hold/,
  ],
  [
    'the value is a string',
    rendered(DEPLOYMENT.replace('replicas: 3', 'replicas: "5"'), CONFIG),
    [REPLICAS],
    /spec\.replicas does not hold/,
  ],
  ['the removed key is still there', BEFORE, [COLOR_GONE], /data\.color does not hold/],
  ['the released field is still there', BEFORE, [RELEASED], /spec\.replicas does not hold/],
  [
    'another field of the object changes',
    rendered(five.replace('{app: web}', '{app: api}'), CONFIG),
    [REPLICAS],
    /^metadata\.labels\.app changes too/,
  ],
  [
    'a sibling field in the same map changes',
    rendered(five.replace('  replicas: 5', '  paused: true\n  replicas: 5'), CONFIG),
    [REPLICAS],
    /spec\.paused changes too/,
  ],
  [
    'another item of the list changes',
    rendered(DEPLOYMENT.replace('1.27', '1.28').replace('value: blue', 'value: red'), CONFIG),
    [IMAGE],
    /env\[0\]\.value changes too/,
  ],
  [
    'an item is added to the list',
    rendered(`${DEPLOYMENT.replace('1.27', '1.28')}      - name: side\n        image: s\n`, CONFIG),
    [IMAGE],
    /containers changes too/,
  ],
  [
    'another object changes',
    rendered(five, CONFIG.replace('blue', 'red')),
    [REPLICAS],
    /^data\.color changes too/,
  ],
  ['another object is removed', rendered(five), [REPLICAS], /no longer declared/],
  [
    'an object appears',
    rendered(five, CONFIG, CONFIG.replace('name: web', 'name: new')),
    [REPLICAS],
    /the object appears/,
  ],
  ['the object is still declared', BEFORE, [OBJECT_GONE], /still declared/],
  ['the wrong object is removed', rendered(CONFIG), [OBJECT_GONE], /declared/],
  [
    'a Restore that edits',
    rendered(five, CONFIG),
    [change('Deployment/web', 'spec.replicas', 5, 'Restore')],
    /changes too/,
  ],
  [
    'the change is about another object',
    rendered(five, CONFIG),
    [{ ...REPLICAS, drift: { ...REPLICAS.drift, id: { ...REPLICAS.drift.id, name: 'api' } } }],
    /it is not Deployment shop\/api/,
  ],
]

for (const [name, after, changes, why] of REFUSED) {
  test(`rejects the edit: ${name}`, () => {
    assert.throws(
      () => proveEdit(BEFORE, after, changes),
      (thrown) => thrown instanceof Failure && thrown.code === 'BP2001' && why.test(thrown.why),
    )
  })
}

test('an object that the cluster places into a namespace still matches its manifest', () => {
  const id = { ...REPLICAS.drift.id, namespace: 'elsewhere' }
  proveEdit(BEFORE, rendered(five, CONFIG), [{ ...REPLICAS, drift: { ...REPLICAS.drift, id } }])
})

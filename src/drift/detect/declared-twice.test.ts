import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import { verdictOf } from '../../../test/fakes/observation-builder.ts'
import type { Drift } from '../compare/drift.ts'
import { addOtherDeclarations } from './declared-twice.ts'

const other = (spec: { readonly [field: string]: number }) => ({
  location: 'apps/other/web.yaml:3',
  object: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop' },
    spec,
  },
})
const BY_HAND = driftOf('spec.replicas')
/** CI applies both units with `kubectl apply`, a name that people use too. */
const SYNCER = {
  manager: 'kubectl-client-side-apply',
  operation: 'Update',
  subresource: '',
} as const
const drift = (more: Partial<Drift>): Drift => ({
  ...BY_HAND,
  actor: { ...BY_HAND.actor, manager: SYNCER.manager },
  ...more,
})

const CASES: readonly (readonly [
  name: string,
  drift: Drift,
  spec: { readonly [field: string]: number },
  conflict: boolean,
])[] = [
  ['live has the value of the other unit', drift({}), { replicas: 5 }, true],
  ['a person wrote the value of the other unit', BY_HAND, { replicas: 5 }, false],
  ['live has a value that neither declares', drift({}), { replicas: 4 }, false],
  ['the other unit does not declare the field', drift({}), {}, false],
  [
    'the field is absent, and the other unit does not declare it',
    drift({ change: 'removed', live: undefined }),
    {},
    true,
  ],
  [
    'the field is absent, and both declare it',
    drift({ change: 'removed', live: undefined }),
    { replicas: 5 },
    false,
  ],
  [
    'the field is present, and only the other unit declares it',
    drift({ change: 'added', git: undefined }),
    { replicas: 5 },
    true,
  ],
  [
    'the object is absent',
    drift({ change: 'missing', path: [], live: undefined }),
    { replicas: 5 },
    false,
  ],
]

for (const [name, one, spec, conflict] of CASES) {
  test(`an object declared in two units: ${name}`, () => {
    const { items, state, failure } = addOtherDeclarations(verdictOf([one]), [other(spec)], SYNCER)
    assert.deepEqual(
      [items.length, state, failure?.code],
      conflict ? [0, 'blocked', 'BP1113'] : [1, 'drifted', undefined],
    )
    if (conflict)
      assert.match(
        failure?.why ?? '',
        /^apps\/other\/web\.yaml:3 also declares the object, and its value of spec\.replicas is live/,
      )
    else assert.equal(items[0]?.notes.at(-1), 'apps/other/web.yaml:3 also declares the object')
  })
}

test("a person's edit beside the conflict stays drift, and both are reported", () => {
  const image = { ...driftOf('spec.paused'), change: 'modified' as const, git: false, live: true }
  const { items, state, failure } = addOtherDeclarations(
    verdictOf([drift({}), image]),
    [other({ replicas: 5 })],
    SYNCER,
  )
  assert.deepEqual([items.length, state, failure?.code], [1, 'drifted', 'BP1113'])
})

test('an object declared in one unit is unchanged', () => {
  const verdict = verdictOf([drift({})])
  assert.equal(addOtherDeclarations(verdict, [], SYNCER), verdict)
})

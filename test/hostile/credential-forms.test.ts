/** Which forms of secrets are told, at every door by which a value leaves. Their values are drawn from the seeds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type FieldPath,
  type FieldSchema,
  findValueAt,
  formatFieldPath,
  UNKNOWN_SCHEMA,
} from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { readResource } from '@backporch/kyaml/resource'
import type { Drift, ObjectVerdict } from '../../src/drift/compare/drift.ts'
import { applyVisibility, type VisibilityRules } from '../../src/drift/noise/visibility.ts'
import { showChange } from '../../src/record/build-report.ts'
import { createObjectCopies } from '../../src/record/object-copies.ts'
import { buildObjectSides } from '../../src/record/object-sides.ts'
import { redactShownText } from '../../src/record/shown-text.ts'
import { formatDocument } from '../../src/record/write-document.ts'
import { path } from '../fakes/live-object.ts'
import { seedsOf } from '../seeds/seeds.ts'
import { base64, type CredentialForm, formsInUse, mustHideForms } from './credential-forms.ts'
import { heldOutForms, laterForms } from './held-out-forms.ts'

const KEY = createRedactionKey(new Uint8Array(32).fill(1))
const NO_RULES: VisibilityRules = { hide: [], show: [] }
/** Of the 70 forms in use and the 80 that were held out, those that are told: the guide names them. */
const TOLD: readonly string[] = ['chap-secrets (pppd(8))']

for (const seed of seedsOf(import.meta.filename).map((one) => String(one.seed))) {
  describe(`the forms of secrets, BACKPORCH_SEED=${seed}`, () => {
    for (const form of mustHideForms(seed)) {
      test(`must be hidden: ${form.name}`, () => assert.deepEqual(leaksOf(form), []))
    }
    for (const form of formsInUse(seed)) {
      test(`in use: ${form.name}`, () =>
        assert.equal(leaksOf(form).length > 0, TOLD.includes(form.name), leaksOf(form).join('; ')))
    }
    for (const form of [...heldOutForms(seed), ...laterForms(seed)]) {
      test(`held out: ${form.name}`, () =>
        assert.equal(leaksOf(form).length > 0, TOLD.includes(form.name), leaksOf(form).join('; ')))
    }

    test('has 46, 70, 50 and 30 forms with a value in place, and only those to hide are in a Secret', () => {
      const [must, use] = [
        mustHideForms(seed),
        [...formsInUse(seed), ...heldOutForms(seed), ...laterForms(seed)],
      ]
      assert.deepEqual(
        [must.length, use.length, heldOutForms(seed).length, laterForms(seed).length],
        [46, 150, 50, 30],
      )
      for (const form of [...must, ...use]) {
        const text = JSON.stringify(findValueAt(form.object, path(form.location)) ?? null)
        for (const needle of form.needles)
          assert.ok(text.includes(JSON.stringify(needle).slice(1, -1)), form.name)
      }
      assert.ok(use.every(({ object }) => object['kind'] !== 'Secret'))
      assert.equal(new Set([...must, ...use].map(({ name }) => name)).size, 196)
    })
  })
}

test('the search finds a shown value', () => {
  const form = {
    name: 'plain',
    location: 'data.color',
    needles: ['blue as the sky'],
    object: config('blue as the sky'),
  }
  assert.deepEqual(
    leaksOf(form).map((leak) => leak.split(' ')[0]),
    ['added', 'change', 'sides', 'copy', 'file'],
  )
})

function config(color: string): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app' }, data: { color } }
}

/** The doors by which a value of the form leaves, each with what it lets out. */
function leaksOf(form: CredentialForm): readonly string[] {
  const { object } = form
  const read = readResource(object)
  assert.ok(!('problem' in read), form.name)
  const { id } = read
  const location = path(form.location)
  const live = findValueAt(object, location) as Json
  const change = (over: Partial<Drift>): Drift => ({
    id,
    apiVersion: String(object['apiVersion']),
    uid: 'u',
    change: 'added',
    path: location,
    git: undefined,
    live,
    liveUnread: false,
    actor: {
      manager: 'm',
      operation: 'Update',
      subresource: '',
      class: 'human-tool',
      at: undefined,
      confidence: 'field-manager',
    },
    risk: 'low',
    reason: 'RISK000',
    notes: [],
    ...over,
  })
  const judged = (drift: Drift, over: Partial<ObjectVerdict> = {}): ObjectVerdict =>
    applyVisibility(
      {
        id,
        apiVersion: drift.apiVersion,
        desired: undefined,
        state: 'drifted',
        proof: 'ownership',
        items: [drift],
        setAside: [],
        live: object,
        failure: undefined,
        reapplyFails: 'it is immutable',
        ...over,
      },
      schemaWith(form.passwords ?? []),
      NO_RULES,
    )
  // The value itself, and each of what it is a part of, down to a whole field of the object.
  const whole = Array.from({ length: location.length }, (_, length) =>
    location.slice(0, length + 1),
  )
  const changes = whole.map(
    (at) =>
      [
        formatFieldPath(at),
        judged(change({ path: at, live: findValueAt(object, at) as Json })),
      ] as const,
  )
  const harmless = judged(change({ path: path('metadata.labels.tier'), live: 'web' }))
  const unexpected = judged(change({ change: 'unexpected', path: [], live: object }))
  const out: readonly (readonly [door: string, text: string])[] = [
    ...changes.map(
      ([at, { items }]) =>
        [
          `${at === form.location ? 'change' : 'added'} at ${at}`,
          textOf(showChange({ drift: items[0] as Drift, resolution: 'Restore' }, KEY)),
        ] as const,
    ),
    ['sides around another change', textOf(buildObjectSides(harmless, () => true, KEY))],
    ['copy', textOf(createObjectCopies([unexpected], KEY))],
    // A file says nothing of schemas.
    ...(form.passwords === undefined
      ? [['file', redactShownText(formatDocument(object), KEY) ?? ''] as const]
      : []),
  ]
  return out
    .filter(([, text]) =>
      form.needles.some((needle) => formsOf(needle).some((one) => text.includes(one))),
    )
    .map(([door]) => door)
}

function textOf(value: unknown): string {
  return JSON.stringify(value ?? '')
}

/** As it is, as JSON has it once and twice, and in base64 and hex. */
function formsOf(needle: string): readonly string[] {
  const quoted = JSON.stringify(needle).slice(1, -1)
  return [
    needle,
    quoted,
    JSON.stringify(quoted).slice(1, -1),
    base64(needle).replace(/.{0,4}$/, ''),
    Buffer.from(needle).toString('hex'),
  ]
}

/** Says `format: password` at these places, and nothing else. */
function schemaWith(locations: readonly string[]): FieldSchema {
  const paths = locations.map(path)
  const at = (depth: number, open: readonly FieldPath[]): FieldSchema => ({
    ...UNKNOWN_SCHEMA,
    format: open.some((one) => one.length === depth) ? 'password' : '',
    getChildSchema: (name) =>
      at(
        depth + 1,
        open.filter(
          (one) => one[depth]?.kind === 'field' && (one[depth] as { name: string }).name === name,
        ),
      ),
    getItemSchema: () =>
      at(
        depth + 1,
        open.filter((one) => one[depth] !== undefined && one[depth]?.kind !== 'field'),
      ),
  })
  return at(0, paths)
}

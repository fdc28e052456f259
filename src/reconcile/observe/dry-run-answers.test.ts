import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Prediction, RefusalReason } from '@backporch/kyaml/resource'
import { TEST_SCHEMA } from '../../../test/fakes/live-object.ts'
import type { SyncerManager } from '../../drift/compare/drift.ts'
import { type AnswerContext, DryRunAnswers, type RequestedObject } from './dry-run-answers.ts'

const START = Date.parse('2026-11-21T10:00:00Z')

function context(
  minutes = 0,
  more: Partial<AnswerContext> & { readonly version?: string; readonly recorded?: boolean } = {},
): AnswerContext {
  const { version = 'v1.34.3', recorded = false, ...rest } = more
  const observedAt = new Date(START + minutes * 60_000).toISOString()
  return {
    cluster: 'prod',
    manager: 'flux',
    identity: { uid: 'u', version, observedAt, recorded },
    ...rest,
  }
}

const FLUX: SyncerManager = { manager: 'flux', operation: 'Apply', subresource: '' }

function stored(uid: string, resourceVersion: string): JsonObject {
  return { metadata: { uid, resourceVersion } }
}

function config(name: string, color = 'red', namespace = 'shop'): RequestedObject {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data: { color },
  }
  return {
    resource: { id: { group: '', kind: 'ConfigMap', namespace, name }, apiVersion: 'v1', object },
  }
}

const POSSIBLE: Prediction = { state: 'predicted', object: {} }
const failure = new Failure({ code: 'BP3011', what: 'cannot make it', why: 'no', remedy: 'wait' })
const refused = (reason: RefusalReason): Prediction => ({ state: 'refused', failure, reason })

test('an answer is keyed by content, cluster, server version and field manager', () => {
  for (const [other, requested] of [
    [context(), config('a', 'blue')],
    [context(), config('a', 'red', 'elsewhere')],
    [context(0, { cluster: 'stage' }), config('a')],
    [context(0, { manager: 'helm' }), config('a')],
    [context(0, { version: 'v1.35.0' }), config('a')],
  ] as const) {
    const answers = new DryRunAnswers<string>()
    answers.keep(context(), config('a'), [POSSIBLE], 'fits')
    answers.keep(context(), config('b'), [refused('Denied')], 'denied')
    assert.deepEqual(
      [
        answers.findRemembered(context(), config('a'))?.answer,
        answers.findRemembered(context(), config('b'))?.answer,
      ],
      ['fits', 'denied'],
    )
    assert.equal(answers.findRemembered(other, requested)?.answer, undefined)
  }
})

test('an answer for a stored object is keyed by uid, version, schema, syncer and last applied state', () => {
  const of = { live: stored('1', '7'), schema: TEST_SCHEMA, syncer: FLUX, lastApplied: undefined }
  const applied = {
    apiVersion: 'v1',
    object: { data: {} },
    storedIn: 'Helm release shop/web revision 2',
  }
  for (const other of [
    { ...of, live: stored('2', '7') },
    { ...of, live: stored('1', '8') },
    { ...of, schema: TEST_SCHEMA.getChildSchema('spec') },
    {
      ...of,
      syncer: {
        ...FLUX,
        former: [{ manager: 'kubectl', operation: 'Update' as const, subresource: '' }],
      },
    },
    { ...of, lastApplied: applied },
    undefined,
  ]) {
    const answers = new DryRunAnswers<string>()
    answers.keep(context(), { ...config('a'), stored: of }, [POSSIBLE], 'drifted')
    assert.equal(
      answers.findRemembered(context(), {
        ...config('a'),
        stored: { ...of, live: stored('1', '7') },
      })?.answer,
      'drifted',
    )
    assert.equal(
      answers.findRemembered(context(), { ...config('a'), stored: other })?.answer,
      undefined,
    )
  }
})

test('an object has one answer, however often it changes', () => {
  const answers = new DryRunAnswers<string>()
  for (let version = 0; version < 100; version += 1) {
    const of = {
      live: stored('1', String(version)),
      schema: TEST_SCHEMA,
      syncer: FLUX,
      lastApplied: undefined,
    }
    answers.keep(context(), { ...config('a'), stored: of }, [POSSIBLE], 'drifted')
  }
  assert.equal(answers.held, 1)
})

test('an answer expires, a refusal earlier, and the expiry times are spread', () => {
  const names = Array.from({ length: 200 }, (_one, index) => `c${index}`)
  const left = (prediction: Prediction, minutes: number): number => {
    const answers = new DryRunAnswers<string>()
    for (const name of names) answers.keep(context(), config(name), [POSSIBLE, prediction], 'kept')
    return names.filter(
      (name) => answers.findRemembered(context(minutes), config(name))?.answer !== undefined,
    ).length
  }
  assert.deepEqual([left(POSSIBLE, 22), left(POSSIBLE, 38)], [200, 0])
  const some = left(refused('QuotaExceeded'), 5)
  assert.ok(some > 40 && some < 160, String(some))
  assert.deepEqual([left(refused('QuotaExceeded'), 3), left(refused('QuotaExceeded'), 7)], [200, 0])
})

test('unproven predictions and answers of a recording are not cached', () => {
  const answers = new DryRunAnswers<string>()
  answers.keep(context(), config('a'), [POSSIBLE, { state: 'unproven', failure }], 'perhaps')
  answers.keep(context(0, { recorded: true }), config('b'), [POSSIBLE], 'recorded')
  assert.equal(answers.held, 0)
})

test('answers in a terminating or missing namespace are invalidated', () => {
  for (const reason of ['NamespaceTerminating', 'NamespaceMissing'] as const) {
    const answers = new DryRunAnswers<string>()
    for (const namespace of ['shop', 'other'])
      answers.keep(context(), config('a', 'red', namespace), [POSSIBLE], 'fits')
    answers.keep(context(), config('b'), [refused(reason)], 'gone')
    const known = ['shop', 'other'].map(
      (namespace) => answers.findRemembered(context(), config('a', 'red', namespace))?.answer,
    )
    assert.deepEqual(
      [...known, answers.findRemembered(context(), config('b'))?.answer],
      [undefined, 'fits', undefined],
    )
  }
})

test('the cache keeps at most fifty thousand answers', () => {
  const answers = new DryRunAnswers<string>()
  for (let index = 0; index <= 50_000; index += 1)
    answers.keep(context(), config(`c${index}`), [POSSIBLE], 'fits')
  assert.deepEqual(
    [
      answers.findRemembered(context(), config('c0'))?.answer,
      answers.findRemembered(context(), config('c1'))?.answer,
    ],
    [undefined, 'fits'],
  )
})

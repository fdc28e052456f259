import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../failure.ts'
import type { Prediction, RefusalReason } from '../krm/live-view.ts'
import type { Resource } from '../krm/resource.ts'
import { CreationAnswers, type CreationGround } from './creation-answers.ts'

const START = Date.parse('2026-11-21T10:00:00Z')

function ground(
  minutes = 0,
  more: Partial<CreationGround> & { readonly version?: string; readonly recorded?: boolean } = {},
): CreationGround {
  const { version = 'v1.34.3', recorded = false, ...rest } = more
  const observedAt = new Date(START + minutes * 60_000).toISOString()
  return { cluster: 'prod', manager: 'flux', identity: { uid: 'u', version, observedAt, recorded }, ...rest }
}

function config(name: string, color = 'red', namespace = 'shop'): Resource {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { color } }
  return { id: { group: '', kind: 'ConfigMap', namespace, name }, apiVersion: 'v1', object }
}

const POSSIBLE: Prediction = { state: 'predicted', object: {} }
const failure = new Failure({ code: 'BP3011', what: 'cannot make it', why: 'no', remedy: 'wait' })
const refused = (reason: RefusalReason): Extract<Prediction, { state: 'refused' }> => ({ state: 'refused', failure, reason })

test('an answer is of one content, cluster, server version and field manager', () => {
  const answers = new CreationAnswers()
  answers.keep(ground(), config('a'), POSSIBLE)
  answers.keep(ground(), config('b'), refused('Denied'))
  assert.deepEqual(answers.recall(ground(), config('a')), { ...answers.recall(ground(), config('a')), refusal: undefined })
  assert.equal(answers.recall(ground(), config('b'))?.refusal?.reason, 'Denied')
  for (const [other, resource] of [
    [ground(), config('a', 'blue')],
    [ground(), config('a', 'red', 'elsewhere')],
    [ground(0, { cluster: 'stage' }), config('a')],
    [ground(0, { manager: 'helm' }), config('a')],
    [ground(0, { version: 'v1.35.0' }), config('a')],
  ] as const)
    assert.equal(answers.recall(other, resource), undefined)
})

test('an answer expires, a refusal sooner, and those of one turn not all at once', () => {
  const answers = new CreationAnswers()
  const names = Array.from({ length: 200 }, (_one, place) => `c${place}`)
  for (const name of names) answers.keep(ground(), config(name), POSSIBLE)
  const known = (minutes: number): number => names.filter((name) => answers.recall(ground(minutes), config(name)) !== undefined).length
  assert.deepEqual([known(22), known(38)], [200, 0])
  for (const name of names) answers.keep(ground(), config(name), refused('QuotaExceeded'))
  const left = [known(3), known(5), known(7)]
  assert.ok(left[0] === 200 && (left[1] ?? 0) > 40 && (left[1] ?? 0) < 160 && left[2] === 0, left.join())
})

test('what nobody could say, and what a recording says, is not kept', () => {
  const answers = new CreationAnswers()
  answers.keep(ground(), config('a'), { state: 'unproven', failure })
  answers.keep(ground(0, { recorded: true }), config('b'), POSSIBLE)
  assert.deepEqual(
    [answers.recall(ground(), config('a')), answers.recall(ground(0, { recorded: true }), config('b'))],
    [undefined, undefined],
  )
})

test('of a namespace that is going or gone nothing counts that was said before', () => {
  for (const reason of ['NamespaceTerminating', 'NamespaceMissing'] as const) {
    const answers = new CreationAnswers()
    for (const namespace of ['shop', 'other']) answers.keep(ground(), config('a', 'red', namespace), POSSIBLE)
    answers.keep(ground(), config('b'), refused(reason))
    const known = ['shop', 'other'].map((namespace) => answers.recall(ground(), config('a', 'red', namespace)) !== undefined)
    assert.deepEqual([...known, answers.recall(ground(), config('b'))], [false, true, undefined])
  }
})

test('no more than fifty thousand are kept', () => {
  const answers = new CreationAnswers()
  for (let place = 0; place <= 50_000; place += 1) answers.keep(ground(), config(`c${place}`), POSSIBLE)
  assert.equal(answers.recall(ground(), config('c0')), undefined)
  assert.notEqual(answers.recall(ground(), config('c1')), undefined)
})

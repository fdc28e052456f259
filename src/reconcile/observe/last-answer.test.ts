import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSame, LastAnswer } from './last-answer.ts'

test('the same question about the same subject is computed once', () => {
  const last = new LastAnswer<object>()
  const subject = {}
  const ask = (about: object, given: readonly unknown[]) => last.getAnswer(about, given, () => ({}))
  const first = ask(subject, ['a', { deep: [1] }])
  assert.equal(ask(subject, ['a', { deep: [1] }]), first)
  assert.notEqual(ask({}, ['a', { deep: [1] }]), first, 'another subject that is equal')
  assert.notEqual(ask(subject, ['a', { deep: [1] }]), first, 'only the last answer is kept')
  assert.notEqual(ask(subject, ['a', { deep: [2] }]), ask(subject, ['a', { deep: [3] }]))
})

test('an answer is valid until its expiry time', () => {
  const last = new LastAnswer<string>()
  const subject = {}
  last.keep(subject, [1], 'kept', 1_000)
  assert.deepEqual(
    [999, 1_000, 1_001].map((now) => last.findRemembered(subject, [1], now)),
    ['kept', undefined, undefined],
  )
  last.keep(subject, [1], 'for ever')
  assert.equal(last.findRemembered(subject, [1], Number.MAX_SAFE_INTEGER), 'for ever')
  last.keep(subject, [1], 'never', 0)
  assert.equal(last.findRemembered(subject, [1]), undefined)
})

test('plain values are compared by content, other objects by identity', () => {
  class Thing {}
  const one = new Thing()
  for (const [left, right] of [
    [{ a: [1, 'x', 10n, undefined] }, { a: [1, 'x', 10n, undefined] }],
    [new Map([['a', [1]]]), new Map([['a', [1]]])],
    [new Uint8Array([1, 2]), new Uint8Array([1, 2])],
    [one, one],
    [[one], [one]],
  ])
    assert.ok(isSame(left, right))
  for (const [left, right] of [
    [{ a: 1 }, { a: 1, b: undefined }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1n }],
    [[1], { 0: 1 }],
    [
      [1, 2],
      [2, 1],
    ],
    [new Map([['a', 1]]), new Map([['a', 2]])],
    [new Map([['a', 1]]), {}],
    [new Uint8Array([1, 2]), new Uint8Array([1, 3])],
    [new Uint8Array([1]), [1]],
    [new Set([1]), new Set([1])],
    [new Thing(), new Thing()],
    [null, {}],
  ])
    assert.ok(!isSame(left, right), `${left} ${right}`)
})

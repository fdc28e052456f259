import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeliveryWindow } from './webhook-window.ts'

test('a delivery is new only once, under any of its ids', () => {
  const window = new DeliveryWindow()
  assert.equal(window.isNew(['id 1', 'body a'], 0), true)
  assert.equal(window.isNew(['id 1', 'body b'], 1), false)
  assert.equal(window.isNew(['id 2', 'body a'], 2), false)
  assert.equal(window.isNew(['id 2', 'body c'], 3), false)
  assert.equal(window.isNew(['id 3', 'body d'], 4), true)
})

test('forgets a delivery after its retention time, counted from the first arrival', () => {
  const window = new DeliveryWindow(100, 1_000)
  assert.equal(window.isNew(['a'], 0), true)
  assert.equal(window.isNew(['a'], 999), false)
  assert.equal(window.isNew(['a'], 1_000), true)
})

test('keeps at most its capacity, and drops the oldest deliveries first', () => {
  const window = new DeliveryWindow(10, 1_000)
  for (let number = 0; number < 100_000; number += 1) window.isNew([`id ${number}`], 0)
  assert.equal(window.size, 10)
  assert.equal(window.isNew(['id 99999'], 0), false)
  assert.equal(window.isNew(['id 1'], 0), true)
})

test('a clock that is set back keeps the window bounded', () => {
  const window = new DeliveryWindow(10, 1_000)
  for (let number = 0; number < 1_000; number += 1) window.isNew([`id ${number}`], -number)
  assert.equal(window.size, 10)
})

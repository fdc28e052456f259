import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gitObject } from './object-format.ts'
import { RecentObjects } from './recent-objects.ts'

const blob = (text: string) => gitObject('blob', Buffer.from(text))

test('what was read last stays, and no more is kept than the limit', () => {
  const recent = new RecentObjects(32)
  const [first, second, third] = [blob('a'), blob('bb'), blob('cc')]
  for (const object of [first, second, third]) recent.put(object)
  assert.equal(recent.get(first.id), first)
  for (let place = 0; place < 14; place += 1) recent.put(blob(`${String(place).padStart(2, '0')}`))
  assert.equal(recent.bytes, 31)
  assert.equal(recent.get(first.id), first)
  assert.equal(recent.get(second.id), undefined)
})

test('a large object is not kept, and one that is put twice counts once', () => {
  const recent = new RecentObjects(32)
  recent.put(blob('abc'))
  assert.equal(recent.bytes, 0)
  const one = blob('a')
  recent.put(one)
  recent.put(one)
  assert.equal(recent.bytes, 1)
})

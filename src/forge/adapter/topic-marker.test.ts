import assert from 'node:assert/strict'
import { it } from 'node:test'
import { addTopic, isSameText, normalizeLines, readTopic } from './topic-marker.ts'

it('reads back its own marker, with any line breaks', () => {
  const text = addTopic('storm/prod-eu-1', 'one\ntwo\n')
  assert.deepEqual(readTopic(text), { topic: 'storm/prod-eu-1', body: 'one\ntwo\n' })
  assert.deepEqual(readTopic(text.replaceAll('\n', '\r\n')), {
    topic: 'storm/prod-eu-1',
    body: 'one\ntwo\n',
  })
})

it('accepts a marker only at the very beginning', () => {
  for (const text of [
    '',
    'text',
    ' <!-- backporch:topic:a -->\n',
    'quoted:\n<!-- backporch:topic:a -->\n',
    '<!-- backporch:topic:a --> more',
  ]) {
    assert.equal(readTopic(text), undefined, JSON.stringify(text))
  }
})

it('distinguishes texts, but not by line breaks or trailing blanks', () => {
  assert.ok(isSameText('a\r\nb\r\n', 'a\nb'))
  assert.ok(!isSameText('a\n\nb', 'a\nb'))
  assert.ok(!isSameText(' a', 'a'))
  assert.equal(normalizeLines('a\rb\r\nc\n'), 'a\nb\nc\n')
  assert.equal(normalizeLines(null), '')
})

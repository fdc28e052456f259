import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '../../failure.ts'
import { decodeYaml, LineIndex } from './go-yaml-text.ts'

function failureOf(action: () => unknown): Failure {
  try {
    action()
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
  throw new assert.AssertionError({ message: 'nothing was thrown' })
}

describe('bytes', () => {
  const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
    Uint8Array.from(
      parts.flatMap((part) =>
        typeof part === 'string' ? [...new TextEncoder().encode(part)] : part,
      ),
    )

  test('decodes UTF-8 and keeps a byte order mark', () => {
    assert.equal(decodeYaml(bytes([0xef, 0xbb, 0xbf], 'a: é'), 'a.yaml'), '\uFEFFa: é')
  })

  test('rejects invalid UTF-8 with the offset of the byte', () => {
    const failure = failureOf(() =>
      decodeYaml(bytes('a: é\nb: ', [0xff], 'x'.repeat(100)), 'Kptfile'),
    )
    assert.deepEqual(
      [failure.code, failure.where, failure.why.endsWith('at byte 9')],
      ['BP1110', 'Kptfile', true],
    )
    assert.match(failureOf(() => decodeYaml(bytes([0xff, 0xfe], 'a'), 'Kptfile')).why, /UTF-16/)
    assert.equal(
      failureOf(() => decodeYaml(new Uint8Array(10 * 1024 * 1024 + 1), 'Kptfile')).code,
      'BP1111',
    )
  })

  test('positions count lines from 1 and columns from 1', () => {
    const lines = new LineIndex('ab\r\n\ncd')
    assert.deepEqual(
      [0, 1, 4, 5, 6].map((offset) => Object.values(lines.getPosition(offset))),
      [
        [1, 1],
        [1, 2],
        [2, 1],
        [3, 1],
        [3, 2],
      ],
    )
  })
})

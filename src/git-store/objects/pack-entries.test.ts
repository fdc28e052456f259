import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOversizedObjectFailure } from '../program/git-failure.ts'
import { OversizedObject, readPackEntries } from './pack-entries.ts'

const MEBIBYTE = 1024 * 1024

/** A blob whose entry says a size, and that is never inflated. */
function packOf(size: number): Buffer {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\x01', 'latin1')
  const bytes = [0x80 | (3 << 4) | (size & 15)]
  let rest = Math.floor(size / 16)
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push(0x80 | (rest & 127))
  return Buffer.concat([head, Buffer.from([...bytes, rest]), Buffer.alloc(20)])
}

test('reports the size of an oversized object in a full history, and how to find it', () => {
  assert.throws(
    () => readPackEntries(packOf(300 * MEBIBYTE), 256 * MEBIBYTE),
    (thrown) => {
      assert.ok(thrown instanceof OversizedObject)
      const { code, where, why, remedy } = createOversizedObjectFailure(
        'https://git.example/deploy',
        thrown,
      )
      assert.deepEqual([code, where], ['BP1111', 'https://git.example/deploy'])
      assert.equal(
        why,
        'its server gives the whole history only, and an object of the pack has 314572800 bytes, more than 256 MiB',
      )
      assert.match(remedy, /version 2 of the git protocol.*--repo.*git rev-list --objects --all/)
      return true
    },
  )
})

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { KnownKptfiles } from './known-kptfiles.ts'
import { readKptfile } from './kptfile.ts'

const text = (name: string): string =>
  `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n`

it('reads equal Kptfiles once, and reports each failure with its own path', () => {
  const known = new KnownKptfiles(10_000)
  const first = known.read(text('web'), 'a/Kptfile')
  assert.deepEqual(first, readKptfile(text('web'), 'a/Kptfile'))
  const again = known.read(text('web'), 'b/Kptfile')
  assert.ok('kptfile' in first && 'kptfile' in again && first.kptfile === again.kptfile)
  for (const where of ['a/Kptfile', 'b/Kptfile']) {
    const bad = known.read('kind: Pod\n', where)
    assert.ok('failures' in bad && bad.failures[0].where?.startsWith(where) === true)
  }
})

it('caches at most the limit, and keeps the last read text', () => {
  const size = text('web-00').length
  const known = new KnownKptfiles(4 * size)
  const first = known.read(text('web-00'), 'Kptfile')
  for (let count = 1; count < 20; count += 1) {
    known.read(text(`web-${String(count).padStart(2, '0')}`), 'Kptfile')
    const again = known.read(text('web-00'), 'Kptfile')
    assert.ok('kptfile' in first && 'kptfile' in again && first.kptfile === again.kptfile)
    assert.ok(known.characters <= 4 * size)
  }
  known.read(text('a-name-that-makes-it-larger-than-the-others-are'), 'Kptfile')
  assert.equal(known.characters, 4 * size)
})

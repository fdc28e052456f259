import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { answerDeadline } from './deadline.ts'
import { readText, SlowAnswer } from './read-text.ts'

const tooLarge = (): Error => new Error('too large')

async function* dripping(parts: number, milliseconds: number, part = ' ') {
  for (let sent = 0; sent < parts; sent += 1) {
    await sleep(milliseconds)
    yield Buffer.from(part)
  }
}

test('gives up a dripping body, and reads a slow one that makes progress', async () => {
  const deadline = (patience: number) => (received: number) => patience + received / 10
  const drip = readText(Readable.from(dripping(1_000, 5)), false, {
    bytes: 1_000_000,
    tooLarge,
    deadline: deadline(60),
  })
  await assert.rejects(
    drip,
    (thrown: unknown) =>
      thrown instanceof SlowAnswer && /^only \d+ bytes came in \d+ s$/.test(thrown.message),
  )
  assert.equal(
    (
      await readText(Readable.from(dripping(30, 5, 'x'.repeat(200))), false, {
        bytes: 10_000,
        tooLarge,
        deadline: deadline(60_000),
      })
    ).length,
    6_000,
  )
})

test('limits a compressed body by its decompressed size', async () => {
  const zipped = gzipSync('x'.repeat(1_000_000))
  await assert.rejects(
    readText(Readable.from([zipped]), true, { bytes: 1_000, tooLarge }),
    /too large/,
  )
  assert.equal(
    (await readText(Readable.from([zipped]), true, { bytes: 2_000_000, tooLarge })).length,
    1_000_000,
  )
})

test('allows two minutes for any answer, and a week for a pack of 2 GiB', () => {
  assert.equal(answerDeadline(0), 120_000)
  assert.ok(answerDeadline(2 ** 31) > 6 * 86_400_000)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import { formatNumbers, getDriftKey, readTicks, type Tick, tickBox } from './ticks.ts'

const ticked = (line: string): string => line.replace('- [ ]', '- [x]')
const ADOPT: Tick = { verb: 'adopt', drift: '1a2b3c4d', changes: [1, 2, 3, 7] }

test('a ticked box is read with its drift, and an open box is ignored', () => {
  const boxes = [
    tickBox(ADOPT, 'Adopt'),
    tickBox({ verb: 'recheck', drift: '1a2b3c4d', changes: [] }, 'Look again'),
  ]
  assert.deepEqual(readTicks(boxes.join('\n')), [])
  assert.deepEqual(readTicks(boxes.map(ticked).join('\r\n')), [
    ADOPT,
    { verb: 'recheck', drift: '1a2b3c4d', changes: [] },
  ])
})

test('any change numbers survive a round trip through a box', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 9_999 }), { minLength: 1, maxLength: 40 }),
      (numbers) => {
        const sorted = numbers.toSorted((left, right) => left - right)
        assert.deepEqual(
          readTicks(
            ticked(tickBox({ verb: 'restore', drift: '00000000', changes: numbers }, 'x')),
          )[0]?.changes,
          sorted,
        )
      },
    ),
  )
  assert.equal(formatNumbers([5, 1, 3, 2]), '1-3,5')
})

test('boxes in code, in a quote, within a line, or of another form are ignored', () => {
  const box = ticked(tickBox(ADOPT, 'Adopt'))
  for (const body of [
    `\`\`\`diff\n${box}\n\`\`\``,
    `~~~\n${box}`,
    `\`\`\`\`\n\`\`\`\n${box}\n\`\`\`\``,
    `> ${box}`,
    `    ${box}`,
    `x ${box}`,
    box.replace('backporch:', 'backporch :'),
    box.replace('1a2b3c4d', '1a2b3c4'),
    box.replace('1-3', '3-1'),
    box.replace('1-3', '0-3'),
    box.replace('1-3', '1-999999'),
    box.replace('adopt', 'merge'),
    box.replace('-->', '--'),
    box.replace('[x]', '[y]'),
    box.replace(':1-3,7', ''),
  ])
    assert.deepEqual(readTicks(body), [], body)
  assert.deepEqual(readTicks(`\`\`\`\nx\n\`\`\`\n${box}`), [ADOPT])
})

test('a hostile body causes no delay, no long result and no failure', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (body) => {
      assert.deepEqual(readTicks(body), [])
    }),
  )
  assert.equal(
    readTicks(
      Array.from({ length: 5_000 }, (_each, index) =>
        ticked(tickBox({ ...ADOPT, changes: [index + 1] }, 'x')),
      ).join('\n'),
    ).length,
    50,
  )
  const repeated = Array.from({ length: 40_000 }, () => '1-9999').join(',')
  assert.deepEqual(readTicks(ticked(`- [ ] <!-- backporch:adopt=1a2b3c4d:${repeated} -->`)), [])
  assert.equal(
    readTicks(ticked('- [ ] <!-- backporch:adopt=1a2b3c4d:1-9999 -->'))[0]?.changes.length,
    9_999,
  )
  assert.deepEqual(
    readTicks(ticked('- [ ] <!-- backporch:adopt=1a2b3c4d:1-9999,20000-29999 -->')),
    [],
  )
})

test('a box is bound to the fingerprint', () => {
  assert.equal(getDriftKey(`sha256:1a2b3c4d${'0'.repeat(56)}`), '1a2b3c4d')
  assert.equal(getDriftKey('--> @all'), '00000000')
})

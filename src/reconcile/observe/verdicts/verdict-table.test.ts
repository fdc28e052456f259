import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../../test/seeds/fast-check.ts'
import { VerdictTable } from './verdict-table.ts'

interface Row {
  readonly id: readonly [number, number]
  readonly unit: number
  mark: number
  readonly question: number
  readonly until: number
  state: number
}

const word = fc.nat({ max: 0xffff_ffff })
// Few ids, most of which begin at the same place of the table.
const id = fc.tuple(
  fc.constantFrom(0, 0x1000, 0x2000, 0xf000_0000, 31, 63, 0xffff_ffff, 5),
  fc.constantFrom(0, 1, 0xffff_ffff),
)
const unit = fc.nat({ max: 3 })
const state = fc.nat({ max: 0x7fff_ffff })

type Step = (model: Map<string, Row>, real: { table: VerdictTable }) => void

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ id, unit, mark: word, question: word, until: word, state }).map(
      (row): Step =>
        (model, { table }) => {
          model.set(nameOf(row), { ...row })
          table.put(Uint32Array.from(row.id), {
            ...row,
            mark: words(4, row.mark),
            question: words(3, row.question),
          })
        },
    ),
  },
  fc.tuple(id, unit, word).map(
    ([own, number, mark]): Step =>
      (model, { table }) => {
        const at = table.findRow(Uint32Array.from(own), number)
        const row = model.get(nameOf({ id: own, unit: number }))
        assert.equal(at === -1, row === undefined)
        if (row === undefined) return
        row.mark = mark
        table.setMark(at, words(4, mark))
      },
  ),
  fc.tuple(id, unit, state).map(
    ([own, number, value]): Step =>
      (model, { table }) => {
        const row = model.get(nameOf({ id: own, unit: number }))
        if (row === undefined) return
        row.state = value
        table.setState(table.findRow(Uint32Array.from(own), number), value)
      },
  ),
  fc.tuple(unit, fc.boolean()).map(
    ([number, odd]): Step =>
      (model, { table }) => {
        const isGone = (row: { readonly unit: number; readonly until: number }): boolean =>
          row.unit === number && row.until % 2 === Number(odd)
        const gone = [...model].filter(([, row]) => isGone(row))
        for (const [name] of gone) model.delete(name)
        assert.equal(table.deleteWhere(isGone), gone.length)
      },
  ),
  fc.constant<Step>((_model, real) => {
    const bytes = real.table.convertToBytes()
    // At an odd place of a larger buffer, as a part of a file is.
    const shifted = new Uint8Array(bytes.byteLength + 1)
    shifted.set(bytes, 1)
    const read = VerdictTable.parseBytes(shifted.subarray(1))
    assert.ok(read)
    real.table = read
  }),
)

function nameOf({ id: [high, low], unit: number }: Pick<Row, 'id' | 'unit'>): string {
  return `${high} ${low} ${number}`
}

function words(length: number, value: number): Uint32Array {
  return new Uint32Array(length).fill(value)
}

function rowsOf(table: VerdictTable): unknown[] {
  return [...table.listPositions()].map((at) => {
    const row = table.getRow(at)
    const [high = -1, low = -1] = table.getIdAt(at)
    return [
      nameOf({ id: [high, low], unit: row.unit }),
      { ...row, mark: [...row.mark], question: [...row.question] },
    ]
  })
}

function assertSame(model: ReadonlyMap<string, Row>, table: VerdictTable): void {
  assert.equal(table.size, model.size)
  const wanted = [...model].map(([name, { id: _id, mark, question, ...row }]) => [
    name,
    { ...row, mark: [...words(4, mark)], question: [...words(3, question)] },
  ])
  assert.deepEqual(Object.fromEntries(rowsOf(table) as []), Object.fromEntries(wanted))
  for (let number = 0; number < 5; number += 1)
    assert.equal(
      table.count(number),
      [...model.values()].filter((row) => row.unit === number).length,
    )
  for (const row of model.values()) {
    const own = Uint32Array.from(row.id)
    assert.deepEqual(
      table
        .find(own)
        .map((at) => table.getRow(at).unit)
        .sort(),
      [...model.values()]
        .filter((other) => other.id.join() === row.id.join())
        .map((other) => other.unit)
        .sort(),
    )
    assert.equal(table.getRow(table.findRow(own, row.unit)).until, row.until)
  }
}

test('a verdict table behaves like a map by object and unit, whatever hash prefixes collide', () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 120, size: 'max' }), (all) => {
      const [model, real] = [new Map<string, Row>(), { table: new VerdictTable() }]
      for (const step of all) step(model, real)
      assertSame(model, real.table)
    }),
    { numRuns: 300 },
  )
})

test('objects with colliding hashes are found after the table grew and others were deleted', () => {
  const table = new VerdictTable()
  const idOf = (at: number): Uint32Array => Uint32Array.of(0x2000 * at + 7, at)
  const row = { mark: words(4, 1), question: words(3, 2), until: 3, state: 4 }
  for (let at = 0; at < 500; at += 1) table.put(idOf(at), { ...row, unit: at % 2 })
  assert.equal(
    table.deleteWhere(({ unit: number }) => number === 1),
    250,
  )
  for (let at = 0; at < 500; at += 1)
    assert.equal(table.findRow(idOf(at), at % 2) !== -1, at % 2 === 0, String(at))
})

test('a row takes at most 300 bytes in large tables, and ten thousand rows at most 3 MiB', () => {
  const table = new VerdictTable()
  for (let at = 0; at < 50_000; at += 1) {
    const hash = Math.imul(at, 0x9e37_79b1) >>> 0
    table.put(Uint32Array.of(hash, at), {
      mark: words(4, at),
      question: words(3, at),
      unit: at % 7,
      until: at,
      state: 0,
    })
    if (table.size >= 1_000)
      assert.ok(table.bytes / table.size <= 300, `${table.bytes} bytes for ${table.size}`)
    if (table.size === 10_000) assert.ok(table.bytes <= 3 * 2 ** 20, `${table.bytes} bytes`)
  }
  const read = VerdictTable.parseBytes(table.convertToBytes())
  assert.ok(read !== undefined && read.bytes / read.size <= 300)
})

test('rejects bytes that are not whole rows or contain unused rows', () => {
  const table = new VerdictTable()
  table.put(Uint32Array.of(1, 2), {
    mark: words(4, 1),
    question: words(3, 1),
    unit: 0,
    until: 0,
    state: 0,
  })
  const bytes = table.convertToBytes()
  for (let length = 1; length < bytes.byteLength; length += 1)
    assert.equal(VerdictTable.parseBytes(bytes.subarray(0, length)), undefined)
  assert.equal(VerdictTable.parseBytes(new Uint8Array(bytes.byteLength)), undefined)
  assert.equal(VerdictTable.parseBytes(new Uint8Array(0))?.size, 0)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawRooms, withDrawing } from '../rooms-drawing.ts'

const arrowsOf = (drawing: string): readonly string[] =>
  drawing.split('\n').flatMap((line) => (line.includes('-->') ? [line.trim()] : []))

test('omits an arrow that a longer path implies, and draws each adapter as a room', () => {
  const drawing = drawRooms(
    [
      ['src/plan/unit/a.ts', 'src/drift/b.ts'],
      ['src/plan/unit/a.ts', 'src/kyaml/c.ts'],
      ['src/drift/b.ts', 'src/kyaml/c.ts'],
      ['src/adapters/log/d.ts', 'src/adapters/system/e.ts'],
      ['src/wire.ts', 'src/plan/unit/a.ts'],
    ],
    ['kyaml'],
  )
  assert.deepEqual(arrowsOf(drawing), [
    'adapters/log --> adapters/system',
    'drift --> kyaml',
    'plan --> drift',
  ])
  assert.match(drawing, /subgraph libraries\n {4}kyaml\n {2}end/)
})

test('draws rooms that form a cycle without looping', () => {
  const imports = [
    ['src/plan/a.ts', 'src/drift/b.ts'],
    ['src/drift/b.ts', 'src/plan/a.ts'],
  ] as const
  assert.deepEqual(arrowsOf(drawRooms(imports, [])), ['drift --> plan', 'plan --> drift'])
})

test('replaces the previous drawing, and rejects a text without a place for it', () => {
  const text = 'a\n<!-- rooms: npm run rooms -- --write -->\nold\n<!-- end of rooms -->\nb\n'
  assert.equal(withDrawing(text, 'new\n'), text.replace('old', 'new'))
  assert.throws(() => withDrawing('a\n', 'new\n'), TypeError)
})

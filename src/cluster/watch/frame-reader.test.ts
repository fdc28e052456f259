import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameMemory, FrameOverflow, FrameReader } from './frame-reader.ts'

const LINES = ['{"type":"ADDED","object":{"a":"é…"}}', '{}', '{"type":"BOOKMARK"}']
const BYTES = Buffer.from(`${LINES.join('\n')}\n`)

function reader(limit = 1000, memory = new FrameMemory(10_000)) {
  const lines: string[] = []
  const frames = new FrameReader(limit, memory)
  return {
    lines,
    memory,
    frames,
    read: (chunk: Buffer) => frames.read(chunk, (line) => lines.push(line)),
  }
}

test('a body in two parts, cut at any byte, gives the same lines', () => {
  for (let cut = 0; cut <= BYTES.length; cut += 1) {
    const { lines, read, memory } = reader()
    read(BYTES.subarray(0, cut))
    read(BYTES.subarray(cut))
    assert.deepEqual(lines, LINES, `cut at ${cut}`)
    assert.equal(memory.held, 0)
  }
})

test('a body that arrives byte by byte gives the same lines', () => {
  const { lines, read } = reader()
  for (let at = 0; at < BYTES.length; at += 1) read(BYTES.subarray(at, at + 1))
  assert.deepEqual(lines, LINES)
})

test('text after the last newline is never a line, even if it is complete JSON', () => {
  for (let end = 0; end < BYTES.length; end += 1) {
    const { lines, frames, read, memory } = reader()
    read(BYTES.subarray(0, end))
    frames.close()
    assert.equal(
      lines.length,
      BYTES.subarray(0, end).toString('latin1').split('\n').length - 1,
      `${end} bytes`,
    )
    assert.equal(memory.held, 0)
  }
})

test('skips empty lines', () => {
  const { lines, read } = reader()
  read(Buffer.from('\n\n{}\n\n'))
  assert.deepEqual(lines, ['{}'])
})

const overflow = (what: 'frame' | 'memory') => (thrown: unknown) =>
  thrown instanceof FrameOverflow && thrown.what === what

test('rejects a line beyond the limit before its end, and keeps none of it', () => {
  const { read, memory } = reader(10)
  read(Buffer.from('123456789'))
  assert.throws(() => read(Buffer.from('ab')), overflow('frame'))
  assert.equal(memory.held, 0)
  assert.throws(() => reader(10).read(Buffer.from('12345678901\n')), overflow('frame'))
  assert.doesNotThrow(() => reader(10).read(Buffer.from('1234567890\n')))
})

test('several readers together stay within their memory limit', () => {
  const memory = new FrameMemory(15)
  const [one, two] = [reader(1000, memory), reader(1000, memory)]
  one.read(Buffer.from('0123456789'))
  assert.throws(() => two.read(Buffer.from('012345')), overflow('memory'))
  assert.equal(memory.held, 10)
  one.read(Buffer.from('\n'))
  assert.equal(memory.held, 0)
  assert.deepEqual(one.lines, ['0123456789'])
})

test('a reader that a line closes reads no further lines', () => {
  const lines: string[] = []
  const frames = new FrameReader(1000, new FrameMemory(1000))
  frames.read(Buffer.from('{}\n{}\n{'), (line) => {
    lines.push(line)
    frames.close()
  })
  assert.deepEqual(lines, ['{}'])
})

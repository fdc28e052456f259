import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import * as fc from '../../../test/seeds/fast-check.ts'
import { startAnswer } from '../../../test/waiting/stand-still.ts'
import {
  assertReadable,
  RefList,
  RefusedService,
  readAdvertisement,
  readRefs,
  TooManyRefs,
} from './advertisement.ts'
import { ByteReader, StreamFault } from './byte-reader.ts'
import { encodePktLine, FLUSH, readBands, readPktLine } from './pkt-line.ts'

const ID = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
const OTHER = '1'.repeat(40)
const LIMITS = { silence: 1000, bytes: 1_000_000 }

/** The bytes in chunks of the sizes given, again and again. */
function readerOf(
  bytes: Uint8Array,
  sizes: readonly number[] = [bytes.length],
  limits = LIMITS,
): ByteReader {
  async function* chunks() {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = Math.max(1, sizes[turn % sizes.length] ?? 1)
      yield bytes.subarray(at, at + size)
      at += size
    }
  }
  return new ByteReader(chunks(), limits)
}

const lines = (...texts: readonly string[]) =>
  Buffer.concat([...texts.map((text) => encodePktLine(text)), FLUSH])
const faulty = (kind: StreamFault['kind']) => (error: unknown) =>
  error instanceof StreamFault && error.kind === kind

test('lines read back as framed, in any chunking of the stream', async () => {
  const contents = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(
      contents,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (bodies, sizes) => {
        const reader = readerOf(
          Buffer.concat([...bodies.map((body) => encodePktLine(body)), FLUSH]),
          sizes,
        )
        for (const body of bodies) assert.deepEqual(await readPktLine(reader), Buffer.from(body))
        assert.equal(await readPktLine(reader), 'flush')
        assert.equal(await readPktLine(reader), undefined)
      },
    ),
  )
})

test('reports unframed or truncated input', async () => {
  for (const text of ['<!doctype html>', '0002', '0003', 'fff1x', '-001', '0x04']) {
    await assert.rejects(readPktLine(readerOf(Buffer.from(text))), faulty('malformed'), text)
  }
  for (const text of ['00', '0008ab', '0008'])
    await assert.rejects(readPktLine(readerOf(Buffer.from(text))), faulty('ended'), text)
})

test('reads a line that arrived while the process was suspended', async (t) => {
  for (const limits of [
    { silence: 40, bytes: 100 },
    { silence: 60_000, bytes: 100, deadline: () => 40 },
  ]) {
    const { stdout, miss } = startAnswer('0009whole', (end) => t.after(end))
    const line = readPktLine(new ByteReader(stdout, limits))
    await miss(100)
    assert.equal(String(await line), 'whole')
  }
})

test('reports a stream that falls silent or exceeds the size limit', async () => {
  async function* silent() {
    yield Buffer.from('00')
    await new Promise(() => undefined)
  }
  await assert.rejects(
    readPktLine(new ByteReader(silent(), { silence: 20, bytes: 100 })),
    faulty('silent'),
  )
  await assert.rejects(
    readPktLine(readerOf(lines('x'.repeat(200)), [50], { silence: 60_000, bytes: 100 })),
    faulty('too-large'),
  )
})

test('reports a stream that drips, and accepts a slow one that makes progress', async () => {
  async function* dripping(bytes: number, milliseconds: number) {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, milliseconds))
      yield Buffer.alloc(bytes, 'a')
    }
  }
  const limits = (patience: number) => ({
    silence: 60_000,
    bytes: 1_000_000,
    deadline: (received: number) => patience + received / 10,
  })
  await assert.rejects(new ByteReader(dripping(1, 5), limits(60)).read(1_000_000), faulty('slow'))
  assert.equal(
    (await new ByteReader(dripping(200, 5), limits(60_000)).read(10_000))?.length,
    10_000,
  )
})

test('does not count the time that the reader itself takes', async () => {
  async function* two() {
    yield Buffer.from('a')
    yield Buffer.from('b')
  }
  const reader = new ByteReader(two(), { silence: 60_000, bytes: 10, deadline: () => 300 })
  await reader.read(1)
  await new Promise((resolve) => setTimeout(resolve, 400))
  assert.equal((await reader.read(1))?.toString(), 'b')
})

test('reads only the beginning of an endless text', async () => {
  async function* endless() {
    for (;;) yield Buffer.from('busy ')
  }
  assert.equal(
    await new ByteReader(endless(), { silence: 1_000, bytes: 1_000_000 }).readSome(12),
    'busy busy bu',
  )
  async function* cut() {
    yield Buffer.from('no ')
    throw new Error('reset')
  }
  assert.equal(await new ByteReader(cut(), { silence: 1_000, bytes: 100 }).readSome(12), 'no ')
})

test('separates the bands of a response', async () => {
  const answer = await readBands(readerOf(lines('\u0001pa', '\u0002hello', '\u0001ck')))
  assert.deepEqual(answer, { content: Buffer.from('pack'), messages: 'hello', fatal: undefined })
  assert.equal((await readBands(readerOf(lines('\u0001pa', '\u0003no memory')))).fatal, 'no memory')
  await assert.rejects(readBands(readerOf(encodePktLine('\u0001pa'))), faulty('ended'))
  await assert.rejects(readBands(readerOf(lines('\u0004x'))), faulty('malformed'))
})

test('parses refs, peeled tags, the HEAD branch and capabilities of an advertisement', async () => {
  const caps = 'atomic symref=HEAD:refs/heads/main object-format=sha1 agent=git/2'
  const bytes = Buffer.concat([
    lines('# service=git-upload-pack\n'),
    lines(
      `${ID} HEAD\0${caps}\n`,
      `${ID} refs/heads/main\n`,
      `${OTHER} refs/tags/a\n`,
      `${ID} refs/tags/a^{}\n`,
      `${OTHER} .have\n`,
      `shallow ${ID}\n`,
    ),
  ])
  const advertisement = await readAdvertisement(readerOf(bytes), true)
  assert.deepEqual(
    [...advertisement.refs],
    [
      ['refs/heads/main', ID],
      ['refs/tags/a', OTHER],
    ],
  )
  assert.deepEqual([...advertisement.peeled], [['refs/tags/a', ID]])
  assert.equal(advertisement.head, 'refs/heads/main')
  assert.ok(advertisement.capabilities.has('atomic') && advertisement.capabilities.has('agent'))
  assertReadable(advertisement, 'here')
})

test('an empty repository advertises no ref', async () => {
  const advertisement = await readAdvertisement(
    readerOf(lines(`${'0'.repeat(40)} capabilities^{}\0report-status\n`)),
    false,
  )
  assert.equal(advertisement.refs.size, 0)
  assert.ok(advertisement.capabilities.has('report-status'))
})

test('rejects a SHA-256 repository by its object format', async () => {
  const long = 'a'.repeat(64)
  const advertisement = await readAdvertisement(
    readerOf(lines(`${long} refs/heads/main\0object-format=sha256\n`)),
    false,
  )
  assert.throws(
    () => assertReadable(advertisement, 'here'),
    (error: unknown) => error instanceof Failure && error.code === 'BP4010',
  )
})

test('rejects an error line, a web page and a broken list', async () => {
  await assert.rejects(
    readAdvertisement(readerOf(lines('ERR no such repository\n')), false),
    RefusedService,
  )
  await assert.rejects(readAdvertisement(readerOf(lines('hello\n')), false), faulty('malformed'))
  await assert.rejects(
    readAdvertisement(readerOf(Buffer.from('<html>')), true),
    faulty('malformed'),
  )
  await assert.rejects(
    readAdvertisement(readerOf(encodePktLine(`${ID} refs/heads/main\0x\n`)), false),
    faulty('ended'),
  )
  await assert.rejects(readAdvertisement(readerOf(Buffer.alloc(0)), false), faulty('ended'))
})

test('stops the list when branches and tags exceed the memory limit, whatever else the server lists', async () => {
  const list = new RefList()
  for (let index = 0; index < 260_000; index += 1) list.keep(`${ID} refs/changes/${index}`)
  assert.equal(list.refs.size, 0)
  for (let index = 0; index < 125_000; index += 1) {
    list.keep(`${ID} refs/tags/v${index}`)
    list.keep(`${ID} refs/tags/v${index}^{}`)
  }
  assert.throws(() => list.keep(`${ID} refs/tags/last`), TooManyRefs)
})

test('stops the list when names exceed the memory limit, in each protocol version', async () => {
  async function* listed(name: (index: number) => string) {
    for (let index = 0; index < 600; index += 1) yield encodePktLine(`${ID} ${name(index)}\n`)
    yield FLUSH
  }
  const offered = await readAdvertisement(readerOf(lines('version 2\n')), false)
  for (const read of [
    (reader: ByteReader) => readAdvertisement(reader, false),
    (reader: ByteReader) => readRefs(reader, offered),
  ]) {
    const reading = (name: (index: number) => string) =>
      read(new ByteReader(listed(name), { silence: 1000, bytes: 2 ** 31 - 1 }))
    const long = 'x'.repeat(60_000)
    await assert.rejects(
      reading((index) => `refs/heads/${long}${index}`),
      TooManyRefs,
    )
    assert.equal((await reading((index) => `refs/changes/${long}${index}`)).refs.size, 0)
  }
})

/** Packs that unfold to gigabytes, go round in circles or lie about themselves: refused in short time, with little memory, and the process goes on. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import * as nodeFiles from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  BrokenObject,
  createGitObject,
  DamagedCache,
  indexPack,
  ObjectCache,
  OversizedObject,
  readPackEntries,
} from '@backporch/git-store/objects'
import { parseObjectId } from '@backporch/kyaml/files'
import { gitTestEnvironment } from '../contract/git-remotes.ts'
import { copy, deltaOf, ForgedPack, varint } from '../fakes/forged-pack.ts'

const MEBIBYTE = 1024 * 1024
const MOST = 256 * MEBIBYTE
const root = mkdtempSync(join(tmpdir(), 'backporch-packs-'))
after(() => rmSync(root, { recursive: true, force: true }))

let caches = 0
function openCache(): ObjectCache {
  caches += 1
  return new ObjectCache(join(root, `cache-${caches}`), 'https://git.example/deploy', nodeFiles)
}

const store = (pack: Buffer, cache = openCache()): Promise<void> =>
  cache.store({ content: pack, most: MOST })

const idOf = (content: Buffer): string => createGitObject('blob', content).id

/** `count` versions of `size` bytes, each of a few bytes in the pack. @param isChain whether each unfolds from the one before it */
function versions(count: number, size: number, isChain: boolean): ForgedPack {
  const pack = new ForgedPack()
  let base = pack.addBlob(Buffer.alloc(size))
  for (let version = 1; version < count; version += 1) {
    const added = pack.addDelta(
      base,
      deltaOf(size, size, Buffer.from([version & 255, version >> 8])),
    )
    if (isChain) base = added
  }
  return pack
}

test('builds the index that git builds, for both kinds of deltas', async () => {
  const environment = gitTestEnvironment(root)
  const folder = join(root, 'repository')
  const git = (args: readonly string[], input = ''): Buffer =>
    execFileSync('git', args, { cwd: folder, env: environment, input })
  execFileSync('git', ['init', '-q', '-b', 'main', folder], { env: environment })
  for (let version = 0; version < 12; version += 1) {
    const lines = Array.from(
      { length: 300 },
      (_each, line) => `line ${line} ${line % 12 === version ? 'edited' : ''}\n`,
    )
    writeFileSync(join(folder, 'file.yaml'), lines.join(''))
    git(['add', '.'])
    git(['commit', '-q', '-m', `version ${version}`])
  }
  for (const flags of [['--delta-base-offset'], []]) {
    const pack = git(['pack-objects', '--all', '--stdout', '--depth=10', ...flags])
    const own = await indexPack(pack, readPackEntries(pack, MOST))
    writeFileSync(join(root, 'git.pack'), pack)
    git(['index-pack', '--index-version=2', join(root, 'git.pack')])
    assert.ok(own?.equals(readFileSync(join(root, 'git.idx'))), flags.join())
    assert.ok(
      readPackEntries(pack, MOST).some(
        ({ base }) => typeof base === (flags.length === 0 ? 'string' : 'object'),
      ),
    )
  }
})

test('refuses a small delta chain that unfolds to more than 512 MiB', async () => {
  const began = process.memoryUsage().rss
  await assert.rejects(store(versions(40, 16 * MEBIBYTE, true).bytes()), (thrown) => {
    assert.ok(thrown instanceof OversizedObject)
    return /^a chain of deltas of the pack has \d+ bytes, more than 512 MiB$/.test(thrown.message)
  })
  assert.ok(process.memoryUsage().rss - began < 300 * MEBIBYTE)
})

test('refuses a pack of more than 8 GiB before unfolding, and reads smaller ones with memory for a few objects', async () => {
  const bomb = new ForgedPack()
  const size = 200 * MEBIBYTE
  const base = bomb.addBlob(Buffer.alloc(size))
  for (let version = 0; version < 60; version += 1)
    bomb.addDelta(base, deltaOf(size, size, Buffer.from([version])))
  await assert.rejects(store(bomb.bytes()), /^Error: its \d+ bytes unfold to more than 8192 MiB$/)
  const before = process.memoryUsage().rss
  let most = 0
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5)
  await store(versions(60, 8 * MEBIBYTE, true).bytes())
  clearInterval(timer)
  // All of its objects would be 480 MiB; others went on meanwhile.
  assert.ok(most > 0 && most - before < 250 * MEBIBYTE, `${(most - before) / MEBIBYTE} MiB`)
})

test('reads a deep chain of small deltas, and refuses one beyond the limit of git', async () => {
  const cache = openCache()
  await store(versions(4_095, 8, true).bytes(), cache)
  const last = Buffer.concat([Buffer.from([4_094 & 255, 4_094 >> 8]), Buffer.alloc(6)])
  assert.ok((await cache.read(parseObjectId(idOf(last))))?.content.equals(last))
  await assert.rejects(
    store(versions(4_097, 8, true).bytes()),
    /^Error: a chain of deltas of the pack is longer than 4095$/,
  )
})

test('refuses a delta whose base is itself, inside another entry, or outside the pack', async () => {
  const delta = deltaOf(4, 4, Buffer.from('a'))
  const content = Buffer.from('some')
  const own = new ForgedPack()
  own.addDelta(own.at, delta)
  const within = new ForgedPack()
  const blob = within.addBlob(content)
  within.addDelta(blob + 1, delta)
  const outside = new ForgedPack()
  outside.addBlob(content)
  outside.addDelta(-1_000, delta)
  for (const pack of [own, within, outside])
    await assert.rejects(store(pack.bytes()), /unfolds from no entry before it$/)
})

test('refuses deltas with circular or missing base ids, and accepts a later entry as base', async () => {
  const delta = deltaOf(4, 4, Buffer.from('a'))
  const [x, y] = ['1'.repeat(40), '2'.repeat(40)]
  const circle = new ForgedPack()
  circle.addDelta(x, delta)
  circle.addDelta(y, delta)
  await assert.rejects(store(circle.bytes()), DamagedCache)
  const later = new ForgedPack()
  const content = Buffer.from('some')
  later.addDelta(idOf(content), delta)
  later.addBlob(content)
  const cache = openCache()
  await store(later.bytes(), cache)
  assert.equal(
    (await cache.read(parseObjectId(idOf(Buffer.from('aome')))))?.content.toString(),
    'aome',
  )
})

test('reads a duplicate object from its first entry, although the other may unfold from itself', async () => {
  const content = Buffer.from('some')
  const pack = new ForgedPack()
  const same = deltaOf(4, 4, Buffer.from('s'))
  pack.addDelta(idOf(content), same)
  pack.addBlob(content)
  pack.addDelta(idOf(content), same)
  const cache = openCache()
  await store(pack.bytes(), cache)
  assert.equal((await cache.read(parseObjectId(idOf(content))))?.content.toString(), 'some')
})

test('does not unfold the same deltas for each copy of a duplicate object', async () => {
  const pack = new ForgedPack()
  const content = Buffer.alloc(MEBIBYTE)
  for (let copies = 0; copies < 200; copies += 1) pack.addBlob(content)
  for (let version = 0; version < 200; version += 1)
    pack.addDelta(idOf(content), deltaOf(MEBIBYTE, MEBIBYTE, Buffer.from([version])))
  const cache = openCache()
  // 40,000 of them would be 40 GiB.
  await store(pack.bytes(), cache)
  const last = Buffer.concat([Buffer.from([199]), Buffer.alloc(MEBIBYTE - 1)])
  assert.ok((await cache.read(parseObjectId(idOf(last))))?.content.equals(last))
})

test('detects wrong sizes, counts and commands', async () => {
  const content = Buffer.from('some content')
  const base = (): { pack: ForgedPack; at: number } => {
    const pack = new ForgedPack()
    return { pack, at: pack.addBlob(content) }
  }
  const withDelta = (delta: Buffer): Buffer => {
    const { pack, at } = base()
    pack.addDelta(at, delta)
    return pack.bytes()
  }
  const { length } = content
  const more = new ForgedPack()
  more.addBlob(content, length - 1)
  const less = new ForgedPack()
  less.addBlob(content, length + 1)
  const typeless = new ForgedPack()
  typeless.addBytes(Buffer.from([0x50, 0x78, 0x9c, 0x03, 0, 0, 0, 0, 1]))
  const trailing = base().pack
  trailing.addBlob(content)
  for (const [name, pack] of Object.entries({
    'a blob has more than it says': more.bytes(),
    'a blob has less than it says': less.bytes(),
    'an entry has no type': typeless.bytes(),
    'more entries than there are': base().pack.bytes(0xffffffff),
    'fewer entries than there are': trailing.bytes(1),
    'a base of another size': withDelta(deltaOf(length + 1, length, Buffer.from('x'))),
    'more than is announced': withDelta(
      Buffer.concat([varint(length), varint(4), copy(0, length)]),
    ),
    'less than is announced': withDelta(
      Buffer.concat([varint(length), varint(length + 5), copy(0, length)]),
    ),
    'a copy from beyond the base': withDelta(
      Buffer.concat([varint(length), varint(8), copy(length - 4, 8)]),
    ),
    'an insertion that breaks off': withDelta(
      Buffer.concat([varint(length), varint(8), Buffer.from([8, 1])]),
    ),
    'a command that is reserved': withDelta(
      Buffer.concat([varint(length), varint(0), Buffer.from([0])]),
    ),
    'a size without an end': withDelta(Buffer.alloc(20, 0xff)),
  }))
    await assert.rejects(store(pack), BrokenObject, name)
  const bomb = withDelta(Buffer.concat([varint(length), varint(2 ** 40), copy(0, length)]))
  await assert.rejects(
    store(bomb),
    /^Error: an object of the pack has 1099511627776 bytes, more than 256 MiB$/,
  )
})

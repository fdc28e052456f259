/**
 * Version 2 (git documentation, gitformat-pack). Each object is unfolded once. isomorphic-git holds
 * all objects of all chains, and unfolds large ones again
 * (docs/facts/isomorphic-git-delta-bombs.md).
 */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { BrokenObject, createGitObject, type ObjectType } from './object-format.ts'
import { extendChain, inflateUpTo, type PackEntry, readSize } from './pack-entries.ts'

const TYPES: readonly (ObjectType | undefined)[] = [undefined, 'commit', 'tree', 'blob', 'tag']
/** Bytes before other work may continue. */
const AT_ONCE = 16 * 1024 * 1024
const SMALL_OFFSET = 2 ** 31

interface Unfolded {
  readonly entry: PackEntry
  readonly type: ObjectType
  readonly content: Buffer
  readonly chain: PackEntry['chain']
  readonly below: PackEntry[]
}

/**
 * @returns undefined if an object unfolds from one outside the pack
 * @throws BrokenObject, OversizedObject
 */
export async function indexPack(
  pack: Buffer,
  entries: readonly PackEntry[],
): Promise<Buffer | undefined> {
  const ids = await computeIds(pack, entries)
  return ids.size < entries.length ? undefined : formatIndex(pack, ids)
}

async function computeIds(
  pack: Buffer,
  entries: readonly PackEntry[],
): Promise<ReadonlyMap<PackEntry, string>> {
  const ids = new Map<PackEntry, string>()
  const below = Map.groupBy(entries, ({ base }) => base)
  const heavy = countEntriesBelow(entries)
  const childrenOf = (entry: PackEntry, id: string): PackEntry[] => {
    const children = [...(below.get(entry) ?? []), ...(below.get(id) ?? [])]
    // The pack may contain an object twice.
    below.delete(id)
    // Last, when the object is no longer held: few objects are held at a time.
    return children.sort((left, right) => (heavy.get(right) ?? 0) - (heavy.get(left) ?? 0))
  }
  let since = 0
  for (const root of below.get(undefined) ?? []) {
    const type = TYPES[root.type]
    if (type === undefined) throw new BrokenObject('an entry of the pack has no type')
    let next: Omit<Unfolded, 'below'> | undefined = {
      entry: root,
      type,
      content: inflate(pack, root),
      chain: root.chain,
    }
    const held: Unfolded[] = []
    while (next !== undefined) {
      const { id } = createGitObject(next.type, next.content)
      ids.set(next.entry, id)
      held.push({ ...next, below: childrenOf(next.entry, id) })
      since += next.content.length
      if (since > AT_ONCE) since = await setImmediate(0)
      next = findNextBelow(pack, held)
    }
  }
  return ids
}

/** Releases objects from which no other unfolds. */
function findNextBelow(pack: Buffer, held: Unfolded[]): Omit<Unfolded, 'below'> | undefined {
  for (let last = held.at(-1); last !== undefined; last = held.at(-1)) {
    const entry = last.below.pop()
    if (last.below.length === 0) held.pop()
    if (entry === undefined) continue
    const chain = extendChain(last.chain, entry.unfolded)
    return {
      entry,
      type: last.type,
      content: applyDelta(last.content, inflate(pack, entry), entry.unfolded),
      chain,
    }
  }
  return undefined
}

function countEntriesBelow(entries: readonly PackEntry[]): ReadonlyMap<PackEntry, number> {
  const counts = new Map<PackEntry, number>()
  for (const entry of entries.toReversed()) {
    if (typeof entry.base === 'object')
      counts.set(entry.base, (counts.get(entry.base) ?? 0) + (counts.get(entry) ?? 0) + 1)
  }
  return counts
}

function inflate(pack: Buffer, { data, end, size }: PackEntry): Buffer {
  return inflateUpTo(pack.subarray(data, end), size).content
}

function applyDelta(base: Buffer, delta: Buffer, size: number): Buffer {
  const from = readSize(delta, 0)
  const { next: start } = readSize(delta, from.next)
  if (from.size !== base.length) throw createBrokenObject()
  const target = Buffer.allocUnsafe(size)
  let written = 0
  for (let at = start; at < delta.length; ) {
    const command = delta[at] ?? 0
    at += 1
    const { source, offset, length, next } =
      command & 0x80
        ? readCopy(delta, at, command, base)
        : { source: delta, offset: at, length: command, next: at + command }
    if (length === 0 || offset + length > source.length || written + length > size)
      throw createBrokenObject()
    source.copy(target, written, offset, offset + length)
    written += length
    at = next
  }
  if (written !== size) throw createBrokenObject()
  return target
}

function readCopy(delta: Buffer, start: number, command: number, base: Buffer) {
  let at = start
  const read = (bits: number, bytes: number): number => {
    let value = 0
    for (let byte = 0; byte < bytes; byte += 1) {
      if ((bits & (1 << byte)) === 0) continue
      value += (delta[at] ?? 0) * 256 ** byte
      at += 1
    }
    return value
  }
  const offset = read(command & 15, 4)
  const length = read((command >> 4) & 7, 3) || 0x10000
  return { source: base, offset, length, next: at }
}

function createBrokenObject(): BrokenObject {
  return new BrokenObject('a delta of the pack does not fit its base object')
}

function formatIndex(pack: Buffer, ids: ReadonlyMap<PackEntry, string>): Buffer {
  if (pack.length >= SMALL_OFFSET) throw new BrokenObject('the pack is larger than 2 GiB')
  // Another one may be a delta that names itself as its base.
  const first = new Map([...ids].toReversed().map(([entry, id]) => [id, entry]))
  const objects = [...first].map(([id, entry]) => ({ entry, id: Buffer.from(id, 'hex') }))
  objects.sort((left, right) => left.id.compare(right.id))
  const counts = new Array<number>(256).fill(0)
  for (const { id } of objects) counts[id[0] ?? 0] = (counts[id[0] ?? 0] ?? 0) + 1
  let sum = 0
  const fanout = counts.map((count) => {
    sum += count
    return sum
  })
  const body = Buffer.concat([
    Buffer.from('ff744f6300000002', 'hex'),
    encodeNumbers(fanout),
    ...objects.map(({ id }) => id),
    encodeNumbers(objects.map(({ entry: { at, end } }) => crc32(pack.subarray(at, end)))),
    encodeNumbers(objects.map(({ entry }) => entry.at)),
    pack.subarray(-20),
  ])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

function encodeNumbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index)
  return bytes
}

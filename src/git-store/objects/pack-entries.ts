/** The entries of a pack, before anything of it is kept: their sizes, and what each unfolds from (git documentation, gitformat-pack). */
import { inflateSync } from 'node:zlib'
import { BrokenObject } from './object-format.ts'

/** An object of the pack is larger than what is read. Its id is unknown without inflating it. */
export class OversizedObject extends Error {}

const OFS_DELTA = 6
const REF_DELTA = 7
/** git's own limit on a chain of deltas (`pack.depth`); by default it makes none that is longer than 50. */
const LONGEST_CHAIN = 4095
/** Bytes of all objects of a chain: who reads the last of them holds them together. Of files of 10 MiB, a chain of 50. */
const MOST_CHAIN = 512 * 1024 * 1024
/** Bytes that a pack unfolds to, and how often its own size besides: a large history may be more than a small pack pretends. */
const MOST_UNFOLDED = { bytes: 8 * 1024 * 1024 * 1024, ratio: 64 } as const

export interface PackEntry {
  /** Where it begins, where its compressed content does, and where it ends. */
  readonly at: number
  readonly data: number
  readonly end: number
  /** As in the pack: 1 to 4, or a delta. */
  readonly type: number
  /** Bytes of what is compressed: of the content, or of the delta. */
  readonly size: number
  /** Bytes of the object. */
  readonly unfolded: number
  /** What a delta unfolds from: the entry, or the id of an object. */
  readonly base: PackEntry | string | undefined
  /** Entries of its chain, itself included, and their unfolded bytes; those beyond the id of an object are not known yet. */
  readonly chain: { readonly length: number; readonly bytes: number }
}

/**
 * Reads every entry, inflated up to its announced size and never beyond.
 * @param pack whole, its checksum checked. @param most bytes of one object
 * @throws OversizedObject, BrokenObject where an entry is not what it announces, or unfolds from what is no entry before it
 */
export function readPackEntries(pack: Buffer, most: number): readonly PackEntry[] {
  const end = pack.length - 20
  const entries = new Map<number, PackEntry>()
  let [at, unfolded] = [12, 0]
  for (let left = pack.readUInt32BE(8); left > 0; left -= 1) {
    const entry = readEntry(pack, at, entries, most)
    unfolded += entry.unfolded
    if (unfolded > MOST_UNFOLDED.bytes + MOST_UNFOLDED.ratio * pack.length)
      throw new OversizedObject(
        `its ${pack.length} bytes unfold to more than ${inMebibytes(MOST_UNFOLDED.bytes)}`,
      )
    entries.set(at, entry)
    at = entry.end
  }
  if (at !== end) throw new BrokenObject('the pack has more than its entries')
  return [...entries.values()]
}

function readEntry(
  pack: Buffer,
  at: number,
  entries: ReadonlyMap<number, PackEntry>,
  most: number,
): PackEntry {
  const end = pack.length - 20
  const head = readHead(pack, at)
  assertSize(head.size, most)
  if (head.type === 0 || head.type === 5) throw new BrokenObject('an entry of the pack has no type')
  const { base, next } = readBase(pack, at, head, entries)
  if (next >= end) throw new BrokenObject('the pack breaks off')
  const { content, used } = inflateUpTo(pack.subarray(next, end), head.size)
  const entry = { at, data: next, end: next + used, type: head.type, size: head.size, base }
  if (base === undefined)
    return { ...entry, unfolded: head.size, chain: { length: 1, bytes: head.size } }
  const from = readSize(content, 0)
  assertSize(from.size, most)
  const unfolded = readSize(content, from.next).size
  assertSize(unfolded, most)
  const chain =
    typeof base === 'string'
      ? { length: 1, bytes: from.size + unfolded }
      : nextOf(base.chain, unfolded)
  return { ...entry, unfolded, chain }
}

/** The chain of an object that unfolds from the last one of another. @throws OversizedObject, BrokenObject where it is too long */
export function nextOf(chain: PackEntry['chain'], unfolded: number): PackEntry['chain'] {
  const next = { length: chain.length + 1, bytes: chain.bytes + unfolded }
  if (next.length > LONGEST_CHAIN)
    throw new BrokenObject(`a chain of deltas of the pack is longer than ${LONGEST_CHAIN}`)
  if (next.bytes > MOST_CHAIN)
    throw new OversizedObject(
      `a chain of deltas of the pack has ${next.bytes} bytes, more than ${inMebibytes(MOST_CHAIN)}`,
    )
  return next
}

function readBase(
  pack: Buffer,
  at: number,
  { type, next }: { readonly type: number; readonly next: number },
  entries: ReadonlyMap<number, PackEntry>,
): { readonly base: PackEntry | string | undefined; readonly next: number } {
  if (type === REF_DELTA) return { base: pack.toString('hex', next, next + 20), next: next + 20 }
  if (type !== OFS_DELTA) return { base: undefined, next }
  const { distance, next: after } = readDistance(pack, next)
  const base = entries.get(at - distance)
  // Anything else would be read as an entry: its own beginning without end, or a place within another one.
  if (base === undefined)
    throw new BrokenObject('a delta of the pack unfolds from no entry before it')
  return { base, next: after }
}

function assertSize(size: number, most: number): void {
  if (size > most)
    throw new OversizedObject(
      `an object of the pack has ${size} bytes, more than ${inMebibytes(most)}`,
    )
}

function inMebibytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`
}

/** Type in three bits, then the size: four bits, and seven in each further byte. */
function readHead(
  pack: Buffer,
  at: number,
): { readonly type: number; readonly size: number; readonly next: number } {
  const first = pack[at] ?? 0
  const type = (first >> 4) & 7
  if ((first & 0x80) === 0) return { type, size: first & 15, next: at + 1 }
  const { size, next } = readSize(pack, at + 1)
  return { type, size: size * 16 + (first & 15), next }
}

export function readSize(
  bytes: Buffer,
  start: number,
): { readonly size: number; readonly next: number } {
  let size = 0
  for (let at = start, factor = 1; at < bytes.length && factor <= 2 ** 49; at += 1, factor *= 128) {
    const byte = bytes[at] ?? 0
    size += (byte & 0x7f) * factor
    if ((byte & 0x80) === 0) return { size, next: at + 1 }
  }
  throw new BrokenObject('a size in the pack breaks off')
}

/** Seven bits in each byte, the highest first, one added for each further byte. */
function readDistance(
  bytes: Buffer,
  start: number,
): { readonly distance: number; readonly next: number } {
  let distance = 0
  for (let at = start; at < bytes.length && distance < 2 ** 32; at += 1) {
    const byte = bytes[at] ?? 0
    distance += byte & 0x7f
    if ((byte & 0x80) === 0) return { distance, next: at + 1 }
    distance = (distance + 1) * 128
  }
  throw new BrokenObject('a distance in the pack breaks off')
}

/** @param bytes that begin with what is compressed. @throws BrokenObject where it is not of this size */
export function inflateUpTo(
  bytes: Buffer,
  size: number,
): { readonly content: Buffer; readonly used: number } {
  let inflated: unknown
  try {
    // Without room for one byte more, zlib does not look for the end of the stream.
    inflated = inflateSync(bytes, { info: true, maxOutputLength: size + 1 })
  } catch (thrown) {
    throw new BrokenObject('an entry of the pack cannot be inflated', { cause: thrown })
  }
  const { buffer, engine } = inflated as {
    readonly buffer: Buffer
    readonly engine: { readonly bytesWritten: number }
  }
  if (buffer.length !== size)
    throw new BrokenObject('an entry of the pack has another size than it says')
  return { content: buffer, used: engine.bytesWritten }
}

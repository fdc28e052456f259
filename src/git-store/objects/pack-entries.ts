/** Before any of the pack is stored (git documentation, gitformat-pack). */
import { inflateSync } from 'node:zlib'
import { BrokenObject } from './object-format.ts'

/** Its id is unknown without inflating it. */
export class OversizedObject extends Error {}

const OFS_DELTA = 6
const REF_DELTA = 7
/** git's limit (`pack.depth`); its chains have at most 50 by default. */
const LONGEST_CHAIN = 4095
/** Bytes: reading the last object holds the whole chain. For files of 10 MiB, a chain of 50. */
const MOST_CHAIN = 512 * 1024 * 1024
/**
 * Bytes, and the ratio to the pack's size. A large history may exceed what a small pack may claim.
 */
const MOST_UNFOLDED = { bytes: 8 * 1024 * 1024 * 1024, ratio: 64 } as const

export interface PackEntry {
  readonly at: number
  readonly data: number
  readonly end: number
  readonly type: number
  /** Bytes of the content or delta. */
  readonly size: number
  readonly unfolded: number
  readonly base: PackEntry | string | undefined
  /**
   * Entries of its chain including itself, and their unfolded bytes; those beyond an object id are
   * not known yet.
   */
  readonly chain: { readonly length: number; readonly bytes: number }
}

/**
 * Inflates at most to the announced size.
 * @param pack complete, with verified checksum
 * @param most bytes of one object
 * @throws OversizedObject; BrokenObject if an entry does not match its announcement, or its base is
 * not an earlier entry
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
        `its ${pack.length} bytes unfold to more than ${formatMebibytes(MOST_UNFOLDED.bytes)}`,
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
      : extendChain(base.chain, unfolded)
  return { ...entry, unfolded, chain }
}

/** @throws OversizedObject; BrokenObject if it is too long */
export function extendChain(chain: PackEntry['chain'], unfolded: number): PackEntry['chain'] {
  const next = { length: chain.length + 1, bytes: chain.bytes + unfolded }
  if (next.length > LONGEST_CHAIN)
    throw new BrokenObject(`a chain of deltas of the pack is longer than ${LONGEST_CHAIN}`)
  if (next.bytes > MOST_CHAIN)
    throw new OversizedObject(
      `a chain of deltas of the pack has ${next.bytes} bytes, more than ${formatMebibytes(MOST_CHAIN)}`,
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
  // It would be an endless loop, or a location within another entry.
  if (base === undefined)
    throw new BrokenObject('a delta of the pack unfolds from no entry before it')
  return { base, next: after }
}

function assertSize(size: number, most: number): void {
  if (size > most)
    throw new OversizedObject(
      `an object of the pack has ${size} bytes, more than ${formatMebibytes(most)}`,
    )
}

function formatMebibytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`
}

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

/** @throws BrokenObject if the content does not have this size */
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

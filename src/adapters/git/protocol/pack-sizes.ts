/** The inflated sizes of a pack, before anything of it is kept, from its entries (git documentation, gitformat-pack). */
import { inflateSync } from 'node:zlib'
import { BrokenObject } from '../objects/object-format.ts'

/** An object of the pack is larger than what is read. Its id is unknown without inflating it. */
export class OversizedObject extends Error {}

const OFS_DELTA = 6
const REF_DELTA = 7

/**
 * Reads every entry, inflated up to its announced size and never beyond.
 * @param pack whole, its checksum checked. @param most bytes of one object
 * @throws OversizedObject, BrokenObject where an entry is not what it announces
 */
export function assertPackSizes(pack: Buffer, most: number): void {
  const end = pack.length - 20
  let at = 12
  for (let left = pack.readUInt32BE(8); left > 0; left -= 1) {
    const head = readHead(pack, at)
    at = head.next
    assertSize(head.size, most)
    if (head.type === REF_DELTA) at += 20
    if (head.type === OFS_DELTA) {
      while (((pack[at] ?? 0) & 0x80) !== 0) at += 1
      at += 1
    }
    if (at >= end) throw new BrokenObject('the pack breaks off')
    const { content, used } = inflateUpTo(pack.subarray(at, end), head.size)
    at += used
    if (head.type === OFS_DELTA || head.type === REF_DELTA) {
      const base = readSize(content, 0)
      assertSize(base.size, most)
      assertSize(readSize(content, base.next).size, most)
    }
  }
}

function assertSize(size: number, most: number): void {
  if (size > most) throw new OversizedObject(`an object of the pack has ${size} bytes`)
}

/** Type in three bits, then the size: four bits, and seven in each further byte. */
function readHead(pack: Buffer, at: number): { readonly type: number; readonly size: number; readonly next: number } {
  const first = pack[at] ?? 0
  const type = (first >> 4) & 7
  if ((first & 0x80) === 0) return { type, size: first & 15, next: at + 1 }
  const { size, next } = readSize(pack, at + 1)
  return { type, size: size * 16 + (first & 15), next }
}

function readSize(bytes: Buffer, start: number): { readonly size: number; readonly next: number } {
  let size = 0
  for (let at = start, factor = 1; at < bytes.length && factor <= 2 ** 49; at += 1, factor *= 128) {
    const byte = bytes[at] ?? 0
    size += (byte & 0x7f) * factor
    if ((byte & 0x80) === 0) return { size, next: at + 1 }
  }
  throw new BrokenObject('a size in the pack breaks off')
}

function inflateUpTo(bytes: Buffer, size: number): { readonly content: Buffer; readonly used: number } {
  let inflated: unknown
  try {
    // Without room for one byte more, zlib does not look for the end of the stream.
    inflated = inflateSync(bytes, { info: true, maxOutputLength: size + 1 })
  } catch (thrown) {
    throw new BrokenObject('an entry of the pack cannot be inflated', { cause: thrown })
  }
  const { buffer, engine } = inflated as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } }
  if (buffer.length !== size) throw new BrokenObject('an entry of the pack has another size than it says')
  return { content: buffer, used: engine.bytesWritten }
}

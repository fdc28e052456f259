/** Packs that no git makes: each entry as it is wanted, its sizes and distances included. */
import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

/** Entries one after the other, with their offsets. */
export class ForgedPack {
  readonly #parts: Buffer[] = []
  #at = 12

  /** Offset of the next entry. */
  get at(): number {
    return this.#at
  }

  /** @param says the size in its head, where it is another one */
  addBlob(content: Buffer, says = content.length): number {
    return this.#add(Buffer.concat([head(3, says), deflateSync(content)]))
  }

  /** @param base offset of what it unfolds from, or the id of an object */
  addDelta(base: number | string, delta: Buffer): number {
    const from = typeof base === 'string' ? Buffer.from(base, 'hex') : distance(this.#at - base)
    return this.#add(
      Buffer.concat([
        head(typeof base === 'string' ? 7 : 6, delta.length),
        from,
        deflateSync(delta),
      ]),
    )
  }

  addBytes(bytes: Buffer): number {
    return this.#add(bytes)
  }

  /** @param count in its head, where it is another one */
  bytes(count = this.#parts.length): Buffer {
    const start = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
    start.writeUInt32BE(count, 8)
    const body = Buffer.concat([start, ...this.#parts])
    return Buffer.concat([body, createHash('sha1').update(body).digest()])
  }

  #add(bytes: Buffer): number {
    const at = this.#at
    this.#parts.push(bytes)
    this.#at += bytes.length
    return at
  }
}

/** A delta that gives `size` bytes: `start`, and then what the base has from there on. */
export function deltaOf(base: number, size: number, start: Buffer): Buffer {
  const parts = [varint(base), varint(size), Buffer.from([start.length]), start]
  for (let at = start.length; at < size; at += 0xffffff)
    parts.push(copy(at, Math.min(0xffffff, size - at)))
  return Buffer.concat(parts)
}

export function copy(offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes[0] = 0xff
  bytes.writeUInt32LE(offset, 1)
  bytes.writeUIntLE(length, 5, 3)
  return bytes
}

export function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push(0x80 | (rest & 127))
  return Buffer.from([...bytes, rest])
}

function head(type: number, size: number): Buffer {
  const first = (type << 4) | (size & 15)
  return size < 16
    ? Buffer.from([first])
    : Buffer.concat([Buffer.from([0x80 | first]), varint(Math.floor(size / 16))])
}

function distance(value: number): Buffer {
  const bytes = [value & 127]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1
    bytes.unshift(0x80 | (rest & 127))
  }
  return Buffer.from(bytes)
}

/** Makes a picture of a page a quarter of its size: pages have few colours, and a PNG with a palette needs one byte for each pixel. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const COLOURS = 256

/** @param png of 8 bits a channel, RGB or RGBA without transparent pixels, not interlaced: what Chromium makes */
export function toPalette(png: Buffer): Buffer {
  const chunks = [...chunksOf(png)]
  const header = chunks.find(({ type }) => type === 'IHDR')?.data
  if (header === undefined) throw new Error('not a PNG')
  const [width, height, depth, kind, interlaced] = [
    header.readUInt32BE(0),
    header.readUInt32BE(4),
    header[8],
    header[9],
    header[12],
  ]
  if (depth !== 8 || (kind !== 2 && kind !== 6) || interlaced !== 0)
    throw new Error(`a PNG of depth ${depth}, kind ${kind}`)
  const channels = kind === 6 ? 4 : 3
  const packed = inflateSync(
    Buffer.concat(chunks.flatMap(({ type, data }) => (type === 'IDAT' ? [data] : []))),
  )
  const pixels = coloursOf(packed, width, height, channels)
  const palette = paletteOf(pixels)
  const nearest = new Map<number, number>()
  const rows = Buffer.alloc((width + 1) * height)
  for (const [index, colour] of pixels.entries()) {
    const position = nearest.get(colour) ?? closest(palette, colour)
    nearest.set(colour, position)
    rows[index + Math.floor(index / width) + 1] = position
  }
  const indexed = Buffer.from(header)
  indexed[9] = 3
  const table = Buffer.from(
    palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]),
  )
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', indexed),
    chunk('PLTE', table),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** 0xRRGGBB of each pixel, row by row; undoes the filters (PNG specification, "Filter types"). */
function coloursOf(packed: Buffer, width: number, height: number, channels: number): Uint32Array {
  const length = width * channels
  const pixels = new Uint32Array(width * height)
  let above = Buffer.alloc(length)
  for (let row = 0; row < height; row += 1) {
    const from = row * (length + 1)
    const filter = packed[from]
    const line = Buffer.from(packed.subarray(from + 1, from + 1 + length))
    for (let at = 0; at < length; at += 1) {
      const left = at < channels ? 0 : (line[at - channels] ?? 0)
      const up = above[at] ?? 0
      const corner = at < channels ? 0 : (above[at - channels] ?? 0)
      line[at] = ((line[at] ?? 0) + predicted(filter, left, up, corner)) & 255
    }
    for (let x = 0; x < width; x += 1) pixels[row * width + x] = line.readUIntBE(x * channels, 3)
    above = line
  }
  return pixels
}

function predicted(filter: number | undefined, left: number, up: number, corner: number): number {
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  if (filter !== 4) return 0
  const guess = left + up - corner
  const [toLeft, toUp, toCorner] = [
    Math.abs(guess - left),
    Math.abs(guess - up),
    Math.abs(guess - corner),
  ]
  return toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner
}

/** The most frequent colours, at most one of each neighbourhood: letters have many shades that nobody can tell apart. */
function paletteOf(pixels: Uint32Array): number[] {
  const counts = new Map<number, number>()
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const taken = new Set<number>()
  const palette: number[] = []
  for (const [colour] of [...counts].sort(([, left], [, right]) => right - left)) {
    const neighbourhood = colour & 0xf0f0f0
    if (taken.has(neighbourhood) && counts.size > COLOURS && palette.length >= COLOURS / 4) continue
    taken.add(neighbourhood)
    if (palette.push(colour) === COLOURS) break
  }
  return palette
}

function closest(palette: readonly number[], colour: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY]
  for (const [index, other] of palette.entries()) {
    const distance = [16, 8, 0].reduce(
      (sum, shift) => sum + (((other >> shift) & 255) - ((colour >> shift) & 255)) ** 2,
      0,
    )
    if (distance < least) [best, least] = [index, distance]
  }
  return best
}

function* chunksOf(png: Buffer): Generator<{ readonly type: string; readonly data: Buffer }> {
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    yield {
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    }
    at += length + 12
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

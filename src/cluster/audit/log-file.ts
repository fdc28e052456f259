import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { findAuditLocation, HEAD } from './audit-line.ts'

/** Bytes: two bodies of 1.5 MiB (etcd's limit) as JSON. */
const LINE_LIMIT = 16_777_216
/** Bytes for the lines of a compressed file. */
const KEPT = 33_554_432
/** Lines per object: a Lease is written every few seconds, forever. */
const MOST = 200

interface Line {
  readonly offset: number
  readonly length: number
  /** A compressed file allows no read at a position. */
  readonly text?: string
}

export class LogFile {
  path: string
  end: number
  skipped = 0
  readonly compressed: boolean
  private readonly lines = new Map<string, Line[]>()
  private retained = 0
  private inside: boolean

  /** @param start bytes before the next line break are skipped, unless it is 0 */
  constructor(path: string, start: number) {
    this.path = path
    this.end = start
    this.compressed = path.endsWith('.gz')
    this.inside = start > 0
  }

  /** @throws errors of the file system */
  async readOn(signal: AbortSignal): Promise<void> {
    const source = createReadStream(this.path, {
      start: this.compressed ? 0 : this.end,
      highWaterMark: 1_048_576,
      signal,
    })
    const stream = this.compressed ? source.pipe(createGunzip()) : source
    source.on('error', (error) => stream.destroy(error))
    let offset = this.end
    let rest: Buffer = Buffer.alloc(0)
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let start = 0
      for (let end = data.indexOf(10); end !== -1; end = data.indexOf(10, start)) {
        if (!this.inside) this.take(data, start, end, offset + start)
        this.inside = false
        start = end + 1
      }
      rest = data.subarray(start)
      offset += start
      if (rest.length > LINE_LIMIT) {
        this.skipped += 1
        offset += rest.length
        rest = Buffer.alloc(0)
        this.inside = true
      }
    }
    // A last line without a line break is complete if it is JSON.
    const whole = !this.inside && rest.length > 0 && isJson(rest)
    if (whole) this.take(rest, 0, rest.length, offset)
    this.end = whole ? offset + rest.length : offset
  }

  async read(location: string, limit: number): Promise<string[]> {
    const lines = this.lines.get(location)?.slice(-limit) ?? []
    if (lines.length === 0) return []
    if (this.compressed) return lines.flatMap(({ text }) => (text === undefined ? [] : [text]))
    const file = await open(this.path, 'r')
    try {
      const texts: string[] = []
      for (const { offset, length } of lines) {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
        if (bytesRead === length) texts.push(buffer.toString('utf8'))
      }
      return texts
    } finally {
      await file.close()
    }
  }

  private take(data: Buffer, start: number, end: number, offset: number): void {
    const location = findAuditLocation(data.toString('utf8', start, Math.min(end, start + HEAD)))
    if (location === undefined) return
    const line = { offset, length: end - start }
    if (this.compressed) {
      this.retained += line.length
      if (this.retained > KEPT) return
    }
    const known = this.lines.get(location)
    const entry = this.compressed ? { ...line, text: data.toString('utf8', start, end) } : line
    if (known === undefined) this.lines.set(location, [entry])
    else if (known.push(entry) > 2 * MOST) known.splice(0, MOST)
  }
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'))
    return true
  } catch {
    return false
  }
}

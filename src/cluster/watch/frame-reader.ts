export class FrameOverflow extends Error {
  readonly what: 'frame' | 'memory'

  constructor(what: 'frame' | 'memory', limit: number) {
    super(`more than ${limit} bytes`)
    this.name = 'FrameOverflow'
    this.what = what
  }
}

/** Bytes that several readers hold together. */
export class FrameMemory {
  readonly limit: number
  held = 0

  constructor(limit: number) {
    this.limit = limit
  }
}

const NEWLINE = 0x0a

export class FrameReader {
  private readonly limit: number
  private readonly memory: FrameMemory
  private parts: Buffer[] = []
  private held = 0
  private open = true

  constructor(limit: number, memory: FrameMemory) {
    this.limit = limit
    this.memory = memory
  }

  /**
   * The reader is closed if `take` throws.
   * @throws FrameOverflow; what `take` throws
   */
  read(chunk: Buffer, take: (line: string) => void): void {
    try {
      let start = 0
      // `take` may close the reader.
      while (this.open) {
        const end = chunk.indexOf(NEWLINE, start)
        if (end === -1) break
        if (this.held + end - start > this.limit) throw new FrameOverflow('frame', this.limit)
        const line = this.readLine(chunk.subarray(start, end))
        start = end + 1
        if (line !== '') take(line)
      }
      if (this.open) this.keep(chunk.subarray(start))
    } catch (thrown) {
      this.close()
      throw thrown
    }
  }

  close(): void {
    this.open = false
    this.drop()
  }

  private readLine(end: Buffer): string {
    const line =
      this.parts.length === 0
        ? end.toString('utf8')
        : Buffer.concat([...this.parts, end]).toString('utf8')
    this.drop()
    return line
  }

  private keep(rest: Buffer): void {
    if (rest.length === 0) return
    this.held += rest.length
    this.memory.held += rest.length
    this.parts.push(rest)
    if (this.held > this.limit) throw new FrameOverflow('frame', this.limit)
    if (this.memory.held > this.memory.limit) throw new FrameOverflow('memory', this.memory.limit)
  }

  private drop(): void {
    this.memory.held -= this.held
    this.held = 0
    this.parts = []
  }
}

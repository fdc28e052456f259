import { answerDeadline, Deadline, describeSlowAnswer } from '@backporch/system/deadline'

/** The message is safe to print. */
export class StreamFault extends Error {
  readonly kind: 'ended' | 'silent' | 'slow' | 'too-large' | 'malformed'
  constructor(kind: StreamFault['kind'], message: string) {
    super(message)
    this.name = 'StreamFault'
    this.kind = kind
  }
}

interface ReadLimits {
  /** Milliseconds without a byte. */
  readonly silence: number
  readonly bytes: number
  /** Milliseconds by received bytes. Default: `answerDeadline`. */
  readonly deadline?: (received: number) => number
}

export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #limits: ReadLimits
  #chunk: Buffer = Buffer.alloc(0)
  #at = 0
  #total = 0
  /** Milliseconds, without the time of the reader. */
  #waited = 0

  constructor(source: AsyncIterable<Uint8Array>, limits: ReadLimits) {
    this.#source = source[Symbol.asyncIterator]()
    this.#limits = limits
  }

  /**
   * Undefined if the stream ends before the first byte.
   * @throws StreamFault when it ends in between
   */
  async read(length: number): Promise<Buffer | undefined> {
    if (this.#chunk.length - this.#at >= length) return this.#take(length)
    const parts: Buffer[] = []
    let missing = length
    while (missing > 0) {
      if (this.#at === this.#chunk.length && !(await this.#fill())) {
        if (missing === length) return undefined
        throw new StreamFault('ended', 'the answer broke off')
      }
      const part = this.#take(Math.min(missing, this.#chunk.length - this.#at))
      parts.push(part)
      missing -= part.length
    }
    return Buffer.concat(parts)
  }

  /**
   * Consumes the line break.
   * @throws StreamFault when it ends before, or exceeds `most` bytes
   */
  async readLine(most: number): Promise<string> {
    const bytes: number[] = []
    for (;;) {
      if (this.#at === this.#chunk.length && !(await this.#fill()))
        throw new StreamFault('ended', 'the answer broke off')
      const byte = this.#chunk[this.#at]
      this.#at += 1
      if (byte === 0x0a) return Buffer.from(bytes).toString('utf8')
      if (byte !== undefined) bytes.push(byte)
      if (bytes.length > most)
        throw new StreamFault('malformed', 'the answer has a line without an end')
    }
  }

  async readSome(most: number): Promise<string> {
    const parts: Buffer[] = []
    let size = 0
    try {
      while (size < most && (await this.#fill())) {
        const part = this.#take(Math.min(most - size, this.#chunk.length))
        parts.push(part)
        size += part.length
      }
    } catch {
      // Return what arrived.
    }
    return Buffer.concat(parts).toString('utf8')
  }

  /** Reads to the end, so that the connection can be reused. Faults no longer matter. */
  async drain(): Promise<void> {
    try {
      while (await this.#fill()) this.#at = this.#chunk.length
    } catch {
      // the caller closes the connection next
    }
  }

  #take(length: number): Buffer {
    const part = this.#chunk.subarray(this.#at, this.#at + length)
    this.#at += length
    return part
  }

  async #fill(): Promise<boolean> {
    const { silence, deadline = answerDeadline } = this.#limits
    const left = deadline(this.#total) - this.#waited
    const fault = (): StreamFault =>
      left < silence
        ? new StreamFault('slow', describeSlowAnswer(this.#total, deadline(this.#total)))
        : new StreamFault('silent', `no byte for ${silence / 1000} s`)
    if (left <= 0) throw fault()
    const { promise: late, reject } = Promise.withResolvers<never>()
    const limit = new Deadline(Math.min(silence, left), () => reject(fault()))
    try {
      const next = await Promise.race([this.#source.next(), late])
      if (next.done === true) return false
      this.#chunk = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength)
      this.#at = 0
      this.#total += this.#chunk.length
      if (this.#total > this.#limits.bytes)
        throw new StreamFault('too-large', `the answer is larger than ${this.#limits.bytes} bytes`)
      return true
    } finally {
      this.#waited += limit.stop()
    }
  }
}

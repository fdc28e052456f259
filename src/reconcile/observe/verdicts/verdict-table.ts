/**
 * 48 bytes for an object of a unit. Rows are found by the hash of the object's id, by open
 * addressing with linear probing; an object of two units has two rows.
 *
 * A row, in 32-bit words: hash of the id (2), mark of the object as it was judged (4), hash of
 * everything else that determines the verdict (3), unit (1), seconds since 1970 until when the
 * verdict holds (1), state (1).
 */

const ROW = 12
const AT = { mark: 2, question: 6, unit: 9, until: 10, state: 11 } as const
const FIRST_CAPACITY = 32
const FULL = 75

export const HASH_WORDS = { id: 2, mark: 4, question: 3 } as const

interface VerdictRow {
  /** All 0 for an absent object. */
  readonly mark: Uint32Array
  readonly question: Uint32Array
  readonly unit: number
  /** Seconds since 1970. */
  readonly until: number
  /** Any 31 bits. */
  readonly state: number
}

const IN_USE = 0x8000_0000

export class VerdictTable {
  private words = new Uint32Array(FIRST_CAPACITY * ROW)
  private capacity = FIRST_CAPACITY
  private used = 0
  private readonly counts: number[] = []

  get size(): number {
    return this.used
  }

  get bytes(): number {
    return this.words.byteLength
  }

  count(unit: number): number {
    return this.counts[unit] ?? 0
  }

  /** A position is valid until the next `put` or `delete`. */
  find(id: Uint32Array): number[] {
    const found: number[] = []
    for (let at = this.start(id); this.isUsed(at); at = this.computeNextSlot(at))
      if (this.holdsId(at, id)) found.push(at)
    return found
  }

  /** -1 without a row. */
  findRow(id: Uint32Array, unit: number): number {
    for (let at = this.start(id); this.isUsed(at); at = this.computeNextSlot(at))
      if (this.holdsId(at, id) && this.words[at * ROW + AT.unit] === unit) return at
    return -1
  }

  getRow(at: number): VerdictRow {
    const first = at * ROW
    const { words } = this
    return {
      mark: words.subarray(first + AT.mark, first + AT.mark + HASH_WORDS.mark),
      question: words.subarray(first + AT.question, first + AT.question + HASH_WORDS.question),
      unit: words[first + AT.unit] ?? 0,
      until: words[first + AT.until] ?? 0,
      state: (words[first + AT.state] ?? 0) & ~IN_USE,
    }
  }

  findEnded(second: number): ReadonlySet<number> {
    const units = new Set<number>()
    for (let first = 0; first < this.words.length; first += ROW) {
      const until = this.words[first + AT.until] ?? 0
      if (until !== 0 && until <= second) units.add(this.words[first + AT.unit] ?? 0)
    }
    return units
  }

  put(id: Uint32Array, row: VerdictRow): void {
    let at = this.findRow(id, row.unit)
    if (at === -1) {
      if ((this.used + 1) * 100 > this.capacity * FULL) this.grow()
      at = this.free(id)
      this.add(row.unit)
    }
    const first = at * ROW
    this.words.set(id, first)
    this.words.set(row.mark, first + AT.mark)
    this.words.set(row.question, first + AT.question)
    this.words[first + AT.unit] = row.unit
    this.words[first + AT.until] = row.until
    this.words[first + AT.state] = (row.state | IN_USE) >>> 0
  }

  setMark(at: number, mark: Uint32Array): void {
    this.words.set(mark, at * ROW + AT.mark)
  }

  setState(at: number, state: number): void {
    this.words[at * ROW + AT.state] = (state | IN_USE) >>> 0
  }

  deleteWhere(isGone: (row: VerdictRow, at: number) => boolean): number {
    const retained = [...this.listPositions()].filter((at) => !isGone(this.getRow(at), at))
    const gone = this.used - retained.length
    if (gone > 0) this.rebuild(retained, this.capacity)
    return gone
  }

  *listPositions(): Generator<number> {
    for (let at = 0; at < this.capacity; at += 1) if (this.isUsed(at)) yield at
  }

  getIdAt(at: number): Uint32Array {
    return this.words.subarray(at * ROW, at * ROW + HASH_WORDS.id)
  }

  private start(id: Uint32Array): number {
    return (id[0] ?? 0) & (this.capacity - 1)
  }

  private computeNextSlot(at: number): number {
    return (at + 1) & (this.capacity - 1)
  }

  private isUsed(at: number): boolean {
    return ((this.words[at * ROW + AT.state] ?? 0) & IN_USE) !== 0
  }

  private holdsId(at: number, id: Uint32Array): boolean {
    return this.words[at * ROW] === id[0] && this.words[at * ROW + 1] === id[1]
  }

  private free(id: Uint32Array): number {
    let at = this.start(id)
    while (this.isUsed(at)) at = this.computeNextSlot(at)
    return at
  }

  private add(unit: number): void {
    this.used += 1
    this.counts[unit] = this.count(unit) + 1
  }

  private grow(): void {
    this.rebuild([...this.listPositions()], this.capacity * 2)
  }

  private rebuild(positions: readonly number[], capacity: number): void {
    const before = this.words
    this.words = new Uint32Array(capacity * ROW)
    this.capacity = capacity
    this.used = 0
    this.counts.length = 0
    for (const at of positions) {
      const row = before.subarray(at * ROW, at * ROW + ROW)
      this.words.set(row, this.free(row) * ROW)
      this.add(row[AT.unit] ?? 0)
    }
  }

  convertToBytes(): Uint8Array {
    const packed = new Uint32Array(this.used * ROW)
    let row = 0
    for (const at of this.listPositions()) {
      packed.set(this.words.subarray(at * ROW, at * ROW + ROW), row * ROW)
      row += 1
    }
    return new Uint8Array(packed.buffer)
  }

  static parseBytes(bytes: Uint8Array): VerdictTable | undefined {
    if (bytes.byteLength % (ROW * Uint32Array.BYTES_PER_ELEMENT) !== 0) return undefined
    // The rows may be unaligned.
    const packed = new Uint32Array(new Uint8Array(bytes).buffer)
    const rows = packed.length / ROW
    const table = new VerdictTable()
    while (rows * 100 > table.capacity * FULL) table.capacity *= 2
    table.words = new Uint32Array(table.capacity * ROW)
    for (let row = 0; row < rows; row += 1) {
      const words = packed.subarray(row * ROW, row * ROW + ROW)
      if (((words[AT.state] ?? 0) & IN_USE) === 0) return undefined
      table.words.set(words, table.free(words) * ROW)
      table.add(words[AT.unit] ?? 0)
    }
    return table
  }
}

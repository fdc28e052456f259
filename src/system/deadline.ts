/** Ends waits for what comes from outside. */

/** Milliseconds that every answer has. */
const PATIENCE = 120_000
/** Bytes a second of the slowest line on which a large answer still comes whole. */
const SLOWEST = 4_096
const MOST_PARTS = 8
/** Milliseconds. A timer of Node takes one at least. */
const LEAST_PART = 5
/** Milliseconds. */
const LAST_LOOK = 50

/**
 * A timer for what comes from outside: an answer, a program, a thread.
 *
 * Time in which this process does not run does not count: it computes, it is stopped, the machine sleeps. What came meanwhile is not read
 * yet, and the event loop calls timers before it reads (Node.js documentation, "The Node.js Event Loop"). So the time runs in parts. Each
 * part counts once, however long it took, and what came is read once more before the end.
 */
export class Deadline {
  readonly #parts: number
  /** Milliseconds. */
  readonly #part: number
  readonly #end: () => void
  #counted = 0
  #began = performance.now()
  #timer: NodeJS.Timeout

  /** @param milliseconds up to 2^31; 0 and less end it soon @param end is not called after `stop` */
  constructor(milliseconds: number, end: () => void) {
    this.#parts = Math.max(1, Math.min(MOST_PARTS, Math.floor(milliseconds / LEAST_PART)))
    this.#part = Math.max(1, milliseconds / this.#parts)
    this.#end = end
    this.#timer = setTimeout(() => this.#count(1), this.#part)
  }

  /** Safe to call again. @returns the milliseconds that counted */
  stop(): number {
    clearTimeout(this.#timer)
    return this.#counted + Math.min(this.#part, performance.now() - this.#began)
  }

  #count(parts: number): void {
    this.#counted += this.#part
    this.#began = performance.now()
    this.#timer =
      parts < this.#parts
        ? setTimeout(() => this.#count(parts + 1), this.#part)
        : setTimeout(this.#end, Math.min(this.#part, LAST_LOOK))
  }
}

/**
 * How long an answer may take: a while, and longer the more of it came. Silence alone does not bound a server that sends a byte a second, and a
 * fixed time would end a whole clone over a slow line.
 *
 * @param received bytes so far @returns milliseconds from the request on
 */
export function answerDeadline(received: number): number {
  return PATIENCE + (received / SLOWEST) * 1000
}

/** As a clause. The message is ours and safe to print. */
export function slowAnswer(received: number, milliseconds: number): string {
  return `only ${received} bytes came in ${Math.round(milliseconds / 1000)} s`
}

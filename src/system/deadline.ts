/** Milliseconds that every answer has. */
const PATIENCE = 120_000
/** Bytes per second of the slowest line on which a large answer still completes. */
const SLOWEST = 4_096
const MOST_PARTS = 8
/** A Node timer takes at least one millisecond. */
const LEAST_PART = 5
/** Milliseconds. */
const LAST_LOOK = 50

/**
 * A timer for external input. Time in which this process does not run (it computes, is stopped, or
 * the machine sleeps) does not count: input from that time is unread, and the event loop calls
 * timers before it reads (Node.js documentation, "The Node.js Event Loop"). So each part of the
 * time counts once, however long it took, and input is read once more before the end.
 */
export class Deadline {
  readonly #parts: number
  /** Milliseconds. */
  readonly #part: number
  readonly #end: () => void
  #counted = 0
  #began = performance.now()
  #timer: NodeJS.Timeout

  /** @param milliseconds up to 2^31; 0 and less end it soon @param end not called after `stop` */
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
 * A limit on silence alone does not stop a server that sends a byte per second, and a fixed time
 * would abort a whole clone over a slow line. @param received bytes so far @returns milliseconds
 * from the request on
 */
export function answerDeadline(received: number): number {
  return PATIENCE + (received / SLOWEST) * 1000
}

/** A clause of Backporch's own words, safe to print. */
export function describeSlowAnswer(received: number, milliseconds: number): string {
  return `only ${received} bytes came in ${Math.round(milliseconds / 1000)} s`
}

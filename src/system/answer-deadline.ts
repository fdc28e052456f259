/**
 * How long an answer may take: a while, and longer the more of it came. Silence alone does not bound a server that sends a byte a second, and a
 * fixed time would end a whole clone over a slow line.
 */

/** Milliseconds that every answer has. */
const PATIENCE = 120_000
/** Bytes a second of the slowest line on which a large answer still comes whole. */
const SLOWEST = 4_096

/** @param received bytes so far @returns milliseconds from the request on */
export function answerDeadline(received: number): number {
  return PATIENCE + (received / SLOWEST) * 1000
}

/** As a clause. The message is ours and safe to print. */
export function slowAnswer(received: number, milliseconds: number): string {
  return `only ${received} bytes came in ${Math.round(milliseconds / 1000)} s`
}

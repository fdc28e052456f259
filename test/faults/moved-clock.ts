/**
 * Preloaded into a process (`NODE_OPTIONS=--import=…`): its wall clock is the one of a file, which a test rewrites while it runs. Timers and the monotonic
 * clock go on as they are, as when somebody sets the clock of a machine.
 */
import { readFileSync } from 'node:fs'
import process from 'node:process'

const Real = Date
const path = process.env['BACKPORCH_TEST_CLOCK'] ?? ''
let read = Number.NEGATIVE_INFINITY
let written = ''
/** Since `from` it runs at this rate. */
let moved = { from: 0, offset: 0, rate: 1 }

function now(): number {
  const real = Real.now()
  if (performance.now() - read > 20) {
    read = performance.now()
    // It may be written at this moment.
    const text = readFileSync(path, 'utf8')
    if (text.endsWith('}') && text !== written) {
      written = text
      moved = { from: real, ...JSON.parse(text) }
    }
  }
  return Math.trunc(real + moved.offset + (real - moved.from) * (moved.rate - 1))
}

class MovedDate extends Real {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(now())
    else super(...(given as [number]))
  }

  static override now(): number {
    return now()
  }
}

globalThis.Date = MovedDate as DateConstructor

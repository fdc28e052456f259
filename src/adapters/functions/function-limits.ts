/** Limits of one function of a pipeline (docs/guides/functions.md). */
export interface FunctionLimits {
  readonly milliseconds: number
  /** Bytes, of the program and everything that it starts. */
  readonly memory: number
  /** Bytes on standard output. */
  readonly output: number
  /** Objects in its output. */
  readonly objects: number
}

const MEBIBYTE = 1024 * 1024

export const FUNCTION_LIMITS: FunctionLimits = {
  milliseconds: 60_000,
  memory: 256 * MEBIBYTE,
  output: 64 * MEBIBYTE,
  objects: 50_000,
}

/** `60 s`, `250 ms`. */
export function describeTime(milliseconds: number): string {
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000} s` : `${milliseconds} ms`
}

/** `256 MiB`. */
export function describeSize(bytes: number): string {
  return `${Math.round((bytes / MEBIBYTE) * 10) / 10} MiB`
}

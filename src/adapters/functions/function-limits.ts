/** docs/guides/functions.md */
export interface FunctionLimits {
  readonly milliseconds: number
  /** Bytes, including child processes. */
  readonly memory: number
  /** Bytes. */
  readonly output: number
  readonly objects: number
}

const MEBIBYTE = 1024 * 1024

export const FUNCTION_LIMITS: FunctionLimits = {
  milliseconds: 60_000,
  memory: 256 * MEBIBYTE,
  output: 64 * MEBIBYTE,
  objects: 50_000,
}

export function describeTime(milliseconds: number): string {
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000} s` : `${milliseconds} ms`
}

export function describeSize(bytes: number): string {
  return `${Math.round((bytes / MEBIBYTE) * 10) / 10} MiB`
}

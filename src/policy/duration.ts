/** Durations as a policy has them. */
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Whole seconds, minutes, hours or days as seconds. The text was checked by the schema. */
export function secondsOf(duration: string): number {
  return Number(duration.slice(0, -1)) * (UNITS[duration.slice(-1)] ?? Number.NaN)
}

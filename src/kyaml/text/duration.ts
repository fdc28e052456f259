/** Like Prometheus: each unit once, longest first. */
const SECONDS = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1 } as const
const UNITS = Object.keys(SECONDS) as (keyof typeof SECONDS)[]

const ENDINGS = UNITS.map((unit, index) => {
  const shorter = UNITS.slice(index + 1).map((next) => `([0-9]{1,5}${next})?`)
  return `${unit}${shorter.join('')}`
})

/** `30s`, `1h30m`, `7d`; never 0. */
export const DURATION = new RegExp(`^[1-9][0-9]{0,4}(${ENDINGS.join('|')})$`)
export const WAIT = new RegExp(`^(0[${UNITS.join('')}]|${DURATION.source.slice(1, -1)})$`)

/** One of the two patterns must have matched. */
export function convertDurationToSeconds(duration: string): number {
  const parts = [...duration.matchAll(/([0-9]+)([a-z])/g)]
  return parts.reduce(
    (sum, [, number, unit]) => sum + Number(number) * SECONDS[unit as keyof typeof SECONDS],
    0,
  )
}

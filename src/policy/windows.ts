/**
 * Weekly times (cron schedule and duration), or as long as an object has a label. If clocks go
 * forward, a start in the gap becomes the end of the gap; if they go back, the first of two counts
 * (docs/facts/croner-schedules.md). A duration is elapsed time, not wall-clock time.
 */
import { Cron } from 'croner'
import type { Risk } from '../drift/compare/drift.ts'

interface AnyWindow {
  readonly name: string
  /** `hold`: nothing new is proposed. `adopt`: manual changes are planned as Adopt. */
  readonly kind: 'hold' | 'adopt'
  readonly where: string
  readonly except: readonly Risk[]
}

export interface ScheduledWindow extends AnyWindow {
  readonly schedule: string
  /** Seconds. */
  readonly duration: number
  /** IANA name. */
  readonly timezone: string
}

export interface LabelWindow extends AnyWindow {
  readonly labels: ReadonlyMap<string, string>
}

export type PolicyWindow = ScheduledWindow | LabelWindow

export function isScheduled(window: PolicyWindow): window is ScheduledWindow {
  return 'schedule' in window
}

const FIELD = /^[0-9A-Za-z*,/-]+$/
/** A schedule without a start after an arbitrary time has none at all. */
const SOME_TIME = new Date('2024-01-01T00:00:00Z')

export function scheduleProblem(text: string): string | undefined {
  const fields = text.trim().split(/\s+/)
  const wanted =
    'wanted five fields: minute, hour, day of the month, month, day of the week, as in 0 18 * * FRI'
  // The library accepts more than cron does: seconds, nicknames, dates.
  if (
    fields.length !== 5 ||
    !fields.every((field) => FIELD.test(field) && !/^[LW]|\d[LW]/i.test(field))
  )
    return wanted
  try {
    return createCron(text, 'UTC').nextRuns(1, SOME_TIME).length === 0
      ? 'there is no such day'
      : undefined
  } catch (thrown) {
    const why =
      thrown instanceof Error ? thrown.message.replace(/^[A-Za-z]+: /, '') || undefined : undefined
    return `${wanted}${why === undefined ? '' : ` (${why})`}`
  }
}

export function findTimezoneProblem(text: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return undefined
  } catch {
    return 'there is no such timezone; wanted an IANA name like Europe/Berlin'
  }
}

/**
 * @param at RFC 3339 UTC
 * @returns RFC 3339 UTC with seconds; undefined if no window is open
 */
export function findWindowEnd(
  { schedule, duration, timezone }: ScheduledWindow,
  at: string,
): string | undefined {
  const now = Math.floor(Date.parse(at) / 1_000) * 1_000
  if (Number.isNaN(now)) return undefined
  // The library returns runs before a second; this second's must count too.
  const [began] = createCron(schedule, timezone).previousRuns(1, new Date(now + 1_000))
  if (began === undefined) return undefined
  const end = began.getTime() + duration * 1_000
  return now < end ? `${new Date(end).toISOString().slice(0, 19)}Z` : undefined
}

/**
 * @param at RFC 3339 UTC
 * @returns RFC 3339 UTC with seconds, after `at`; undefined if there is none
 */
export function findNextScheduledTime(schedule: string, at: string): string | undefined {
  const from = Date.parse(at)
  if (Number.isNaN(from)) return undefined
  const [next] = createCron(schedule, 'UTC').nextRuns(1, new Date(from))
  return next === undefined ? undefined : `${next.toISOString().slice(0, 19)}Z`
}

/** Without a callback nothing is scheduled. */
function createCron(schedule: string, timezone: string): Cron {
  return new Cron(schedule, { timezone, paused: true, mode: '5-part' })
}

/**
 * When proposals are held, or what people change by hand is taken over. Either times of the week, a cron schedule for the beginning
 * and a duration; or as long as an object has a label. And the times of the digest. Where clocks are put forward, a beginning that
 * does not exist is the end of the gap; where they are put back, the first of two (docs/facts/croner-schedules.md). A duration is time that passes, not time on the wall.
 */
import { Cron } from 'croner'
import type { Risk } from '../drift/compare/drift.ts'

interface AnyWindow {
  readonly name: string
  /** `hold`: nothing new is proposed. `adopt`: what people change by hand is planned as Adopt. */
  readonly kind: 'hold' | 'adopt'
  /** `.drift/policy.yaml:12` */
  readonly where: string
  /** Risks for which the window is not there. */
  readonly except: readonly Risk[]
}

/** Open at times of the week. */
export interface ScheduledWindow extends AnyWindow {
  /** Minute, hour, day of the month, month, day of the week. */
  readonly schedule: string
  /** Seconds. */
  readonly duration: number
  /** IANA name, as in `Europe/Berlin`. */
  readonly timezone: string
}

/** Open for the objects that have every one of these labels, or whose Namespace has them. */
export interface LabelWindow extends AnyWindow {
  readonly labels: ReadonlyMap<string, string>
}

export type PolicyWindow = ScheduledWindow | LabelWindow

export function isScheduled(window: PolicyWindow): window is ScheduledWindow {
  return 'schedule' in window
}

const FIELD = /^[0-9A-Za-z*,/-]+$/
/** Any time does: a schedule that has no beginning after it has none at all. */
const SOME_TIME = new Date('2024-01-01T00:00:00Z')

/** Why a text is no schedule; undefined where it is one. */
export function scheduleProblem(text: string): string | undefined {
  const fields = text.trim().split(/\s+/)
  const wanted =
    'wanted five fields: minute, hour, day of the month, month, day of the week, as in 0 18 * * FRI'
  // The library takes more than cron does: seconds, nicknames, dates.
  if (
    fields.length !== 5 ||
    !fields.every((field) => FIELD.test(field) && !/^[LW]|\d[LW]/i.test(field))
  )
    return wanted
  try {
    return cronOf(text, 'UTC').nextRuns(1, SOME_TIME).length === 0
      ? 'there is no such day'
      : undefined
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.replace(/^[A-Za-z]+: /, '') : ''
    return `${wanted}${why === '' ? '' : ` (${why})`}`
  }
}

/** Why a text names no timezone; undefined where it does. */
export function timezoneProblem(text: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return undefined
  } catch {
    return 'there is no such timezone; wanted an IANA name like Europe/Berlin'
  }
}

/**
 * @param at RFC 3339 UTC
 * @returns RFC 3339 UTC with seconds: when the window that is open ends; undefined where none is open
 */
export function windowEnd(
  { schedule, duration, timezone }: ScheduledWindow,
  at: string,
): string | undefined {
  const now = Math.floor(Date.parse(at) / 1_000) * 1_000
  if (Number.isNaN(now)) return undefined
  // The library answers with what was before a second, and the one that is now counts too.
  const [began] = cronOf(schedule, timezone).previousRuns(1, new Date(now + 1_000))
  if (began === undefined) return undefined
  const end = began.getTime() + duration * 1_000
  return now < end ? `${new Date(end).toISOString().slice(0, 19)}Z` : undefined
}

/**
 * @param at RFC 3339 UTC
 * @returns RFC 3339 UTC with seconds: the first time of the schedule, in UTC, after `at`; undefined where there is none
 */
export function nextTime(schedule: string, at: string): string | undefined {
  const from = Date.parse(at)
  if (Number.isNaN(from)) return undefined
  const [next] = cronOf(schedule, 'UTC').nextRuns(1, new Date(from))
  return next === undefined ? undefined : `${next.toISOString().slice(0, 19)}Z`
}

/** Without a function to call nothing is ever scheduled: it only computes times. */
function cronOf(schedule: string, timezone: string): Cron {
  return new Cron(schedule, { timezone, paused: true, mode: '5-part' })
}

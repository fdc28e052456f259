/**
 * Which of the drift that is new to reviewers waits, and why. What is open already stays open, what somebody asked for is never held,
 * and critical drift waits for nothing. Slots go by risk, then by age, then by name, so that the same drift gives the same answer.
 */
import { RISKS, type Risk } from '../drift/drift.ts'
import type { Limits } from '../policy/effective-policy.ts'
import { type PolicyWindow, windowEnd } from '../policy/windows.ts'
import { driftId } from '../proposal/dashboard-ticks.ts'
import { commitText } from '../record/commit-text.ts'
import { oneLine } from '../record/one-line.ts'
import { worstRisk } from './closed-episode.ts'
import { later, restingSince } from './drift-age.ts'
import type { Hold } from './hold.ts'
import type { OpenProposals } from './open-proposals.ts'
import { type PlannedUnit, unitKey } from './planned-unit.ts'

export interface LimitsQuestion {
  /** Every unit of the turn, planned as if nothing were held. */
  readonly units: readonly PlannedUnit[]
  readonly limits: Limits
  readonly proposals: OpenProposals
  /** More packages than `stormThreshold` began to differ within an hour. */
  readonly storm: boolean
  /** `driftId` of the drift that somebody ticked to be proposed now. */
  readonly asked: ReadonlySet<string>
  /** RFC 3339 UTC: the latest observation of the turn. */
  readonly now: string
}

/** A proposal that this turn would open, of one unit or of several that share it. */
interface Opening {
  readonly units: readonly PlannedUnit[]
  readonly risk: Risk
  readonly since: string
  readonly name: string
  readonly free: boolean
}

/** Drift that changes again and again is shown after so many times the age that it never reaches. */
const PATIENCE = 5
const HOUR = 3_600

/** Holds by `unitKey`. */
export function planHolds(question: LimitsQuestion): ReadonlyMap<string, Hold> {
  const { limits, proposals, now } = question
  const openings = newOpenings(question)
  const free = openings.filter((opening) => opening.free)
  const taken = (proposed: number): readonly string[] => [...proposals.openings, ...Array.from({ length: proposed }, () => now)]
  const holds = new Map<string, Hold>()
  const endOf = windowEnds(now)
  let opened = free.length
  let waiting = 0
  for (const opening of openings) {
    if (opening.free) continue
    const hold = holdOf(opening, question, endOf) ?? slotHold(opening, limits, proposals.open.size + opened, taken(opened), waiting)
    if (hold === undefined) opened += 1
    else if (hold.reason === 'hourly-limit') waiting += 1
    if (hold !== undefined)
      for (const { observation } of opening.units) holds.set(unitKey(observation.unit.cluster, observation.unit.packagePath), hold)
  }
  return holds
}

function newOpenings({ units, asked }: LimitsQuestion): readonly Opening[] {
  const isNew = ({ plan, observation }: PlannedUnit): boolean =>
    plan.report.status.lifecycle === 'Proposed' && !observation.git.refs.has(`refs/heads/${plan.branch}`)
  const byBranch = Map.groupBy(units.filter(isNew), ({ plan }) => plan.branch)
  return [...byBranch.values()]
    .map((own): Opening => {
      const risk = worstRisk(own.flatMap(({ plan }) => plan.report.spec.changes)) ?? 'low'
      const times = own.map(({ plan, observation }) => plan.record?.spec.began ?? observation.cluster.observedAt)
      const names = own.map(({ observation: { unit } }) => unitKey(unit.cluster, unit.packagePath))
      return {
        units: own,
        risk,
        since: times.sort()[0] ?? '',
        name: names.sort()[0] ?? '',
        free: risk === 'critical' || own.some(({ plan }) => asked.has(driftId(plan.report.spec.fingerprint))),
      }
    })
    .sort(
      (left, right) =>
        RISKS.indexOf(left.risk) - RISKS.indexOf(right.risk) || compare(left.since, right.since) || compare(left.name, right.name),
    )
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/** What holds a proposal whatever else is open. */
function holdOf(
  { units, risk, since }: Opening,
  { limits, storm, now }: LimitsQuestion,
  endOf: (window: PolicyWindow) => string | undefined,
): Hold | undefined {
  // In a recording no time passes: what waits for it would wait for ever.
  const live = units.filter(({ observation }) => !observation.cluster.recorded)
  if (live.length === 0) return undefined
  if (storm) return { reason: 'storm', why: `more than ${limits.stormThreshold} packages began to differ within an hour` }
  const open = live.flatMap(({ observation }) =>
    observation.policy.windows.flatMap((window) => {
      const until = window.kind === 'hold' && !window.except.includes(risk) ? endOf(window) : undefined
      return until === undefined ? [] : [{ window, until }]
    }),
  )
  const [last] = open.sort((left, right) => compare(right.until, left.until) || compare(left.window.where, right.window.where))
  if (last !== undefined) {
    const { name, where } = last.window
    return {
      reason: 'window',
      until: last.until,
      why: `the window ${oneLine(commitText(name), 60)} of the policy is open (${oneLine(where)})`,
    }
  }
  const rested = live.map(({ plan, observation }) => {
    const { minAge } = observation.policy.detect
    const [rest, patience] = [later(restingSince(plan.report, observation), minAge), later(since, PATIENCE * minAge)]
    return { minAge, until: rest < patience ? rest : patience }
  })
  const [young] = rested.filter(({ until }) => until > now).sort((left, right) => compare(right.until, left.until))
  if (young === undefined) return undefined
  return { reason: 'min-age', until: young.until, why: `it has not been as it is now for ${seconds(young.minAge)}` }
}

/** @param openings within the last hour, ascending @param waiting how many wait for an hour to pass already */
function slotHold({ units }: Opening, limits: Limits, open: number, openings: readonly string[], waiting: number): Hold | undefined {
  const { prConcurrentLimit, prHourlyLimit } = limits
  if (prConcurrentLimit !== 0 && open >= prConcurrentLimit) {
    return { reason: 'concurrent-limit', why: `the policy allows ${prConcurrentLimit} open ${proposalWord(prConcurrentLimit)} at once` }
  }
  if (prHourlyLimit === 0 || openings.length < prHourlyLimit || units.every(({ observation }) => observation.cluster.recorded))
    return undefined
  const freed = openings[openings.length - prHourlyLimit + waiting]
  const why = `the policy allows ${prHourlyLimit} new ${proposalWord(prHourlyLimit)} in an hour`
  return { reason: 'hourly-limit', ...(freed === undefined ? {} : { until: later(freed, HOUR) }), why }
}

function proposalWord(count: number): string {
  return count === 1 ? 'proposal' : 'proposals'
}

function seconds(count: number): string {
  if (count % 3_600 === 0) return `${count / 3_600} h`
  return count % 60 === 0 ? `${count / 60} min` : `${count} s`
}

/** Policies of many units have the same windows: each is computed once. */
function windowEnds(now: string): (window: PolicyWindow) => string | undefined {
  const ends = new Map<PolicyWindow, string | undefined>()
  return (window) => {
    if (!ends.has(window)) ends.set(window, windowEnd(window, now))
    return ends.get(window)
  }
}

/**
 * Decides which proposals the limits hold back. Open proposals stay open, requested drift is never
 * held, critical drift waits for nothing, and low-risk drift waits only for the digest. Slots go by
 * risk, then age, then name, so the same drift gives the same answer. While the policy is unusable,
 * everything new waits.
 */
import { compareText, convertToOneLine } from '@backporch/kyaml/text'
import { RISKS, type Risk } from '../../../drift/compare/drift.ts'
import type { Limits } from '../../../policy/effective-policy.ts'
import {
  findNextScheduledTime,
  findWindowEnd,
  isScheduled,
  type PolicyWindow,
  type ScheduledWindow,
} from '../../../policy/windows.ts'
import { getDriftId } from '../../../proposal/text/dashboard-ticks.ts'
import { commitText } from '../../../record/commit-text.ts'
import { findWorstRisk } from '../../observation/closed-episode.ts'
import { addSeconds, getRestingSince } from '../../observation/drift-age.ts'
import type { Hold } from '../../observation/hold.ts'
import { createLabelWindowTest } from '../../observation/label-windows.ts'
import { formatUnitKey, type PlannedUnit } from '../../observation/planned-unit.ts'
import type { OpenProposals } from './open-proposals.ts'
import type { Storm } from './storm.ts'

export interface LimitsQuestion {
  readonly units: readonly PlannedUnit[]
  readonly limits: Limits
  /** Holds everything while the base commit's policy is unusable. */
  readonly policy?: Hold | undefined
  readonly proposals: OpenProposals
  readonly storm: Storm | undefined
  /** `getDriftId` of drift with a ticked box. */
  readonly requested: ReadonlySet<string>
  /** RFC 3339 UTC: the turn's latest observation. */
  readonly now: string
}

interface Opening {
  readonly units: readonly PlannedUnit[]
  readonly risk: Risk
  readonly since: string
  readonly name: string
  readonly free: boolean
}

/** Drift that keeps changing is shown after this many times the age that it never reaches. */
const PATIENCE = 5
const HOUR = 3_600

export function planHolds(question: LimitsQuestion): ReadonlyMap<string, Hold> {
  const { limits, proposals, now, policy } = question
  const openings = listNewOpenings(question)
  if (policy !== undefined)
    return new Map(openings.flatMap(({ units }) => units.map((unit) => [getUnitKey(unit), policy])))
  const free = openings.filter((opening) => opening.free)
  const taken = (proposed: number): readonly string[] => [
    ...proposals.openings,
    ...Array.from({ length: proposed }, () => now),
  ]
  const holds = new Map<string, Hold>()
  const times = {
    endOf: cacheResults((window: ScheduledWindow) => findWindowEnd(window, now)),
    digestOf: cacheResults((since: string) =>
      limits.digest === undefined ? undefined : findNextScheduledTime(limits.digest, since),
    ),
  }
  let opened = free.length
  let waiting = 0
  for (const opening of openings) {
    if (opening.free) continue
    const hold =
      chooseHold(opening, question, times) ??
      findSlotHold(opening, limits, {
        open: proposals.open.size + opened,
        openings: taken(opened),
        waiting,
      })
    if (hold === undefined) opened += 1
    else if (hold.reason === 'hourly-limit') waiting += 1
    if (hold !== undefined) for (const unit of opening.units) holds.set(getUnitKey(unit), hold)
  }
  return holds
}

function getUnitKey({ observation: { unit } }: PlannedUnit): string {
  return formatUnitKey(unit.cluster, unit.packagePath)
}

function listNewOpenings({ units, requested }: LimitsQuestion): readonly Opening[] {
  const isNew = ({ plan, observation }: PlannedUnit): boolean =>
    plan.report.status.lifecycle === 'Proposed' &&
    !observation.git.refs.has(`refs/heads/${plan.branch}`)
  const byBranch = Map.groupBy(units.filter(isNew), ({ plan }) => plan.branch)
  return [...byBranch.values()]
    .map((own): Opening => {
      const risk = findWorstRisk(own.flatMap(({ plan }) => plan.report.spec.changes)) ?? 'low'
      const times = own.map(
        ({ plan, observation }) => plan.record?.spec.began ?? observation.cluster.observedAt,
      )
      const names = own.map(getUnitKey)
      return {
        units: own,
        risk,
        since: times.sort()[0] ?? '',
        name: names.sort()[0] ?? '',
        free:
          risk === 'critical' ||
          own.some(({ plan }) => requested.has(getDriftId(plan.report.spec.fingerprint) ?? '')),
      }
    })
    .sort(
      (left, right) =>
        RISKS.indexOf(left.risk) - RISKS.indexOf(right.risk) ||
        compareText(left.since, right.since) ||
        compareText(left.name, right.name),
    )
}

interface Times {
  readonly endOf: (window: ScheduledWindow) => string | undefined
  readonly digestOf: (since: string) => string | undefined
}

function chooseHold(
  { units, risk, since }: Opening,
  { limits, storm, now }: LimitsQuestion,
  times: Times,
): Hold | undefined {
  // No time passes in a recording: waiting for it would never end.
  const live = units.filter(({ observation }) => !observation.cluster.recorded)
  if (live.length === 0) return undefined
  const stormy = storm === undefined ? undefined : findStormHold(live, storm, limits)
  if (stormy !== undefined) return stormy
  const open = live.flatMap((unit) => openWindows(unit, risk, times))
  const [last] = open.sort(
    (left, right) =>
      compareText(right.until, left.until) || compareText(left.window.where, right.window.where),
  )
  if (last !== undefined) {
    const { name, where } = last.window
    const why = `the window ${convertToOneLine(commitText(name), 60)} of the policy is open (${convertToOneLine(where)})`
    return last.until === FOR_EVER
      ? { reason: 'window', why: `${why}, as long as an object or its Namespace has the label` }
      : { reason: 'window', until: last.until, why }
  }
  const digest = risk === 'low' ? times.digestOf(since) : undefined
  if (digest !== undefined && digest > now)
    return {
      reason: 'digest',
      until: digest,
      why: 'only labels or annotations differ, which are low risk and wait for the digest',
    }
  const rested = live.flatMap(({ plan, observation }) => {
    const { minAge } = observation.policy.detect
    const resting = getRestingSince(plan.report, observation)
    if (resting === undefined) return []
    const [rest, patience] = [addSeconds(resting, minAge), addSeconds(since, PATIENCE * minAge)]
    return [{ minAge, until: rest < patience ? rest : patience }]
  })
  const [young] = rested
    .filter(({ until }) => until > now)
    .sort((left, right) => compareText(right.until, left.until))
  if (young === undefined) return undefined
  return {
    reason: 'min-age',
    until: young.until,
    why: `it is proposed when it has stayed as it is for ${formatSeconds(young.minAge)}`,
  }
}

interface OpenWindow {
  readonly window: PolicyWindow
  /** RFC 3339 UTC, or `FOR_EVER`. */
  readonly until: string
}

const FOR_EVER = '~'

/** A window with an end is open until then; one with a label while a differing object has it. */
function openWindows({ observation }: PlannedUnit, risk: Risk, { endOf }: Times): OpenWindow[] {
  const windows = observation.policy.windows.filter(
    ({ kind, except }) => kind === 'hold' && !except.includes(risk),
  )
  if (windows.length === 0) return []
  const verdicts = windows.every(isScheduled) ? [] : observation.verdicts
  const [isLabelled, differ] = [
    createLabelWindowTest(verdicts),
    verdicts.filter(({ items }) => items.length > 0),
  ]
  return windows.flatMap((window): OpenWindow[] => {
    if (!isScheduled(window))
      return differ.some(({ id }) => isLabelled(window, id)) ? [{ window, until: FOR_EVER }] : []
    const until = endOf(window)
    return until === undefined ? [] : [{ window, until }]
  })
}

function findStormHold(
  live: readonly PlannedUnit[],
  storm: Storm,
  limits: Limits,
): Hold | undefined {
  if (storm.fleet)
    return {
      reason: 'storm',
      why: `more than ${limits.stormThreshold} packages began to differ within an hour`,
    }
  const clusters = live.map(({ observation }) => observation.unit.cluster).sort()
  const [first] = clusters
  if (first === undefined || clusters.some((cluster) => !storm.clusters.has(cluster)))
    return undefined
  const most = `more than ${limits.stormObjects} objects and more than ${limits.stormShare} % of all objects`
  return {
    reason: 'storm',
    why: `${most} of the cluster ${convertToOneLine(commitText(first), 60)} began to differ within an hour`,
  }
}

interface Slots {
  readonly open: number
  /** RFC 3339 UTC, ascending: within the last hour. */
  readonly openings: readonly string[]
  readonly waiting: number
}

function findSlotHold(
  { units }: Opening,
  limits: Limits,
  { open, openings, waiting }: Slots,
): Hold | undefined {
  const { prConcurrentLimit, prHourlyLimit } = limits
  if (prConcurrentLimit !== 0 && open >= prConcurrentLimit) {
    return {
      reason: 'concurrent-limit',
      why: `the policy allows ${prConcurrentLimit} open ${formatProposalWord(prConcurrentLimit)} at once`,
    }
  }
  if (
    prHourlyLimit === 0 ||
    openings.length < prHourlyLimit ||
    units.every(({ observation }) => observation.cluster.recorded)
  )
    return undefined
  const freed = openings[openings.length - prHourlyLimit + waiting]
  const why = `the policy allows ${prHourlyLimit} new ${formatProposalWord(prHourlyLimit)} in an hour`
  return {
    reason: 'hourly-limit',
    ...(freed === undefined ? {} : { until: addSeconds(freed, HOUR) }),
    why,
  }
}

function formatProposalWord(count: number): string {
  return count === 1 ? 'proposal' : 'proposals'
}

function formatSeconds(count: number): string {
  if (count % 3_600 === 0) return `${count / 3_600} h`
  return count % 60 === 0 ? `${count / 60} min` : `${count} s`
}

function cacheResults<Key>(
  compute: (key: Key) => string | undefined,
): (key: Key) => string | undefined {
  const known = new Map<Key, string | undefined>()
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key))
    return known.get(key)
  }
}

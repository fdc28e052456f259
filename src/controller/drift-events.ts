/**
 * The ledger that the turn read contains what was known, so that another process does not report it
 * again.
 */
import type { DriftEvent } from '@backporch/cluster/drift-events'
import { getMetadataText, getResourceKey } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import { type ObjectVerdict, RISKS } from '../drift/compare/drift.ts'
import type { PlannedResult } from '../plan/unit/unit-result.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'
import { computeActorLimit, formatActorName } from '../record/actor-name.ts'
import type { Change } from '../record/documents/change.ts'
import { formatSides } from '../record/format-value.ts'

/** Limit of the API server. */
const MOST_BYTES = 1_024
const MOST_FIELDS = 3
/** In other states the drift was declined or waits for the syncer. */
const DRIFTING: ReadonlySet<string> = new Set(['Drifted', 'Applying'])

/** Worst risk first. Empty if the turn wrote nothing: a later turn then finds the same changes. */
export function createDriftEvents(result: TurnResult): ReadonlyMap<string, readonly DriftEvent[]> {
  const events = new Map<string, readonly Ranked[]>()
  if (result.updates.length === 0) return new Map()
  for (const unit of result.units) {
    if (unit.state === 'failed' || unit.refused !== undefined) continue
    const { cluster } = unit.unit
    events.set(cluster, [
      ...(events.get(cluster) ?? []),
      ...createUnitEvents(unit, findProposalUrl(unit, result)),
    ])
  }
  const sorted = [...events].flatMap(([cluster, ranked]) => {
    const [first, ...rest] = ranked
      .toSorted((left, right) => left.rank - right.rank)
      .map(({ event }) => event)
    return first === undefined ? [] : [[cluster, [first, ...rest]] as const]
  })
  return new Map(sorted)
}

interface Ranked {
  readonly event: DriftEvent
  readonly rank: number
}

function createUnitEvents(
  { plan, observation }: PlannedResult,
  url: string | undefined,
): readonly Ranked[] {
  const before = groupByObject(observation.git.ledger.report?.spec.changes ?? [])
  const now = groupByObject(plan.report.spec.changes)
  const verdicts = new Map(
    observation.verdicts.map((verdict) => [getResourceKey(verdict.id), verdict]),
  )
  const detected = [...now].flatMap(([key, changes]): Ranked[] => {
    const [first] = changes
    if (first === undefined || before.has(key) || !DRIFTING.has(plan.report.status.state)) return []
    const rank = Math.min(...changes.map(({ risk }) => RISKS.indexOf(risk)))
    return [
      {
        rank,
        event: {
          reason: 'DriftDetected',
          regarding: first.ref,
          ...getLiveVersion(verdicts.get(key)),
          note: formatDetectedNote(changes, url),
        },
      },
    ]
  })
  const gone = [...before].flatMap(([key, [first]]): Ranked[] => {
    const verdict = verdicts.get(key)
    // What could not be observed is not gone.
    const isGone =
      verdict === undefined ? observation.incomplete.length === 0 : verdict.state === 'in-sync'
    if (first === undefined || now.has(key) || !isGone) return []
    const [apiVersion, note] = [
      verdict?.apiVersion || undefined,
      fitText('no difference to git that needs a decision is left', url),
    ]
    return [
      {
        rank: RISKS.length,
        event: {
          reason: 'DriftGone',
          regarding: first.ref,
          apiVersion,
          uid: undefined,
          resourceVersion: undefined,
          note,
        },
      },
    ]
  })
  return [...detected, ...gone]
}

function groupByObject(changes: readonly Change[]): ReadonlyMap<string, readonly Change[]> {
  return Map.groupBy(changes, ({ ref }) => getResourceKey(ref))
}

function getLiveVersion(
  verdict: ObjectVerdict | undefined,
): Pick<DriftEvent, 'apiVersion' | 'uid' | 'resourceVersion'> {
  const resourceVersion =
    verdict?.live === undefined ? undefined : getMetadataText(verdict.live, 'resourceVersion')
  const item = verdict?.items[0]
  return {
    apiVersion: verdict?.apiVersion || undefined,
    uid: item === undefined ? undefined : (item.uid ?? null),
    resourceVersion: resourceVersion || undefined,
  }
}

function findProposalUrl(
  { plan, observation }: PlannedResult,
  { proposals }: TurnResult,
): string | undefined {
  const [open] = plan.openBranches
  const ended = open === undefined ? undefined : observation.proposals.get(open.ref)
  return (proposals.get(plan.branch)?.url ?? ended?.url) || undefined
}

function formatDetectedNote(changes: readonly Change[], url: string | undefined): string {
  const shown = changes.slice(0, MOST_FIELDS).map(changeText)
  const left = changes.length - shown.length
  return fitText(
    [...shown, ...(left === 0 ? [] : [`${left} more change${left === 1 ? '' : 's'}`])].join('; '),
    url,
  )
}

function changeText(change: Change): string {
  const { path, actor } = change
  const { git, live } = formatSides(change)
  const what =
    path === undefined ? change.change : `${convertToOneLine(path, 100)} ${git} → ${live}`
  if (actor.confidence === 'none') return `${what} by an unknown writer`
  return `${what} ${actor.confidence === 'last-writer' ? 'perhaps ' : ''}by ${convertToOneLine(formatActorName(actor), computeActorLimit(actor, 40))}`
}

/** The URL is never cut. */
function fitText(text: string, url: string | undefined): string {
  const tail = url === undefined || Buffer.byteLength(url) > MOST_BYTES / 2 ? '' : `; ${url}`
  const room = MOST_BYTES - Buffer.byteLength(tail)
  let limit = room
  while (Buffer.byteLength(convertToOneLine(text, limit)) > room) limit -= 1
  return convertToOneLine(text, limit) + tail
}

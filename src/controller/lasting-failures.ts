/**
 * Each is logged when it begins, and when a turn shows its end. A turn about some packages meets no
 * failure of the others, so each failure stores what would show its end.
 */
import { type Failure, listFailures } from '@backporch/kyaml/failure'
import { formatLoggableName, type Loggable } from '@backporch/kyaml/redaction'
import { omitUndefined } from '@backporch/kyaml/text'
import { listUnitFailures, type UnitResult } from '../plan/unit/unit-result.ts'
import type { Log, ReportedFailure } from '../ports/log.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'
import type { TurnScope } from './turn-intake.ts'
import {
  createUnreadFailures,
  getUnreadCauseKey,
  listUnreadObjects,
  type UnreadObjects,
} from './unread-objects.ts'

/**
 * `read`: git, policies and the forge were read; `observed`: its cluster or package was observed;
 * `everything`: a turn about everything had a result.
 */
type Ending = 'read' | 'observed' | 'everything'

interface LastingFailure extends ReportedFailure {
  readonly ending: Ending
  readonly key: string
}

interface FailedTurn {
  readonly thrown: unknown
  /** It got no further than git and the forge. */
  readonly isReading: boolean
  /** Empty without a session. */
  readonly clusters: readonly string[]
}

export class LastingFailures {
  private readonly log: Log
  private readonly onChange: (failures: readonly Failure[]) => void
  private known: ReadonlyMap<string, LastingFailure> = new Map()
  /** By cause and package: a cause shared by several packages is one failure. */
  private unread: ReadonlyMap<string, UnreadObjects> = new Map()

  /** @param onChange gets all current failures */
  constructor(log: Log, onChange: (failures: readonly Failure[]) => void) {
    this.log = log
    this.onChange = onChange
  }

  recordFailedTurn({ thrown, isReading, clusters: [cluster, ...others] }: FailedTurn): void {
    const only =
      cluster === undefined || others.length > 0 ? undefined : formatLoggableName(cluster)
    const now = listFailures(thrown).map((failure) => {
      if (isReading) return createLastingFailure({ failure }, 'read', computeOutageKey)
      const isOfCluster = only !== undefined && failure.code.startsWith('BP30')
      return isOfCluster
        ? createLastingFailure({ failure, cluster: only }, 'observed', computeOutageKey)
        : createLastingFailure({ failure }, 'everything', computeOutageKey)
    })
    // Policies are in git, so an invalid policy shows that git was read.
    const isGitRead = now.some(({ failure: { code } }) => code === 'BP1005')
    this.replace(
      now,
      ({ ending, failure: { code } }) =>
        ending === 'read' && (!isReading || (isGitRead && code.startsWith('BP40'))),
    )
  }

  /** Git and the forge were read, and nothing changed. */
  recordUnchanged(): void {
    this.replace([], ({ ending }) => ending === 'read')
  }

  recordEndedTurn(scope: TurnScope, result: TurnResult): void {
    const isObserved = matchObserved(scope, result)
    this.replaceUnread(result, isObserved)
    this.replace(listTurnFailures(result), (one) => {
      if (one.ending === 'observed') return isObserved(one)
      return one.ending === 'read' || scope.about === 'everything'
    })
  }

  /** @param isShown whether the turn would have met the failure again */
  private replace(
    now: readonly LastingFailure[],
    isShown: (failure: LastingFailure) => boolean,
  ): void {
    const before = this.known
    const met = new Map(now.map((one) => [one.key, one]))
    const kept = [...before].filter(([key, one]) => !met.has(key) && !isShown(one))
    this.known = new Map([...kept, ...met])
    this.log.logFailures(
      [...met].flatMap(([key, one]) => (before.has(key) ? [] : [convertToReported(one)])),
      'new',
    )
    this.log.logFailures(
      [...before].flatMap(([key, one]) => (this.known.has(key) ? [] : [convertToReported(one)])),
      'gone',
    )
    this.onChange(
      [...this.known.values(), ...listUnreadCauses(this.unread)].map(({ failure }) => failure),
    )
  }

  /** Causes that begin, or end, in one turn are logged together. */
  private replaceUnread({ units }: TurnResult, isObserved: (place: Place) => boolean): void {
    const before = this.unread
    const met = units.flatMap((unit) => (unit.state === 'failed' ? [] : listUnreadObjects(unit)))
    const kept = [...before].filter(([, one]) => !isObserved(one))
    this.unread = new Map([
      ...kept,
      ...met.map((one) => [`${one.package} ${getUnreadCauseKey(one)}`, one] as const),
    ])
    const [causes, now] = [before, this.unread].map(
      (each) => new Set([...each.values()].map(getUnreadCauseKey)),
    )
    this.log.logFailures(
      createUnreadFailures(
        [...this.unread.values()].filter((one) => causes?.has(getUnreadCauseKey(one)) === false),
      ),
      'new',
    )
    this.log.logFailures(
      createUnreadFailures(
        [...before.values()].filter((one) => now?.has(getUnreadCauseKey(one)) === false),
      ),
      'gone',
    )
  }
}

function listUnreadCauses(
  unread: ReadonlyMap<string, UnreadObjects>,
): readonly Pick<ReportedFailure, 'failure'>[] {
  return [...Map.groupBy(unread.values(), getUnreadCauseKey).values()].flatMap(createUnreadFailures)
}

/** The key contains the failure text, which must not be logged. */
function convertToReported({ failure, cluster, package: name }: LastingFailure): ReportedFailure {
  return { failure, ...omitUndefined({ cluster, package: name }) }
}

function createLastingFailure(
  reported: ReportedFailure,
  ending: Ending,
  keyOf = computeFullKey,
): LastingFailure {
  return { ...reported, ending, key: keyOf(reported) }
}

function computeFullKey({
  failure: { code, where, message },
  cluster,
  package: name,
}: ReportedFailure): string {
  return JSON.stringify([code, where, message, cluster, name])
}

/** During an outage, each attempt may fail for another reason. */
function computeOutageKey(reported: ReportedFailure): string {
  const { failure, cluster } = reported
  return failure.retry === 'backoff'
    ? JSON.stringify([failure.code, failure.where, cluster])
    : computeFullKey(reported)
}

type Place = Pick<ReportedFailure, 'cluster' | 'package'>

function matchObserved(
  scope: TurnScope,
  { notObserved, units }: TurnResult,
): (failure: Place) => boolean {
  const lost = new Set<string>(notObserved.map(({ cluster }) => formatLoggableName(cluster)))
  if (scope.about !== 'units') return ({ cluster }) => !lost.has(cluster ?? '')
  const asked = new Set<string>(
    [...scope.only.keys()].map((cluster) => formatLoggableName(cluster)),
  )
  const seen = new Set(units.map((unit) => Object.values(getPlace(unit)).join(' ')))
  return ({ cluster = '', package: name }) =>
    asked.has(cluster) &&
    !lost.has(cluster) &&
    (name === undefined || seen.has(`${cluster} ${name}`))
}

export function listTurnFailures(result: TurnResult): readonly LastingFailure[] {
  return [
    ...result.notObserved.flatMap(({ cluster, failures }) =>
      failures.map((failure) =>
        createLastingFailure(
          { failure, cluster: formatLoggableName(cluster) },
          'observed',
          computeOutageKey,
        ),
      ),
    ),
    ...result.units.flatMap((unit) =>
      listUnitFailures(unit).map((failure) =>
        createLastingFailure({ failure, ...getPlace(unit) }, 'observed'),
      ),
    ),
    ...[...result.reported, ...result.unsettled].map((failure) =>
      createLastingFailure({ failure }, 'everything'),
    ),
  ]
}

function getPlace(unit: UnitResult): { readonly cluster: Loggable; readonly package: Loggable } {
  const [cluster, name] =
    unit.state === 'failed'
      ? [unit.cluster, unit.packagePath]
      : [unit.unit.cluster, unit.unit.packageName]
  return { cluster: formatLoggableName(cluster), package: formatLoggableName(name || '.') }
}

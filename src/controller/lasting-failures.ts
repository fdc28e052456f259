/**
 * Each is logged when it begins, and when a turn shows its end. A turn about some packages meets no
 * failure of the others, so each failure stores what would show its end.
 */
import { type Failure, failuresOf } from '@backporch/kyaml/failure'
import { type Loggable, loggableName } from '@backporch/kyaml/redaction'
import { given } from '@backporch/kyaml/text'
import { type UnitResult, unitFailures } from '../plan/unit/unit-result.ts'
import type { Log, ReportedFailure } from '../ports/log.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'
import type { TurnScope } from './turn-intake.ts'
import { causeKey, type UnreadObjects, unreadFailures, unreadObjectsOf } from './unread-objects.ts'

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

  failed({ thrown, isReading, clusters: [cluster, ...others] }: FailedTurn): void {
    const only = cluster === undefined || others.length > 0 ? undefined : loggableName(cluster)
    const now = failuresOf(thrown).map((failure) => {
      if (isReading) return lasting({ failure }, 'read', outageKey)
      const isOfCluster = only !== undefined && failure.code.startsWith('BP30')
      return isOfCluster
        ? lasting({ failure, cluster: only }, 'observed', outageKey)
        : lasting({ failure }, 'everything', outageKey)
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
  unchanged(): void {
    this.replace([], ({ ending }) => ending === 'read')
  }

  ended(scope: TurnScope, result: TurnResult): void {
    const isObserved = observedBy(scope, result)
    this.replaceUnread(result, isObserved)
    this.replace(failuresIn(result), (one) => {
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
    this.log.failures(
      [...met].flatMap(([key, one]) => (before.has(key) ? [] : [reportedOf(one)])),
      'new',
    )
    this.log.failures(
      [...before].flatMap(([key, one]) => (this.known.has(key) ? [] : [reportedOf(one)])),
      'gone',
    )
    this.onChange(
      [...this.known.values(), ...unreadCauses(this.unread)].map(({ failure }) => failure),
    )
  }

  /** Causes that begin, or end, in one turn are logged together. */
  private replaceUnread({ units }: TurnResult, isObserved: (place: Place) => boolean): void {
    const before = this.unread
    const met = units.flatMap((unit) => (unit.state === 'failed' ? [] : unreadObjectsOf(unit)))
    const kept = [...before].filter(([, one]) => !isObserved(one))
    this.unread = new Map([
      ...kept,
      ...met.map((one) => [`${one.package} ${causeKey(one)}`, one] as const),
    ])
    const [causes, now] = [before, this.unread].map(
      (each) => new Set([...each.values()].map(causeKey)),
    )
    this.log.failures(
      unreadFailures(
        [...this.unread.values()].filter((one) => causes?.has(causeKey(one)) === false),
      ),
      'new',
    )
    this.log.failures(
      unreadFailures([...before.values()].filter((one) => now?.has(causeKey(one)) === false)),
      'gone',
    )
  }
}

function unreadCauses(
  unread: ReadonlyMap<string, UnreadObjects>,
): readonly Pick<ReportedFailure, 'failure'>[] {
  return [...Map.groupBy(unread.values(), causeKey).values()].flatMap(unreadFailures)
}

/** The key contains the failure text, which must not be logged. */
function reportedOf({ failure, cluster, package: name }: LastingFailure): ReportedFailure {
  return { failure, ...given({ cluster, package: name }) }
}

function lasting(reported: ReportedFailure, ending: Ending, keyOf = fullKey): LastingFailure {
  return { ...reported, ending, key: keyOf(reported) }
}

function fullKey({
  failure: { code, where, message },
  cluster,
  package: name,
}: ReportedFailure): string {
  return JSON.stringify([code, where, message, cluster, name])
}

/** During an outage, each attempt may fail for another reason. */
function outageKey(reported: ReportedFailure): string {
  const { failure, cluster } = reported
  return failure.retry === 'backoff'
    ? JSON.stringify([failure.code, failure.where, cluster])
    : fullKey(reported)
}

type Place = Pick<ReportedFailure, 'cluster' | 'package'>

function observedBy(
  scope: TurnScope,
  { notObserved, units }: TurnResult,
): (failure: Place) => boolean {
  const lost = new Set<string>(notObserved.map(({ cluster }) => loggableName(cluster)))
  if (scope.about !== 'units') return ({ cluster }) => !lost.has(cluster ?? '')
  const asked = new Set<string>([...scope.only.keys()].map((cluster) => loggableName(cluster)))
  const seen = new Set(units.map((unit) => Object.values(placeOf(unit)).join(' ')))
  return ({ cluster = '', package: name }) =>
    asked.has(cluster) &&
    !lost.has(cluster) &&
    (name === undefined || seen.has(`${cluster} ${name}`))
}

export function failuresIn(result: TurnResult): readonly LastingFailure[] {
  return [
    ...result.notObserved.flatMap(({ cluster, failures }) =>
      failures.map((failure) =>
        lasting({ failure, cluster: loggableName(cluster) }, 'observed', outageKey),
      ),
    ),
    ...result.units.flatMap((unit) =>
      unitFailures(unit).map((failure) => lasting({ failure, ...placeOf(unit) }, 'observed')),
    ),
    ...[...result.reported, ...result.unsettled].map((failure) =>
      lasting({ failure }, 'everything'),
    ),
  ]
}

function placeOf(unit: UnitResult): { readonly cluster: Loggable; readonly package: Loggable } {
  const [cluster, name] =
    unit.state === 'failed'
      ? [unit.cluster, unit.packagePath]
      : [unit.unit.cluster, unit.unit.packageName]
  return { cluster: loggableName(cluster), package: loggableName(name || '.') }
}

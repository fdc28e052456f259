/**
 * The failures that began and did not end. Each is logged when it begins, and when a turn shows that it is gone. A turn about some packages meets
 * no failure of the others, so each failure has what would show its end.
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
 * What shows that a failure is gone. `read`: git, policies and the forge are read; `observed`: its cluster is, or its package there; `everything`: a
 * turn about everything has a result.
 */
type Ending = 'read' | 'observed' | 'everything'

interface LastingFailure extends ReportedFailure {
  readonly ending: Ending
  /** What is the same failure when it is met again. */
  readonly key: string
}

/** A turn without a result. */
interface FailedTurn {
  readonly thrown: unknown
  /** Whether it came no further than reading git and the forge. */
  readonly isReading: boolean
  /** Of its session; empty where there is none. */
  readonly clusters: readonly string[]
}

export class LastingFailures {
  private readonly log: Log
  private readonly onChange: (failures: readonly Failure[]) => void
  private known: ReadonlyMap<string, LastingFailure> = new Map()
  /** By cause and package: a cause that several packages have is one failure. */
  private unread: ReadonlyMap<string, UnreadObjects> = new Map()

  /** @param onChange called with all that last, after each turn that says something of them */
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
    // Policies are in git, so a policy that is not valid shows that git is read.
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

  /** Causes that begin in one turn are logged together, and so are those that end. */
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

/** One for each cause. */
function unreadCauses(
  unread: ReadonlyMap<string, UnreadObjects>,
): readonly Pick<ReportedFailure, 'failure'>[] {
  return [...Map.groupBy(unread.values(), causeKey).values()].flatMap(unreadFailures)
}

/** Its key has the text of the failure as it is, which no log may have. */
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

/** While a server is away, each attempt may find another reason. */
function outageKey(reported: ReportedFailure): string {
  const { failure, cluster } = reported
  return failure.retry === 'backoff'
    ? JSON.stringify([failure.code, failure.where, cluster])
    : fullKey(reported)
}

type Place = Pick<ReportedFailure, 'cluster' | 'package'>

/** Whether the turn observed the package of a failure, or its cluster. */
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

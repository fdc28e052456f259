/**
 * Names the units that a change in the cluster concerns. A change has no effect if the object is as
 * judged except for parts that decide no verdict. It is level-triggered: it only names units, and
 * the next observation reads the cluster.
 */
import {
  type KindWatchState,
  STALE_AFTER,
  type WatchedKind,
  type WatchObserver,
} from '@backporch/cluster/cluster-watch'
import type { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, parseApiVersion, readResource } from '@backporch/kyaml/resource'
import { compareText } from '@backporch/kyaml/text'
import { LRUCache } from 'lru-cache'
import { SCALER_KINDS } from '../../../drift/noise/scaler.ts'
import { computeStatus } from '../../../status/kstatus.ts'
import { type ClusterVerdicts, isEqual, NO_MARK, type VerdictScope } from './cluster-verdicts.ts'
import { FollowedScalers, SCALERS } from './followed-scalers.ts'
import { FollowedSources, listOtherSourceKinds } from './followed-sources.ts'
import { EPOCH_KINDS, KindEpochs } from './kind-epochs.ts'
import { packState, type RowState, unpackState } from './row-state.ts'

/**
 * `object`: not what was judged. `report`: of a syncer or autoscaler. `status`: an object's health.
 * `epoch`: a server may answer a dry run differently. `source`: a syncer may apply other folders,
 * so the set of units is unknown.
 */
type ChangeReason = 'object' | 'report' | 'status' | 'epoch' | 'source'

export interface UnitChange {
  readonly units: readonly string[]
  readonly reason: ChangeReason
  readonly object?: JsonObject
  /** Milliseconds of the monotonic clock. */
  readonly read: number
}

interface FollowerOptions {
  readonly verdicts: ClusterVerdicts
  readonly onChange: (change: UnitChange) => void
  readonly onListed?: () => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** A turn that adds an object's unit may have read it before the change. */
const MOST_UNKNOWN = 5_000

/** Secrets of a cluster, each with a stream; of more, all are watched. */
const MOST_NAMED = 50

interface Sighting {
  readonly isListed: boolean
  readonly read: number
}

const SCALER_VERSIONS: Readonly<Record<string, string>> = {
  autoscaling: 'autoscaling/v2',
  'keda.sh': 'keda.sh/v1alpha1',
  'autoscaling.k8s.io': 'autoscaling.k8s.io/v1',
}

export class ClusterFollower implements WatchObserver {
  private readonly options: FollowerOptions
  /** By kind in its namespace, as hash by `textOf`. */
  private readonly lists = new Map<string, Set<string>>()
  private readonly scalers: FollowedScalers
  private readonly sources: FollowedSources
  private readonly unknown = createLimitedCache<{ readonly mark: string; readonly report: string }>(
    MOST_UNKNOWN,
  )
  /** `group/Kind`, in all namespaces. */
  private readonly refused = new Set<string>()

  constructor(options: FollowerOptions) {
    this.options = options
    this.scalers = new FollowedScalers(options.verdicts)
    this.sources = new FollowedSources(options.verdicts)
  }

  /** Kinds of the units, those that report on them, and those that decide dry runs. */
  listKinds(): readonly WatchedKind[] {
    const wanted = new Map<string, WatchedKind>()
    const add = (kind: WatchedKind): unknown => wanted.set(getPlace(kind), kind)
    for (const kind of EPOCH_KINDS) add(kind)
    for (const [group, kind] of SCALER_KINDS)
      add({ apiVersion: SCALER_VERSIONS[group] ?? group, kind, namespace: '', metadataOnly: false })
    const scopes = this.options.verdicts.listScopes().toSorted(compareVersion)
    const isNamed = scopes.filter(({ name }) => name !== undefined).length <= MOST_NAMED
    for (const { apiVersion, kind, namespace, name } of scopes) {
      const metadataOnly = formatKind({ apiVersion, kind }) === '/Secret'
      // An account may have rights for the Secrets of the packages only, by name. After a start the
      // names are unknown until the first observation, which reads the Secrets.
      if (metadataOnly && isNamed) {
        if (name !== undefined) add({ apiVersion, kind, namespace, name, metadataOnly })
        continue
      }
      add({
        apiVersion,
        kind,
        metadataOnly,
        namespace: this.refused.has(formatKind({ apiVersion, kind })) ? namespace : '',
      })
    }
    for (const { group, version, kind } of listOtherSourceKinds(
      new Set([...wanted.values()].map(formatKind)),
    )) {
      const watched = {
        apiVersion: `${group}/${version}`,
        kind,
        namespace: '',
        metadataOnly: false,
      }
      if (!wanted.has(getPlace(watched)) && !this.refused.has(formatKind(watched))) add(watched)
    }
    return [...wanted.values()]
  }

  /**
   * Undefined if no change can be missed.
   * @param now milliseconds since 1970
   */
  findBlindness(states: readonly KindWatchState[], now: number): string | undefined {
    const byPlace = new Map(states.map((state) => [getPlace(state.watched), state]))
    for (const kind of this.listKinds()) {
      // Few clusters serve them all, and they affect no proof.
      if (SCALERS.has(formatKind(kind)) || KindEpochs.isAbout(kind)) continue
      const state = byPlace.get(getPlace(kind))
      // A kind that the server does not serve has no objects.
      if (state?.failure?.code === 'BP3009' && !this.hasOthers(kind)) continue
      if (state === undefined || state.lists === 0) return `${kind.kind} was not listed yet`
      if (state.state === 'unreadable')
        return state.failure?.why ?? `${kind.kind} cannot be watched`
      if (now - state.provenAt > STALE_AFTER)
        return `the watch of ${kind.kind} received nothing for ${Math.round((now - state.provenAt) / 1000)} s`
    }
    return undefined
  }

  /** Not only for the reports of syncers, which may run in another cluster. */
  private hasOthers(kind: WatchedKind): boolean {
    const { verdicts } = this.options
    return [...verdicts.table.listPositions()].some((at) => {
      const { scope, verdict } = unpackState(verdicts.table.getRow(at).state)
      const own = verdicts.getScopeAt(scope)
      return verdict !== 'report' && own !== undefined && formatKind(own) === formatKind(kind)
    })
  }

  beginList(kind: WatchedKind): void {
    if (KindEpochs.isAbout(kind)) this.options.verdicts.epochs.beginList(kind)
    else this.lists.set(getPlace(kind), new Set())
  }

  handleChange(kind: WatchedKind, object: JsonObject, read: number): void {
    const { verdicts } = this.options
    if (KindEpochs.isAbout(kind)) {
      this.reportEpochChange(verdicts.epochs.handleChange(kind, object), read)
      return
    }
    const found = readResource(object)
    if ('problem' in found) return
    const hash = verdicts.computeHash(found.id)
    const list = this.lists.get(getPlace(kind))
    list?.add(formatWords(hash))
    const sighting = { isListed: list !== undefined, read }
    this.reportExplained(
      this.scalers.handleChange(formatKind(kind), found.id, object, list !== undefined),
      read,
    )
    if (this.sources.handleChange(formatKind(kind), found.id, object, list !== undefined))
      this.reportSourcesChange(read)
    const positions = verdicts.table.find(hash)
    if (positions.length === 0 && list === undefined)
      this.unknown.set(formatWords(hash), {
        mark: formatWords(verdicts.createMark(object)),
        report: formatWords(verdicts.chooseMark('report', object)),
      })
    for (const at of positions) this.compare(at, object, sighting)
  }

  handleDeletion(kind: WatchedKind, object: JsonObject, read: number): void {
    const { verdicts } = this.options
    if (KindEpochs.isAbout(kind)) {
      this.reportEpochChange(verdicts.epochs.handleDeletion(kind, object), read)
      return
    }
    const found = readResource(object)
    if ('problem' in found) return
    this.reportExplained(this.scalers.handleDeletion(found.id), read)
    if (this.sources.handleDeletion(formatKind(kind), found.id)) this.reportSourcesChange(read)
    for (const at of verdicts.table.find(verdicts.computeHash(found.id))) this.handleGone(at, read)
  }

  finishList(kind: WatchedKind): void {
    this.sweep(kind)
    this.options.onListed?.()
  }

  private sweep(kind: WatchedKind): void {
    const { verdicts } = this.options
    const seen = this.lists.get(getPlace(kind))
    this.lists.delete(getPlace(kind))
    if (KindEpochs.isAbout(kind))
      for (const affected of verdicts.epochs.finishList(kind))
        this.reportEpochChange(affected, performance.now())
    if (seen === undefined) return
    this.reportExplained(this.scalers.finishList(formatKind(kind), seen))
    const read = performance.now()
    if (this.sources.finishList(formatKind(kind), seen)) this.reportSourcesChange(read)
    const only = kind.name === undefined ? undefined : this.formatIdHash(kind, kind.name)
    for (const at of [...verdicts.table.listPositions()]) {
      const scope = verdicts.getScopeAt(unpackState(verdicts.table.getRow(at).state).scope)
      const isIn =
        scope !== undefined &&
        formatKind(scope) === formatKind(kind) &&
        (kind.namespace === '' || kind.namespace === scope.namespace)
      const hash = formatWords(verdicts.table.getIdAt(at))
      if (isIn && (only === undefined || only === hash) && !seen.has(hash))
        this.handleGone(at, read)
    }
  }

  private formatIdHash(watched: WatchedKind, name: string): string {
    const { group } = parseApiVersion(watched.apiVersion)
    const { kind, namespace } = watched
    return formatWords(this.options.verdicts.computeHash({ group, kind, namespace, name }))
  }

  handleUnreadable(kind: WatchedKind, failure: Failure): void {
    this.lists.delete(getPlace(kind))
    this.options.verdicts.epochs.handleUnreadable(kind)
    this.reportExplained(this.scalers.handleUnreadable(formatKind(kind), failure))
    if (failure.code === 'BP3003' && kind.namespace === '') this.refused.add(formatKind(kind))
  }

  settle(): void {
    const { verdicts } = this.options
    const units = new Set<string>()
    for (const at of verdicts.table.listPositions()) {
      const seen = this.unknown.get(formatWords(verdicts.table.getIdAt(at)))
      const row = verdicts.table.getRow(at)
      const { marked, verdict } = unpackState(row.state)
      const mark = verdict === 'report' ? seen?.report : seen?.mark
      if (marked && mark !== undefined && mark !== formatWords(row.mark))
        units.add(verdicts.getUnitAt(row.unit))
    }
    this.unknown.clear()
    if (units.size > 0)
      this.options.onChange({ units: [...units], reason: 'object', read: performance.now() })
  }

  private compare(at: number, object: JsonObject, { isListed, read }: Sighting): void {
    const { verdicts, onChange } = this.options
    const row = verdicts.table.getRow(at)
    const state = unpackState(row.state)
    const units = [verdicts.getUnitAt(row.unit)]
    const isReport = state.verdict === 'report'
    const mark = verdicts.chooseMark(state.verdict, object)
    const isSame = isEqual(row.mark, mark)
    const reason = isReport ? 'report' : 'object'
    if (!state.marked || isReport || state.verdict === 'other') {
      verdicts.table.setMark(at, mark)
      this.setState(at, { ...state, marked: true })
      const isFirst = !state.marked && isListed && state.verdict !== 'unreadable'
      if (!isSame && !isFirst) onChange({ units, reason, object, read })
      return
    }
    this.handleHealthChange(at, { state, units }, object, read)
    if (!isSame) onChange({ units, reason, object, read })
  }

  /** The health of an object may change while it stays in sync. */
  private handleHealthChange(
    at: number,
    { state, units }: { readonly state: RowState; readonly units: readonly string[] },
    object: JsonObject,
    read: number,
  ): void {
    const { onChange, now } = this.options
    if (state.status === undefined) return
    const { status } = computeStatus(object, new Date(now()))
    if (status === state.status) return
    this.setState(at, { ...state, status })
    onChange({ units, reason: 'status', read })
  }

  private handleGone(at: number, read: number): void {
    const { verdicts, onChange } = this.options
    const row = verdicts.table.getRow(at)
    const state = unpackState(row.state)
    if (state.verdict === 'absent') return
    if (state.verdict === 'report' || state.verdict === 'other') {
      if (state.marked && isEqual(row.mark, NO_MARK)) return
      verdicts.table.setMark(at, NO_MARK)
      this.setState(at, { ...state, marked: true })
    }
    onChange({
      units: [verdicts.getUnitAt(row.unit)],
      reason: state.verdict === 'report' ? 'report' : 'object',
      read,
    })
  }

  private setState(at: number, state: RowState): void {
    this.options.verdicts.table.setState(at, packState(state))
  }

  private reportExplained(units: ReadonlySet<string>, read = performance.now()): void {
    if (units.size > 0) this.options.onChange({ units: [...units], reason: 'report', read })
  }

  private reportSourcesChange(read: number): void {
    this.options.onChange({ units: [], reason: 'source', read })
  }

  private reportEpochChange(kind: string | undefined, read: number): void {
    if (kind === undefined) return
    const { verdicts, onChange } = this.options
    const units = new Set<string>()
    for (const at of verdicts.table.listPositions()) {
      const row = verdicts.table.getRow(at)
      const scope = verdicts.getScopeAt(unpackState(row.state).scope)
      if (kind === '*' || (scope !== undefined && formatKind(scope) === kind))
        units.add(verdicts.getUnitAt(row.unit))
    }
    if (units.size > 0) onChange({ units: [...units], reason: 'epoch', read })
  }
}

/** With `max` the cache would preallocate all entries: half a megabyte per cluster. */
function createLimitedCache<Value extends object | string>(
  entries: number,
): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entries, sizeCalculation: () => 1 })
}

function compareVersion(
  { apiVersion: left }: VerdictScope,
  { apiVersion: right }: VerdictScope,
): number {
  return compareText(left, right)
}

function formatKind({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string
  readonly kind: string
}): string {
  return `${parseApiVersion(apiVersion).group}/${kind}`
}

function getPlace(kind: WatchedKind): string {
  return getResourceKey({
    group: parseApiVersion(kind.apiVersion).group,
    kind: kind.kind,
    namespace: kind.namespace,
    name: kind.name ?? '',
  })
}

function formatWords(words: Uint32Array): string {
  return words.join(' ')
}

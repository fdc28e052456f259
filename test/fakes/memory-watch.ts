/** Changes of a `MemoryCluster` as a watch tells them: nothing is told before `deliver`, and a test may lose, repeat or reorder events. */
import type {
  ClusterWatch,
  KindWatchState,
  WatchedKind,
  WatchObserver,
} from '@backporch/cluster/cluster-watch'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey } from '@backporch/kyaml/resource'
import { forbidden, idOf, type MemoryCluster } from './memory-cluster.ts'

export interface WatchEvent {
  readonly key: string
  /** The object as it was then. */
  readonly object: JsonObject
  readonly isGone: boolean
}

type Mutable<Type> = { -readonly [key in keyof Type]: Type[key] }

export class MemoryWatch implements ClusterWatch {
  readonly cluster: string
  /** Not told yet, in the order of the server. */
  waiting: WatchEvent[] = []
  /** Told, for a test that repeats some. */
  readonly told: WatchEvent[] = []
  /** Kinds (`group/Kind`) that may not be followed in all namespaces. */
  readonly forbidden = new Set<string>()
  private readonly source: MemoryCluster
  private readonly observer: WatchObserver
  /** By their place. */
  private readonly kinds = new Map<string, Mutable<KindWatchState>>()
  private heardAt = 0

  constructor(source: MemoryCluster, observer: WatchObserver) {
    this.cluster = source.name
    this.source = source
    this.observer = observer
    const { objects } = source
    const [set, remove] = [objects.set.bind(objects), objects.delete.bind(objects)]
    objects.set = (key, object) => {
      this.waiting.push({ key, object, isGone: false })
      return set(key, object)
    }
    objects.delete = (key) => {
      const object = objects.get(key)
      if (object !== undefined) this.waiting.push({ key, object, isGone: true })
      return remove(key)
    }
  }

  follow(kinds: readonly WatchedKind[]): void {
    const wanted = new Map(kinds.map((kind) => [placeOf(kind), kind]))
    for (const place of [...this.kinds.keys()]) if (!wanted.has(place)) this.kinds.delete(place)
    for (const [place, watched] of wanted) {
      if (this.kinds.has(place)) continue
      const fresh = { provenAt: 0, failure: undefined, lists: 0, reopened: 0, events: 0 } as const
      this.kinds.set(place, { watched, state: 'listing', ...fresh })
    }
    setImmediate(() => this.deliver())
  }

  state(): readonly KindWatchState[] {
    this.hear()
    const failure = this.source.unreachable
    return [...this.kinds.values()].map((state) => {
      if (state.state !== 'watching') return state
      return {
        ...state,
        provenAt: this.heardAt,
        ...(failure === undefined ? {} : { state: 'waiting', failure }),
      }
    })
  }

  async close(): Promise<void> {
    this.kinds.clear()
  }

  /** Tells everything that waits, and lists the kinds that are not listed. */
  deliver(): void {
    if (!this.hear()) return
    for (const state of this.kinds.values())
      if (state.state === 'watching' && this.isForbidden(state)) this.refuse(state)
    for (const event of this.waiting.splice(0)) this.tell(event)
    for (const state of this.kinds.values()) {
      if (state.state === 'listing' || (state.state === 'unreadable' && !this.isForbidden(state)))
        this.list(state)
    }
  }

  /** As a watch whose version is too old: the events that wait are lost, and every kind is listed again. */
  relist(): void {
    if (!this.hear()) return
    this.waiting = []
    for (const state of this.kinds.values()) if (state.state === 'watching') this.list(state)
  }

  /** One event of an object that is, or once was, there. */
  tell(event: WatchEvent): void {
    this.told.push(event)
    for (const state of this.kinds.values()) {
      if (state.state !== 'watching' || !isOf(state.watched, event.key)) continue
      state.events += 1
      if (event.isGone)
        this.observer.handleDeletion(
          state.watched,
          seen(state.watched, event.object),
          performance.now(),
        )
      else
        this.observer.handleChange(
          state.watched,
          seen(state.watched, event.object),
          performance.now(),
        )
    }
  }

  private list(state: Mutable<KindWatchState>): void {
    const { watched } = state
    if (this.isForbidden(state)) {
      this.refuse(state)
      return
    }
    this.observer.beginList(watched)
    for (const [key, object] of this.source.objects)
      if (isOf(watched, key))
        this.observer.handleChange(watched, seen(watched, object), performance.now())
    state.state = 'watching'
    state.failure = undefined
    state.lists += 1
    this.observer.finishList(watched)
  }

  private refuse(state: Mutable<KindWatchState>): void {
    state.state = 'unreadable'
    state.failure = forbidden(state.watched.kind)
    this.observer.handleUnreadable(state.watched, state.failure)
  }

  private isForbidden({ watched }: KindWatchState): boolean {
    const { group, kind } = idOf(placeOf(watched))
    return (
      this.source.isForbidden(group, kind) ||
      (watched.namespace === '' && this.forbidden.has(`${group}/${kind}`))
    )
  }

  /** @returns whether the cluster can be reached */
  private hear(): boolean {
    if (this.source.unreachable !== undefined) return false
    this.heardAt = Date.parse(this.source.now)
    return true
  }
}

function placeOf({ apiVersion, kind, namespace, name = '' }: WatchedKind): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  return getResourceKey({ group, kind, namespace, name })
}

function isOf(watched: WatchedKind, key: string): boolean {
  const { group, kind, namespace, name } = idOf(key)
  const own = { group, kind, namespace: watched.namespace, name: watched.name ?? '' }
  return (
    getResourceKey(own) === placeOf(watched) &&
    (watched.namespace === '' || watched.namespace === namespace) &&
    (watched.name === undefined || watched.name === name)
  )
}

/** Only the metadata of a kind of which nothing else is requested. */
function seen({ metadataOnly }: WatchedKind, object: JsonObject): JsonObject {
  if (!metadataOnly) return object
  const { apiVersion = '', kind = '', metadata = {} } = object
  return { apiVersion, kind, metadata }
}

/** Each repository has a view: its observer gets only events of its own kinds. */
import type {
  ClusterWatch,
  KindWatchState,
  WatchedKind,
  WatchObserver,
} from '@backporch/cluster/cluster-watch'
import type { JsonObject } from '@backporch/kyaml/json'

type OpenWatch = (observer: WatchObserver) => Promise<ClusterWatch | undefined>

export class SharedWatches {
  private readonly sessions = new Map<string, Promise<SharedWatch | undefined>>()

  /**
   * @param cluster identity @returns undefined if the cluster cannot be watched
   * @throws Failure of `open`, which the next call tries again
   */
  async view(
    cluster: string,
    observer: WatchObserver,
    open: OpenWatch,
  ): Promise<ClusterWatch | undefined> {
    for (;;) {
      const opening = this.sessions.get(cluster) ?? this.start(cluster, open)
      const session = await opening
      const view = session?.view(observer)
      if (session === undefined || view !== undefined) return view
      // The last view was closed meanwhile.
      if (this.sessions.get(cluster) === opening) this.sessions.delete(cluster)
    }
  }

  private start(cluster: string, open: OpenWatch): Promise<SharedWatch | undefined> {
    const opening = openShared(open).then(
      (session) => {
        if (session === undefined) this.sessions.delete(cluster)
        return session
      },
      (thrown: unknown) => {
        this.sessions.delete(cluster)
        throw thrown
      },
    )
    this.sessions.set(cluster, opening)
    return opening
  }
}

async function openShared(open: OpenWatch): Promise<SharedWatch | undefined> {
  const router = new EventRouter()
  const watch = await open(router)
  return watch === undefined ? undefined : new SharedWatch(watch, router)
}

/** `waiting`: events of an older list are not for the view. */
type Phase = 'waiting' | 'listing' | 'listed'

interface View {
  readonly observer: WatchObserver
  readonly phases: Map<string, Phase>
}

class EventRouter implements WatchObserver {
  readonly views = new Set<View>()

  beginList(kind: WatchedKind): void {
    this.visitViews(kind, (view, key) => {
      if (view.phases.get(key) === 'waiting') view.phases.set(key, 'listing')
      view.observer.beginList(kind)
    })
  }

  handleChange(kind: WatchedKind, object: JsonObject, read: number): void {
    this.visitViews(kind, (view, key) => {
      if (view.phases.get(key) !== 'waiting') view.observer.handleChange(kind, object, read)
    })
  }

  handleDeletion(kind: WatchedKind, object: JsonObject, read: number): void {
    this.visitViews(kind, (view, key) => {
      if (view.phases.get(key) !== 'waiting') view.observer.handleDeletion(kind, object, read)
    })
  }

  finishList(kind: WatchedKind): void {
    this.visitViews(kind, (view, key) => {
      if (view.phases.get(key) === 'waiting') return
      view.phases.set(key, 'listed')
      view.observer.finishList(kind)
    })
  }

  handleUnreadable(
    kind: WatchedKind,
    failure: Parameters<WatchObserver['handleUnreadable']>[1],
  ): void {
    this.visitViews(kind, (view) => view.observer.handleUnreadable(kind, failure))
  }

  /**
   * An exception of one view does not withhold events from the others.
   * @throws the first exception
   */
  private visitViews(kind: WatchedKind, give: (view: View, key: string) => void): void {
    const key = getKindKey(kind)
    const thrown: unknown[] = []
    for (const view of this.views) {
      if (!view.phases.has(key)) continue
      try {
        give(view, key)
      } catch (failed) {
        thrown.push(failed)
      }
    }
    if (thrown.length > 0) throw thrown[0]
  }
}

/** Before it was listed again for a new view. */
type Before = Pick<KindWatchState, 'provenAt' | 'lists' | 'reopened' | 'events'>

class SharedWatch {
  private readonly watch: ClusterWatch
  private readonly router: EventRouter
  private readonly kinds = new Map<string, WatchedKind>()
  private readonly before = new Map<string, Before>()
  private closing: Promise<void> | undefined

  constructor(watch: ClusterWatch, router: EventRouter) {
    this.watch = watch
    this.router = router
  }

  /** Undefined once closed. */
  view(observer: WatchObserver): ClusterWatch | undefined {
    if (this.closing !== undefined) return undefined
    const view: View = { observer, phases: new Map() }
    this.router.views.add(view)
    return {
      cluster: this.watch.cluster,
      follow: (kinds) => this.follow(view, kinds),
      state: () => this.getState(view),
      close: () => this.leave(view),
    }
  }

  private follow(view: View, kinds: readonly WatchedKind[]): void {
    if (!this.router.views.has(view)) return
    const wanted = new Map(kinds.map((kind) => [getKindKey(kind), kind]))
    for (const key of [...view.phases.keys()]) if (!wanted.has(key)) view.phases.delete(key)
    const fresh = [...wanted].filter(([key]) => !view.phases.has(key))
    const again = fresh.filter(([key]) => this.kinds.has(key) && this.isFollowed(key))
    for (const [key] of fresh) view.phases.set(key, 'waiting')
    for (const [key] of again) this.remember(key)
    this.forget()
    // Nobody keeps objects for the next view.
    for (const [key] of again) this.kinds.delete(key)
    if (again.length > 0) this.watch.follow([...this.kinds.values()])
    for (const [key, kind] of fresh) this.kinds.set(key, kind)
    this.watch.follow([...this.kinds.values()])
  }

  private async leave(view: View): Promise<void> {
    if (this.router.views.delete(view) && this.router.views.size > 0) {
      this.forget()
      this.watch.follow([...this.kinds.values()])
    }
    if (this.router.views.size > 0) return
    this.closing ??= this.watch.close()
    await this.closing
  }

  /** A list for another view is no gap for views that have one. */
  private getState(view: View): readonly KindWatchState[] {
    return this.watch.state().flatMap((state): KindWatchState[] => {
      const key = getKindKey(state.watched)
      const phase = view.phases.get(key)
      if (phase === undefined) return []
      if (phase !== 'listed') return [{ ...state, lists: 0, provenAt: 0 }]
      return [addCounts(state, this.before.get(key))]
    })
  }

  private remember(key: string): void {
    const state = this.watch.state().find(({ watched }) => getKindKey(watched) === key)
    if (state !== undefined) this.before.set(key, addCounts(state, this.before.get(key)))
  }

  private forget(): void {
    for (const key of [...this.kinds.keys()]) {
      if (this.isFollowed(key)) continue
      this.kinds.delete(key)
      this.before.delete(key)
    }
  }

  private isFollowed(key: string): boolean {
    return [...this.router.views].some(({ phases }) => phases.has(key))
  }
}

function addCounts(state: KindWatchState, before: Before | undefined): KindWatchState {
  if (before === undefined) return state
  const [lists, reopened, events] = [
    before.lists + state.lists,
    before.reopened + state.reopened,
    before.events + state.events,
  ]
  return { ...state, provenAt: Math.max(state.provenAt, before.provenAt), lists, reopened, events }
}

function getKindKey({ apiVersion, kind, namespace, name, metadataOnly }: WatchedKind): string {
  return JSON.stringify([apiVersion, kind, namespace, name, metadataOnly])
}

/** Nothing is counted twice. */
export function groupByCluster(
  watches: readonly Pick<ClusterWatch, 'cluster' | 'state'>[],
): readonly Pick<ClusterWatch, 'cluster' | 'state'>[] {
  return [...Map.groupBy(watches, ({ cluster }) => cluster)].map(([cluster, own]) => ({
    cluster,
    state: () => {
      const kinds = new Map<string, KindWatchState>()
      for (const state of own.flatMap((watch) => watch.state())) {
        const known = kinds.get(getKindKey(state.watched))
        if (known === undefined || known.lists < state.lists)
          kinds.set(getKindKey(state.watched), state)
      }
      return [...kinds.values()]
    },
  }))
}

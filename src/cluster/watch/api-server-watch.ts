import type { Clock } from '@backporch/system/clock'
import { Gate } from '@backporch/system/gate'
import type { ApiConnection } from '../connection/api-connection.ts'
import { readApi } from '../connection/cluster-api.ts'
import { Discovery } from '../objects/discovery.ts'
import type {
  ClusterWatch,
  KindWatchState,
  WatchedKind,
  WatchObserver,
} from '../ports/cluster-watch.ts'
import { FrameMemory } from './frame-reader.ts'
import { KindWatch } from './kind-watch.ts'
import { ServerCheck } from './server-check.ts'
import type { SharedParts } from './shared-parts.ts'
import { WATCH_DEFAULTS, type WatchOptions } from './watch-options.ts'

interface FollowedKind {
  readonly watch: KindWatch
  end(): void
}

export class ApiServerWatch implements ClusterWatch {
  readonly cluster: string
  private readonly parts: SharedParts
  private readonly closing = new AbortController()
  private readonly followed = new Map<string, FollowedKind>()
  private readonly ending = new Set<Promise<void>>()

  constructor(
    connection: ApiConnection,
    observer: WatchObserver,
    clock: Clock,
    options: WatchOptions = {},
  ) {
    this.cluster = connection.name
    const settings = { ...WATCH_DEFAULTS, ...options }
    const api = readApi(connection)
    const { signal } = this.closing
    const connections = (): number => connection.openedConnections
    this.parts = {
      connection,
      api,
      discovery: new Discovery(api, clock),
      observer,
      clock,
      settings,
      server: new ServerCheck({ api, settings, connections, signal }),
      memory: new FrameMemory(settings.memory),
      lists: new Gate(settings.parallelLists),
      unstreamed: new Set(),
      signal,
    }
  }

  follow(kinds: readonly WatchedKind[]): void {
    if (this.closing.signal.aborted) return
    const wanted = new Map(kinds.map((kind) => [getKindKey(kind), kind]))
    for (const [key, { end }] of this.followed) {
      if (wanted.has(key)) continue
      end()
      this.followed.delete(key)
    }
    for (const [key, kind] of wanted)
      if (!this.followed.has(key)) this.followed.set(key, this.start(kind))
  }

  state(): readonly KindWatchState[] {
    return [...this.followed.values()].map(({ watch }) => watch.getStatus())
  }

  async close(): Promise<void> {
    this.follow([])
    this.closing.abort(new Error('the watch is closed'))
    await Promise.all(this.ending)
  }

  private start(kind: WatchedKind): FollowedKind {
    const control = new AbortController()
    const watch = new KindWatch(kind, this.parts)
    // Only the signal ends it.
    const ended = watch.run(control.signal).catch(() => {})
    this.ending.add(ended)
    ended.finally(() => this.ending.delete(ended))
    return { watch, end: () => control.abort(new Error('the kind is not followed any more')) }
  }
}

function getKindKey({ apiVersion, kind, namespace, name, metadataOnly }: WatchedKind): string {
  return JSON.stringify([apiVersion, kind, namespace, name, metadataOnly])
}

/**
 * Resumes from the last applied version, and lists again if that is too old. Never ends by itself.
 */
import { convertToFailure, type Failure } from '@backporch/kyaml/failure'
import { parseApiVersion } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import {
  assertJson,
  createIncompleteListFailure,
  createNotServedFailure,
  type RequestDescription,
} from '../connection/kubernetes-failure.ts'
import type { ApiResponse, ApiStream } from '../connection/transport.ts'
import type { ServedResource } from '../objects/discovery.ts'
import { listObjects } from '../objects/list-objects.ts'
import type { KindWatchState, WatchedKind } from '../ports/cluster-watch.ts'
import { AppliedEvents } from './applied-events.ts'
import { Backoff } from './backoff.ts'
import { readStream, type StreamEnd } from './read-stream.ts'
import type { SharedParts } from './shared-parts.ts'
import { describeWatchRequest, NOT_STREAMED, STREAMED_LIST, watchCall } from './watch-call.ts'
import { isOlder, type WatchEvent } from './watch-event.ts'

const UNREADABLE: ReadonlySet<string> = new Set(['BP3003', 'BP3009', 'BP3015'])
/** A starting server may at first reject, or not know, what it serves a moment later. */
const DOUBTS = 2
/** An unreadable line recurs when the watch is resumed; a list skips it. */
const MOST_UNPARSED = 3
/** A list older than what was applied comes from a lagging server, or from a restored store. */
const MOST_OLDER_LISTS = 5
/** Milliseconds, even without events. */
const OF_USE = 10_000
/** An aggregated API may use its own counter. */
const OWN_STORE = new Set(['v1', 'apps/v1', 'batch/v1', 'rbac.authorization.k8s.io/v1'])

export class KindWatch {
  readonly watched: WatchedKind
  private readonly parts: SharedParts
  private readonly backoff: Backoff
  private readonly applied: AppliedEvents
  private served: ServedResource | undefined
  private state: KindWatchState['state'] = 'listing'
  private failure: Failure | undefined
  private stream: ApiStream | undefined
  private openedAt = 0
  private proof: number | undefined
  private epoch = 0
  private doubts = 0
  private unparsed = 0
  private olderLists = 0
  private streams = 0

  constructor(watched: WatchedKind, parts: SharedParts) {
    this.watched = watched
    this.parts = parts
    this.backoff = new Backoff(parts.settings)
    this.applied = new AppliedEvents(watched, parts.observer)
  }

  /** @throws only the reason of `signal` */
  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      signal.throwIfAborted()
      const wait = await this.attempt(signal)
      if (wait > 0) await this.parts.clock.sleep(wait, signal)
    }
  }

  getStatus(): KindWatchState {
    const { watched, state, failure, streams } = this
    const { lists, events, fault } = this.applied
    const proof = this.getLastProof()
    const provenAt =
      proof === undefined
        ? 0
        : this.parts.clock.now().getTime() - Math.round(performance.now() - proof)
    return {
      watched,
      state,
      provenAt,
      failure: failure ?? fault,
      lists,
      reopened: Math.max(0, streams - 1),
      events,
    }
  }

  private getLastProof(): number | undefined {
    const ofConnection = this.state === 'watching' ? this.stream?.provenAt : undefined
    // A PING from before the stream proves nothing about its events.
    const later =
      ofConnection !== undefined && ofConnection > this.openedAt ? ofConnection : undefined
    const proofs = [this.proof, this.applied.provenAt, later].filter((proof) => proof !== undefined)
    return this.applied.lists === 0 || proofs.length === 0 ? undefined : Math.max(...proofs)
  }

  /** @returns milliseconds */
  private async attempt(signal: AbortSignal): Promise<number> {
    const { applied, parts } = this
    const started = performance.now()
    try {
      const away = await parts.server.check()
      signal.throwIfAborted()
      if (away !== undefined) return this.handleFailure(away.failure, away.wait)
      this.startAnewAfterRestore()
      this.served ??= await this.find()
      signal.throwIfAborted()
      const before = applied.progress
      const streamed =
        applied.version === undefined ? await this.list(this.served, signal) : undefined
      const end = streamed ?? (await this.follow(this.served, undefined, signal))
      return this.computeWaitAfter(
        end,
        applied.progress !== before || performance.now() - started >= OF_USE,
      )
    } catch (thrown) {
      if (signal.aborted) throw signal.reason
      return this.handleFailure(convertToFailure(thrown))
    } finally {
      const isOfOwnStore = OWN_STORE.has(this.watched.apiVersion) && this.watched.kind !== 'Event'
      if (isOfOwnStore && applied.newest !== undefined) parts.server.recordVersion(applied.newest)
    }
  }

  /**
   * @throws Failure BP3009 for a kind that cannot be watched, so that it is not listed repeatedly
   */
  private async find(): Promise<ServedResource> {
    const { apiVersion, kind } = this.watched
    const { api, discovery, signal } = this.parts
    const { group, version } = parseApiVersion(apiVersion)
    const served = await discovery.find(version === '' ? '' : apiVersion, kind, signal, group)
    this.applied.apiVersion = served.apiVersion
    if (served.verbs.includes('watch')) return served
    throw createNotServedFailure(
      { cluster: api.cluster, apiVersion },
      kind,
      'it is served without the verb watch',
    )
  }

  private startAnewAfterRestore(): void {
    if (this.epoch === this.parts.server.epoch) return
    this.epoch = this.parts.server.epoch
    this.applied.startAnew()
    this.applied.newest = undefined
  }

  /** @returns the end of the stream if the list continued as a watch */
  private async list(served: ServedResource, signal: AbortSignal): Promise<StreamEnd | undefined> {
    const { lists, settings, unstreamed } = this.parts
    const leave = await lists.enter(signal)
    try {
      if (this.state !== 'unreadable') this.state = 'listing'
      if (settings.streamedLists && !unstreamed.has(served.apiVersion)) {
        const end = await this.follow(served, leave, signal)
        if (end.end === 'silent' && this.applied.listing) unstreamed.add(served.apiVersion)
        if (end.end !== 'unstreamed') return end
        unstreamed.add(served.apiVersion)
      }
      await this.listInPages(served, signal)
      return undefined
    } finally {
      leave()
    }
  }

  private async listInPages(served: ServedResource, signal: AbortSignal): Promise<void> {
    const { api, server } = this.parts
    const { namespace, name, metadataOnly } = this.watched
    let started = performance.now()
    let version = ''
    const restart = (): void => {
      started = performance.now()
    }
    const begin = (given: string): void => {
      this.assertNotOlder(given, served)
      version = given
      this.beginList()
    }
    const take = (item: Parameters<AppliedEvents['handleListed']>[0]): void =>
      this.applied.handleListed(item, performance.now())
    await listObjects(
      api,
      served,
      {
        namespace,
        ...omitUndefined({ name }),
        metadataOnly,
        thenWatched: true,
        take,
        restart,
        version: begin,
      },
      signal,
    )
    // The last page may come over another connection.
    const away = await server.check()
    signal.throwIfAborted()
    if (away !== undefined) throw away.failure
    this.applied.endList(version, started)
  }

  /** With `leave`, from a streamed list, at whose end it calls `leave`. */
  private async follow(
    served: ServedResource,
    leave: (() => void) | undefined,
    signal: AbortSignal,
  ): Promise<StreamEnd> {
    const { connection, settings, memory, server } = this.parts
    const requested = describeWatchRequest(this.parts.api.cluster, this.watched, served)
    const isProven = connection.protocol === 'h2'
    const [least, most] = isProven ? settings.streamLasts : settings.unprovenStreamLasts
    const seconds = Math.ceil((least + settings.random() * (most - least)) / 1000)
    const from =
      leave === undefined ? { resourceVersion: this.applied.version ?? '' } : STREAMED_LIST
    const call = watchCall(this.watched, requested, seconds, from)
    const stream = await connection.stream(call, requested, signal)
    if (!('listen' in stream)) return this.handleRefusal(stream, requested, leave !== undefined)
    try {
      assertJson(stream.headers, requested)
      // The connection may be a new one.
      const away = await server.check()
      signal.throwIfAborted()
      if (away !== undefined) throw away.failure
    } catch (thrown) {
      stream.close()
      throw thrown
    }
    this.streams += 1
    this.stream = stream
    this.openedAt = performance.now()
    if (leave === undefined) this.startWatching()
    else this.beginList()
    const silence = (): number =>
      this.applied.listing ? settings.longestListSilence : Number.POSITIVE_INFINITY
    const take = (event: WatchEvent, read: number): StreamEnd | undefined =>
      this.take(event, read, leave)
    const lasts = seconds * 1000 + settings.endsWithin / (isProven ? 1 : 2)
    try {
      return await readStream(
        stream,
        { requested, largestEvent: settings.largestEvent, memory, lasts, silence, take },
        signal,
      )
    } finally {
      this.proof = this.getLastProof()
      this.stream = undefined
    }
  }

  private take(
    event: WatchEvent,
    read: number,
    leave: (() => void) | undefined,
  ): StreamEnd | undefined {
    const { applied, served } = this
    switch (event.type) {
      case 'error':
        return served === undefined
          ? undefined
          : this.handleRefusal(
              { ...event, status: event.code, headers: new Map() },
              describeWatchRequest(this.parts.api.cluster, this.watched, served),
            )
      case 'unusable':
        applied.handleUnusable(event.why, event.version, read)
        return undefined
      case 'bookmark':
        if (!applied.listing || !event.listed) applied.handleBookmark(event.version, read)
        else if (served !== undefined) {
          this.assertNotOlder(event.version, served)
          applied.endList(event.version, read)
          leave?.()
          this.startWatching()
        }
        return undefined
      default:
        applied.handleObject(event, read)
        return undefined
    }
  }

  private handleRefusal(
    answer: ApiResponse,
    requested: RequestDescription,
    streamedList = false,
  ): StreamEnd {
    const { failure, retryAfter } = this.parts.connection.createResponseFailure(answer, requested)
    if (answer.status === 410) return { end: 'expired', failure }
    if (streamedList && NOT_STREAMED.includes(answer.status)) return { end: 'unstreamed', failure }
    return { end: 'failed', failure, retryAfter }
  }

  /** @throws Failure BP3010 a few times; then the store counts as restored from a backup */
  private assertNotOlder(version: string, served: ServedResource): void {
    const { newest } = this.applied
    if (newest === undefined || !isOlder(version, newest)) return
    this.olderLists += 1
    if (this.olderLists <= MOST_OLDER_LISTS)
      throw createIncompleteListFailure(
        describeWatchRequest(this.parts.api.cluster, this.watched, served),
        'it is older than what was seen before',
      )
    this.applied.newest = undefined
  }

  private beginList(): void {
    this.state = 'listing'
    this.applied.beginList()
  }

  private startWatching(): void {
    this.state = 'watching'
    this.failure = undefined
    this.doubts = 0
    this.olderLists = 0
  }

  /** @param ofUse the next wait is then not longer than the last one */
  private computeWaitAfter(end: StreamEnd, ofUse: boolean): number {
    if (ofUse) {
      this.backoff.reset()
      this.unparsed = 0
    }
    if (this.applied.listing) this.applied.startAnew()
    switch (end.end) {
      case 'closed':
        // All events up to now have arrived.
        if (this.applied.version !== undefined) this.proof = performance.now()
        this.state = 'waiting'
        return ofUse ? 0 : this.backoff.computeWait()
      case 'expired':
        this.applied.startAnew()
        return this.handleFailure(end.failure)
      case 'unparsed':
        this.unparsed += 1
        if (this.unparsed >= MOST_UNPARSED) this.applied.startAnew()
        return this.handleFailure(end.failure)
      case 'too-large':
        return this.handleUnreadable(end.failure)
      case 'failed':
        return this.handleFailure(
          end.failure,
          end.retryAfter === undefined ? undefined : this.backoff.computeWait(end.retryAfter),
        )
      default:
        return this.handleFailure(end.failure)
    }
  }

  private handleFailure(failure: Failure, wait?: number): number {
    const { settings, server } = this.parts
    if (failure.code === 'BP3001' || failure.code === 'BP3006' || failure.code === 'BP3008')
      server.markUnsure()
    if (UNREADABLE.has(failure.code) && !this.isDoubtful(failure))
      return this.handleUnreadable(failure, wait)
    this.failure = failure
    if (this.state !== 'unreadable') this.state = 'waiting'
    return (
      wait ??
      this.backoff.computeWait(failure.code === 'BP3002' ? 2 * settings.longestWait : undefined)
    )
  }

  private isDoubtful({ code }: Failure): boolean {
    if (
      code === 'BP3015' ||
      this.state === 'unreadable' ||
      this.applied.lists === 0 ||
      this.doubts >= DOUBTS
    )
      return false
    this.doubts += 1
    return true
  }

  private handleUnreadable(failure: Failure, wait?: number): number {
    const { unreadableWait, random } = this.parts.settings
    this.state = 'unreadable'
    this.failure = failure
    this.served = undefined
    this.applied.handleUnreadable(failure)
    return wait ?? unreadableWait * (0.75 + random() / 2)
  }
}

import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import { getKey, type JsonObject } from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import type { WatchedKind, WatchObserver } from '../ports/cluster-watch.ts'
import { isOlder, type WatchEvent } from './watch-event.ts'

type ObjectEvent = Extract<WatchEvent, { readonly object: JsonObject }>

export class AppliedEvents {
  version: string | undefined
  apiVersion: string
  /** The newest version of this connection. */
  newest: string | undefined
  provenAt: number | undefined
  listing = false
  fault: Failure | undefined
  lists = 0
  events = 0
  /** With a newer version than the previous one, except those of lists. */
  progress = 0
  private readonly watched: WatchedKind
  private readonly observer: WatchObserver
  private lastUid: string | undefined
  private reported = ''

  constructor(watched: WatchedKind, observer: WatchObserver) {
    this.watched = watched
    this.apiVersion = watched.apiVersion
    this.observer = observer
  }

  beginList(): void {
    this.listing = true
    this.fault = undefined
    this.reported = ''
    this.tell(() => this.observer.beginList(this.watched))
  }

  handleListed(object: JsonObject, read: number): void {
    this.tell(() => this.observer.handleChange(this.watched, this.addType(object), read))
  }

  endList(version: string, read: number): void {
    this.listing = false
    this.lists += 1
    this.advance(version, undefined, read)
    this.tell(() => this.observer.finishList(this.watched))
  }

  /** Versions of streamed initial objects are unordered: only their bookmark counts. */
  handleObject({ type, object, version }: ObjectEvent, read: number): void {
    const uid = getMetadataText(object, 'uid') || undefined
    if (!this.listing && this.isKnown(version, uid)) return
    this.events += 1
    const handle = type === 'deleted' ? 'handleDeletion' : 'handleChange'
    this.tell(() => this.observer[handle](this.watched, this.addType(object), read))
    if (this.listing) return
    this.progress += 1
    this.advance(version, uid, read)
  }

  handleBookmark(version: string, read: number): void {
    if (this.listing || (this.version !== undefined && isOlder(version, this.version))) return
    this.events += 1
    if (version !== this.version) this.progress += 1
    this.advance(version, undefined, read)
  }

  handleUnusable(why: string, version: string, read: number): void {
    this.fault = this.createFault(why)
    if (!this.listing && !this.isKnown(version, undefined)) this.advance(version, undefined, read)
  }

  handleUnreadable(failure: Failure): void {
    this.startAnew()
    const cause = `${failure.code} ${failure.message}`
    if (cause === this.reported) return
    this.reported = cause
    this.tell(() => this.observer.handleUnreadable(this.watched, failure))
  }

  startAnew(): void {
    this.version = undefined
    this.listing = false
  }

  private isKnown(version: string, uid: string | undefined): boolean {
    const { version: last, lastUid } = this
    if (last === undefined || version === '') return false
    return (
      isOlder(version, last) || (version === last && (lastUid === undefined || lastUid === uid))
    )
  }

  private advance(version: string, uid: string | undefined, read: number): void {
    this.provenAt = Math.max(this.provenAt ?? read, read)
    if (version === '') return
    this.version = version
    this.lastUid = uid
    if (this.newest === undefined || isOlder(this.newest, version)) this.newest = version
  }

  /** Metadata events have the type of the metadata; list items have none. */
  private addType(object: JsonObject): JsonObject {
    const { apiVersion } = this
    const { kind, metadataOnly } = this.watched
    // A server may send more than requested.
    if (metadataOnly) return { apiVersion, kind, metadata: getKey(object, 'metadata') ?? {} }
    if (object['apiVersion'] === apiVersion && object['kind'] === kind) return object
    const type = { apiVersion, kind }
    return { ...type, ...object, ...type }
  }

  /** Must neither end the process nor block the watch. */
  private tell(work: () => void): void {
    try {
      work()
    } catch (thrown) {
      this.fault ??= convertToFailure(thrown)
    }
  }

  private createFault(why: string): Failure {
    const { apiVersion, kind } = this.watched
    return new Failure({
      code: 'BP3012',
      what: `an object of ${kind} in ${apiVersion} could not be read`,
      why,
      remedy: 'check the objects of the kind and the API service that serves it',
      retry: 'on-change',
    })
  }
}

/** What the observer of a kind was told, in which order, and up to which version. */
import { asFailure, Failure } from '@backporch/kyaml/failure'
import { getKey, type JsonObject } from '@backporch/kyaml/json'
import { metadataText } from '@backporch/kyaml/resource'
import type { WatchedKind, WatchObserver } from '../ports/cluster-watch.ts'
import { isOlder, type WatchEvent } from './watch-event.ts'

type ObjectEvent = Extract<WatchEvent, { readonly object: JsonObject }>

export class AppliedEvents {
  /** Last version that was applied; undefined while the kind has to be listed. */
  version: string | undefined
  /** As the server serves the kind. */
  apiVersion: string
  /** Newest version that was ever applied. */
  newest = ''
  /** `performance.now()` when something was last applied. */
  provenAt: number | undefined
  /** Between the beginning and the end of a list. */
  listing = false
  /** What the observer threw, or an object that could not be read, since the last list began. */
  fault: Failure | undefined
  lists = 0
  /** With bookmarks. */
  events = 0
  /** Events and bookmarks of a newer version than the one before, those of lists not counted. */
  progress = 0
  private readonly watched: WatchedKind
  private readonly observer: WatchObserver
  /** The object of the event with the last version. */
  private lastUid = ''
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
    this.tell(() => this.observer.listing(this.watched))
  }

  listed(object: JsonObject, read: number): void {
    this.tell(() => this.observer.changed(this.watched, this.typed(object), read))
  }

  endList(version: string, read: number): void {
    this.listing = false
    this.lists += 1
    this.advance(version, '', read)
    this.tell(() => this.observer.listed(this.watched))
  }

  /** The versions of streamed initial objects have no order: only their bookmark counts. */
  object({ type, object, version }: ObjectEvent, read: number): void {
    const uid = metadataText(object, 'uid')
    if (!this.listing && this.isKnown(version, uid)) return
    this.events += 1
    this.tell(() => this.observer[type](this.watched, this.typed(object), read))
    if (this.listing) return
    this.progress += 1
    this.advance(version, uid, read)
  }

  bookmark(version: string, read: number): void {
    if (this.listing || (this.version !== undefined && isOlder(version, this.version))) return
    this.events += 1
    if (version !== this.version) this.progress += 1
    this.advance(version, '', read)
  }

  /** An object that cannot be read costs its own event only. */
  unusable(why: string, version: string, read: number): void {
    this.fault = this.faultOf(why)
    if (!this.listing && !this.isKnown(version, '')) this.advance(version, '', read)
  }

  /** Nothing is known of the kind any more. */
  unreadable(failure: Failure): void {
    this.startAnew()
    const cause = `${failure.code} ${failure.message}`
    if (cause === this.reported) return
    this.reported = cause
    this.tell(() => this.observer.unreadable(this.watched, failure))
  }

  startAnew(): void {
    this.version = undefined
    this.listing = false
  }

  /** Applied before: a version that is older, or the last one, of the same object or of a bookmark or list. */
  private isKnown(version: string, uid: string): boolean {
    const { version: last, lastUid } = this
    if (last === undefined || version === '') return false
    return isOlder(version, last) || (version === last && (lastUid === '' || lastUid === uid))
  }

  private advance(version: string, uid: string, read: number): void {
    this.provenAt = Math.max(this.provenAt ?? read, read)
    if (version === '') return
    this.version = version
    this.lastUid = uid
    if (this.newest === '' || isOlder(this.newest, version)) this.newest = version
  }

  /** Events of metadata have the type of the metadata, items of lists have none. */
  private typed(object: JsonObject): JsonObject {
    const { apiVersion } = this
    const { kind, metadataOnly } = this.watched
    // Also from a server that sends more than was asked for.
    if (metadataOnly) return { apiVersion, kind, metadata: getKey(object, 'metadata') ?? {} }
    if (object['apiVersion'] === apiVersion && object['kind'] === kind) return object
    const type = { apiVersion, kind }
    return { ...type, ...object, ...type }
  }

  /** An observer that throws must neither end the process nor hold up the watch. */
  private tell(work: () => void): void {
    try {
      work()
    } catch (thrown) {
      this.fault ??= asFailure(thrown)
    }
  }

  private faultOf(why: string): Failure {
    const { apiVersion, kind } = this.watched
    return new Failure({
      code: 'BP3012',
      what: `an object of ${kind} in ${apiVersion} could not be read`,
      why,
      remedy: 'look at the objects of the kind, and at the API service that serves it',
      retry: 'on-change',
    })
  }
}

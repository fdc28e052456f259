/**
 * Whether the server behind the address is the one that was there before: asked after each new connection and each broken one, once for all
 * kinds. While the server does not answer, this is also the one place that tries.
 */
import { asFailure, Failure } from '@backporch/kyaml/failure'
import { isJsonObject, objectsIn, partOf, textOf } from '@backporch/kyaml/json'
import { metadataText } from '@backporch/kyaml/resource'
import type { ReadApi } from '../connection/cluster-api.ts'
import { jsonOf, type RequestDescription } from '../connection/kubernetes-failure.ts'
import { Backoff } from './backoff.ts'
import { isOlder } from './watch-event.ts'
import type { WatchSettings } from './watch-options.ts'

/** The server does not answer, or is another one. */
interface ServerAway {
  readonly failure: Failure
  /** Milliseconds before it is worth to look again. */
  readonly wait: number
}

interface CheckParts {
  readonly api: Pick<ReadApi, 'cluster' | 'get'>
  readonly settings: WatchSettings
  /** A number that changes with each new connection. */
  readonly connections: () => number
  readonly signal: AbortSignal
}

const PATH = '/api/v1/namespaces'
const NAME = 'kube-system'
/** Failures of an account without the right, and of a server without the namespace: its identity is not known then. */
const UNKNOWN = new Set(['BP3003', 'BP3009', 'BP3011'])

export class ServerCheck {
  /** Changes when the server's history went back, as after a backup was restored: versions from before mean nothing then. */
  epoch = 0
  private readonly parts: CheckParts
  private readonly backoff: Backoff
  private uid = ''
  private newest = ''
  private checked = -1
  private doubtful = true
  private listRefused = false
  private away: { readonly failure: Failure; readonly until: number } | undefined
  private pending: Promise<ServerAway | undefined> | undefined

  constructor(parts: CheckParts) {
    this.parts = parts
    this.backoff = new Backoff(parts.settings)
  }

  /** A connection broke: behind the next one may be another server. */
  doubt(): void {
    this.doubtful = true
  }

  /** A version of the server's own store that was applied. */
  saw(version: string): void {
    if (this.newest === '' || isOlder(this.newest, version)) this.newest = version
  }

  /** Undefined where it is the same server, as far as the account may know. @throws only the reason of the signal */
  async check(): Promise<ServerAway | undefined> {
    // While it is asked, the answer is not known, also where the next connection is not open yet.
    if (this.pending === undefined && !this.doubtful && this.checked === this.parts.connections())
      return undefined
    const { away } = this
    if (away !== undefined && performance.now() < away.until)
      return this.tell(away.failure, away.until)
    this.pending ??= this.ask().finally(() => {
      this.pending = undefined
    })
    return this.pending
  }

  private async ask(): Promise<ServerAway | undefined> {
    const { settings, signal } = this.parts
    this.doubtful = false
    try {
      const { uid, version, hasNoUid } = await this.read()
      if (this.uid !== '' && (hasNoUid || (uid !== '' && uid !== this.uid)))
        throw this.replaced(hasNoUid)
      if (uid !== '') this.uid = uid
      if (version !== '' && isOlder(version, this.newest)) {
        this.epoch += 1
        this.newest = ''
      }
      if (version !== '') this.saw(version)
      this.checked = this.parts.connections()
      this.away = undefined
      this.backoff.reset()
      return undefined
    } catch (thrown) {
      if (signal.aborted) throw signal.reason
      this.doubtful = true
      const failure = asFailure(thrown)
      const wait = failure.code === 'BP3015' ? settings.unreadableWait : this.backoff.next()
      this.away = { failure, until: performance.now() + wait }
      return this.tell(failure, this.away.until)
    }
  }

  /** Those who wait come back after it, spread over a moment. */
  private tell(failure: Failure, until: number): ServerAway {
    const { firstWait, random } = this.parts.settings
    return { failure, wait: Math.max(0, until - performance.now()) + 1 + random() * firstWait }
  }

  /** A list of the one namespace also tells the newest version of the store. Where the account may not list, the namespace alone. */
  private async read(): Promise<{
    readonly uid: string
    readonly version: string
    readonly hasNoUid: boolean
  }> {
    if (!this.listRefused) {
      const list = await this.get(
        `${PATH}?${new URLSearchParams({ fieldSelector: `metadata.name=${NAME}` })}`,
        'list',
      )
      if (list !== undefined) {
        const [namespace] = objectsIn(partOf(list, 'items'))
        const uid = namespace === undefined ? '' : metadataText(namespace, 'uid')
        return {
          uid,
          version: textOf(list, 'metadata', 'resourceVersion'),
          hasNoUid: namespace === undefined,
        }
      }
      this.listRefused = true
    }
    const namespace = await this.get(`${PATH}/${NAME}`, 'get')
    return {
      uid: isJsonObject(namespace) ? metadataText(namespace, 'uid') : '',
      version: '',
      hasNoUid: false,
    }
  }

  private async get(path: string, verb: 'get' | 'list') {
    const { api, signal } = this.parts
    const resource = {
      group: '',
      kind: 'Namespace',
      plural: 'namespaces',
      namespace: '',
      name: NAME,
    }
    const requested: RequestDescription = {
      cluster: api.cluster,
      verb,
      resource,
      path: path.replace(/\?.*$/, ''),
    }
    try {
      return jsonOf(await api.get(path, requested, signal), requested)
    } catch (thrown) {
      if (thrown instanceof Failure && UNKNOWN.has(thrown.code)) return undefined
      throw thrown
    }
  }

  private replaced(hasNoUid: boolean): Failure {
    return new Failure({
      code: 'BP3015',
      what: `another cluster answers at the address of ${this.parts.api.cluster}`,
      where: `cluster ${this.parts.api.cluster}`,
      why: hasNoUid
        ? 'it has no kube-system namespace, and the one that was seen first had one'
        : 'the uid of its kube-system namespace is not the one that was seen first',
      remedy: 'correct the server of the context, or start again to observe the other cluster',
      retry: 'on-change',
    })
  }
}

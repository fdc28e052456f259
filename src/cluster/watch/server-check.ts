/**
 * After each new and each broken connection, once for all kinds. While the server does not answer,
 * only this check retries.
 */
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import { filterObjects, getPartAt, getTextAt, isJsonObject } from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import type { ReadApi } from '../connection/cluster-api.ts'
import { parseJsonResponse, type RequestDescription } from '../connection/kubernetes-failure.ts'
import { Backoff } from './backoff.ts'
import { isOlder } from './watch-event.ts'
import type { WatchSettings } from './watch-options.ts'

interface ServerAway {
  readonly failure: Failure
  /** Milliseconds. */
  readonly wait: number
}

interface CheckParts {
  readonly api: Pick<ReadApi, 'cluster' | 'get'>
  readonly settings: WatchSettings
  readonly connections: () => number
  readonly signal: AbortSignal
}

const PATH = '/api/v1/namespaces'
const NAME = 'kube-system'
/** The server's identity is then unknown. */
const UNKNOWN = new Set(['BP3003', 'BP3009', 'BP3011'])

export class ServerCheck {
  /** Changes when the server's history went back, as after a restored backup. */
  epoch = 0
  private readonly parts: CheckParts
  private readonly backoff: Backoff
  private uid: string | undefined
  private newest: string | undefined
  private checked = -1
  private doubtful = true
  private listRefused = false
  private away: { readonly failure: Failure; readonly until: number } | undefined
  private pending: Promise<ServerAway | undefined> | undefined

  constructor(parts: CheckParts) {
    this.parts = parts
    this.backoff = new Backoff(parts.settings)
  }

  /** The next connection may reach another server. */
  markUnsure(): void {
    this.doubtful = true
  }

  recordVersion(version: string): void {
    if (this.newest === undefined || isOlder(this.newest, version)) this.newest = version
  }

  /**
   * Undefined: the same server, as far as the account can tell.
   * @throws only the reason of the signal
   */
  async check(): Promise<ServerAway | undefined> {
    // While the check runs, the answer is unknown, even if the next connection is not open yet.
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
      if (this.uid !== undefined && (hasNoUid || (uid !== undefined && uid !== this.uid)))
        throw this.createReplacedFailure(hasNoUid)
      this.uid = uid ?? this.uid
      if (version !== undefined) {
        if (this.newest !== undefined && isOlder(version, this.newest)) {
          this.epoch += 1
          this.newest = undefined
        }
        this.recordVersion(version)
      }
      this.checked = this.parts.connections()
      this.away = undefined
      this.backoff.reset()
      return undefined
    } catch (thrown) {
      if (signal.aborted) throw signal.reason
      this.doubtful = true
      const failure = convertToFailure(thrown)
      const wait = failure.code === 'BP3015' ? settings.unreadableWait : this.backoff.computeWait()
      this.away = { failure, until: performance.now() + wait }
      return this.tell(failure, this.away.until)
    }
  }

  private tell(failure: Failure, until: number): ServerAway {
    const { firstWait, random } = this.parts.settings
    return { failure, wait: Math.max(0, until - performance.now()) + 1 + random() * firstWait }
  }

  /**
   * A list of the one namespace also gives the newest version. If the account may not list, reads
   * only the namespace.
   */
  private async read(): Promise<{
    readonly uid: string | undefined
    readonly version: string | undefined
    readonly hasNoUid: boolean
  }> {
    if (!this.listRefused) {
      const list = await this.get(
        `${PATH}?${new URLSearchParams({ fieldSelector: `metadata.name=${NAME}` })}`,
        'list',
      )
      if (list !== undefined) {
        const [namespace] = filterObjects(getPartAt(list, 'items'))
        const uid = namespace === undefined ? undefined : getMetadataText(namespace, 'uid')
        return {
          uid: uid || undefined,
          version: getTextAt(list, 'metadata', 'resourceVersion') || undefined,
          hasNoUid: namespace === undefined,
        }
      }
      this.listRefused = true
    }
    const namespace = await this.get(`${PATH}/${NAME}`, 'get')
    const uid = isJsonObject(namespace) ? getMetadataText(namespace, 'uid') : undefined
    return {
      uid: uid || undefined,
      version: undefined,
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
      return parseJsonResponse(await api.get(path, requested, signal), requested)
    } catch (thrown) {
      if (thrown instanceof Failure && UNKNOWN.has(thrown.code)) return undefined
      throw thrown
    }
  }

  private createReplacedFailure(hasNoUid: boolean): Failure {
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

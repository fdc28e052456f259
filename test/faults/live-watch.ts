import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WatchOptions } from '@backporch/cluster/api-server'
import type { KindWatchState, WatchedKind } from '@backporch/cluster/cluster-watch'
import { connectCluster } from '@backporch/cluster/connect-cluster'
import type { JsonObject } from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import type { Clock } from '@backporch/system/clock'
import { realClock } from '../apiserver/live-cluster.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { kubeconfig } from '../controlplane/kubeconfig.ts'
import { NOT_OURS, RecordingObserver } from './recording-observer.ts'
import { type TcpFaults, tcpFaults } from './tcp-faults.ts'

const SHORT: WatchOptions = { firstWait: 20, longestWait: 200, unreadableWait: 200 }
/** Of a connection that a test breaks: short, and long enough for a busy machine. */
const LIVENESS = { pingEvery: 100, pingWithin: 1_000 }

/** A connection that works has been proven by a PING when this is over. */
export function longerThanProofs(): Promise<void> {
  return sleep(3 * LIVENESS.pingEvery)
}

export function configMapsOf(namespace: string): WatchedKind {
  return { apiVersion: 'v1', kind: 'ConfigMap', namespace, metadataOnly: false }
}

interface LiveWatchOptions extends WatchOptions {
  readonly timeout?: number
  /** Its user agent in the audit log is `backporch/<version>`. */
  readonly version?: string
  readonly clock?: Clock
}

/** A watch of a real API server, with short waits, that ends with the test. */
export function liveWatch(t: TestContext, kubeconfig: string, options: LiveWatchOptions = {}) {
  const { timeout, version = 'test', clock = realClock, ...watchOptions } = options
  const cluster = connectCluster({
    kubeconfig,
    environment: {},
    clock,
    version,
    connection: LIVENESS,
    ...(timeout === undefined ? {} : { timeout }),
  })
  const observer = new RecordingObserver()
  const watch = cluster.watch(observer, { ...SHORT, ...watchOptions })
  t.after(async () => {
    await watch.close()
    cluster.close()
  })
  const state = (kind = 'ConfigMap'): KindWatchState =>
    watch.state().find(({ watched }) => watched.kind === kind) ?? assert.fail(kind)
  return { cluster, observer, watch, state }
}

/** A relay in front of the plane, and a kubeconfig for it. */
export async function throughTcp(
  t: TestContext,
  plane: ControlPlane,
): Promise<TcpFaults & { readonly kubeconfig: string }> {
  const faults = await tcpFaults(plane.url)
  t.after(() => faults.close())
  const file = join(dirname(plane.kubeconfig), `tcp-faults-${new URL(faults.url).port}.kubeconfig`)
  const authority = Buffer.from(plane.caData, 'base64').toString('utf8')
  await writeFile(
    file,
    kubeconfig(faults.url, authority, 'admin', plane.credentialFor('admin', ['system:masters'])),
    { mode: 0o600 },
  )
  return Object.defineProperty(faults, 'kubeconfig', { value: file }) as TcpFaults & {
    readonly kubeconfig: string
  }
}

/** Requests of a user agent that the server of a plane with an audit log answered or began to, in their order: `401 list /api/v1/namespaces`. */
export async function auditedRequests(
  plane: ControlPlane,
  version: string,
): Promise<readonly string[]> {
  const lines = (await readFile(plane.auditLog ?? '', 'utf8'))
    .split('\n')
    .filter((line) => line.includes(`"backporch/${version}"`))
  const events: readonly AuditEvent[] = lines.map((line) => JSON.parse(line))
  // A watch has an event when it begins and another one when it ends.
  const byId = new Map(events.map((event) => [event.auditID, event]))
  return [...byId.values()].map(
    ({ responseStatus, verb, requestURI }) => `${responseStatus.code} ${verb} ${requestURI}`,
  )
}

interface AuditEvent {
  readonly auditID: string
  readonly verb: string
  readonly requestURI: string
  readonly responseStatus: { readonly code: number }
}

/** Writes ConfigMaps directly, and keeps what a watch of them has to tell. */
export class Writer {
  readonly expected: string[] = []
  private readonly plane: ControlPlane
  private readonly path: string

  constructor(plane: ControlPlane, namespace: string) {
    this.plane = plane
    this.path = `/api/v1/namespaces/${namespace}/configmaps`
  }

  async create(name: string, data: JsonObject = {}): Promise<void> {
    await this.send('POST', '', { metadata: { name }, data })
  }

  async change(name: string, n: number): Promise<void> {
    await this.send('PATCH', `/${name}`, { data: { n: String(n) } })
  }

  async delete(name: string): Promise<void> {
    const { status } = await this.plane.request('DELETE', `${this.path}/${name}`)
    assert.equal(status, 200)
    this.expected.push(`deleted ${name}`)
  }

  private async send(method: string, below: string, body: unknown): Promise<void> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const answer = await this.plane.request<JsonObject>(method, `${this.path}${below}`, {
      body,
      contentType,
    })
    assert.ok(answer.status < 300, JSON.stringify(answer.body))
    this.expected.push(
      `changed ${getMetadataText(answer.body, 'name')} ${getMetadataText(answer.body, 'resourceVersion')}`,
    )
  }

  /** What is there, by the server's own list. */
  async there(): Promise<ReadonlyMap<string, string>> {
    const { body } = await this.plane.request<{ items: JsonObject[] }>('GET', this.path)
    const items = body.items.filter((item) => getMetadataText(item, 'name') !== NOT_OURS)
    return new Map(
      items.map((item) => [
        getMetadataText(item, 'name'),
        `${getMetadataText(item, 'uid')} ${getMetadataText(item, 'resourceVersion')}`,
      ]),
    )
  }

  /** The observer was told each of the writes once, in their order, and knows what the server lists. */
  async assertTold(observer: RecordingObserver, after = 0): Promise<void> {
    assert.deepEqual(told(observer).slice(after), this.expected)
    await this.assertKnown(observer)
  }

  async assertKnown(observer: RecordingObserver): Promise<void> {
    const known = [...observer.objects.values()].filter((object) => object['kind'] === 'ConfigMap')
    const entries = known.map(
      (object) =>
        [
          getMetadataText(object, 'name'),
          `${getMetadataText(object, 'uid')} ${getMetadataText(object, 'resourceVersion')}`,
        ] as const,
    )
    assert.deepEqual(new Map(entries.toSorted()), new Map([...(await this.there())].toSorted()))
  }
}

/** Changes and deletions; a deletion without its version, which the writer does not learn. */
export function told(observer: RecordingObserver): readonly string[] {
  return observer
    .events()
    .map((line) => (line.startsWith('deleted ') ? line.split(' ').slice(0, 2).join(' ') : line))
}

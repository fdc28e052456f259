import type { TestContext } from 'node:test'
import { ApiServerWatch, type WatchOptions } from '@backporch/cluster/api-server'
import type { WatchedKind } from '@backporch/cluster/cluster-watch'
import type { Clock } from '@backporch/system/clock'
import { realClock } from '../apiserver/live-cluster.ts'
import { DISCOVERY, query, type Routes } from '../apiserver/scripted-api.ts'
import { connectionTo, type TestConnection } from '../apiserver/scripted-cluster.ts'
import {
  type ScriptedAnswer,
  type ScriptedBody,
  type ScriptedOptions,
  type ScriptedRequest,
  scriptedServer,
} from '../apiserver/scripted-server.ts'
import { RecordingObserver } from './recording-observer.ts'

export const CONFIG_MAPS: WatchedKind = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'shop',
  metadataOnly: false,
}
const PATH = 'GET /api/v1/namespaces/shop/configmaps'

interface ScriptedWatchOptions {
  /** What a watch of ConfigMaps gets. */
  readonly watch: (
    from: string,
    body: ScriptedBody,
    request: ScriptedRequest,
  ) => ScriptedAnswer | undefined
  /** What a list of ConfigMaps gets; two objects of version 100 unless given. */
  readonly list?: (request: ScriptedRequest) => ScriptedAnswer
  readonly routes?: Routes
  readonly server?: ScriptedOptions
  readonly connection?: TestConnection
  readonly options?: WatchOptions
  readonly clock?: Clock
}

/** Short waits, and lists in pages. */
export const QUICK: WatchOptions = {
  firstWait: 1,
  longestWait: 4,
  unreadableWait: 40,
  streamedLists: false,
  streamLasts: [60_000, 60_000],
}

/** A server whose watches do what a test says, and a watch of it. */
export async function scriptedWatch(t: TestContext, script: ScriptedWatchOptions) {
  const watches: ScriptedRequest[] = []
  const watchAnswer = (request: ScriptedRequest): ScriptedAnswer => {
    watches.push(request)
    const { body, connect } = earlyBody()
    return (
      script.watch(query(request, 'resourceVersion') ?? '', body, request) ?? { write: connect }
    )
  }
  const list = script.list ?? (() => ({ body: listOf(['a', 'b']) }))
  const routes: Routes = {
    ...DISCOVERY,
    'GET /api/v1/namespaces': () => ({ body: namespaces('uid-1', '1000') }),
    [PATH]: (request) =>
      query(request, 'watch') === 'true' ? watchAnswer(request) : list(request),
    ...script.routes,
  }
  const server = await scriptedServer((request) => {
    const route = routes[`${request.method} ${request.path.replace(/\?.*$/, '')}`]
    return route === undefined ? { status: 404, body: '404 page not found' } : route(request)
  }, script.server)
  const clock = script.clock ?? realClock
  const connection = connectionTo(server, { clock, ...script.connection })
  const observer = new RecordingObserver()
  const watch = new ApiServerWatch(connection, observer, clock, { ...QUICK, ...script.options })
  t.after(async () => {
    await watch.close()
    connection.close()
    await server.close()
  })
  const state = () => {
    const [first] = watch.state()
    if (first === undefined) throw new Error('nothing is followed')
    return first
  }
  return { server, connection, observer, watch, watches, state }
}

/** What is sent before the answer's head is kept until then. */
function earlyBody(): { readonly body: ScriptedBody; connect(body: ScriptedBody): void } {
  let target: ScriptedBody | undefined
  const early: ((body: ScriptedBody) => void)[] = []
  let close: () => void = () => {}
  const closed = new Promise<void>((resolve) => {
    close = resolve
  })
  const pass = (work: (body: ScriptedBody) => void): void => {
    if (target === undefined) early.push(work)
    else work(target)
  }
  return {
    body: {
      send: (text) => pass((body) => body.send(text)),
      end: () => pass((body) => body.end()),
      reset: () => pass((body) => body.reset()),
      closed,
    },
    connect(body) {
      target = body
      void body.closed.then(close)
      for (const work of early) work(body)
    },
  }
}

export function namespaces(uid: string, resourceVersion: string) {
  const items = [{ metadata: { name: 'kube-system', uid, resourceVersion: '1' } }]
  return { kind: 'NamespaceList', apiVersion: 'v1', metadata: { resourceVersion }, items }
}

/** A list of ConfigMaps as a server gives it; items have no apiVersion and kind of their own. */
export function listOf(names: readonly string[], metadata: Readonly<Record<string, unknown>> = {}) {
  const items = names.map((name) => ({
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '5' },
  }))
  return {
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '100', ...metadata },
    items,
  }
}

/** A line of a watch. */
export function event(
  type: string,
  name: string,
  resourceVersion: string,
  data: unknown = {},
): string {
  const metadata = { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion }
  return `${JSON.stringify({ type, object: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } })}\n`
}

export function bookmark(
  resourceVersion: string,
  annotations?: Readonly<Record<string, string>>,
): string {
  return `${JSON.stringify({ type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion, annotations } } })}\n`
}

export function errorEvent(code: number, reason: string): string {
  const object = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: `scripted ${reason}`,
  }
  return `${JSON.stringify({ type: 'ERROR', object })}\n`
}

/** What is told of the list. */
export const LISTED = ['listing ConfigMap', 'changed a 5', 'changed b 5', 'listed ConfigMap']
/** Lines of a watch from the list on. */
export const EVENTS = [
  event('MODIFIED', 'a', '101'),
  event('ADDED', 'c', '102'),
  bookmark('103'),
  event('DELETED', 'b', '104'),
]
/** What is told of them. */
export const TOLD = ['changed a 101', 'changed c 102', 'deleted b 104']

/** The lines that a server sends to who has everything up to `from`. */
export function after(from: string, lines: readonly string[] = EVENTS): string {
  return lines
    .filter((line) => Number(JSON.parse(line).object.metadata.resourceVersion) > Number(from))
    .join('')
}

import type { TestContext } from 'node:test'
import { ApiServerCluster, ApiServerWriter, readApi, writeApi } from '@backporch/cluster/api-server'
import { connectionTo, type TestClock, type TestConnection, testClock } from './scripted-cluster.ts'
import {
  type ScriptedAnswer,
  type ScriptedRequest,
  type ScriptedServer,
  scriptedServer,
} from './scripted-server.ts'

/** `METHOD /path` (without query) to the answer. Discovery of some kinds is there unless a route replaces it. */
export type Routes = Readonly<
  Record<string, (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>>
>

export interface ScriptedApi {
  readonly server: ScriptedServer
  readonly cluster: ApiServerCluster
  readonly writer: ApiServerWriter
  readonly clock: TestClock
  /** `METHOD /path?query` of every request but discovery. */
  requested(): readonly string[]
}

const VERBS = ['get', 'list', 'watch', 'patch', 'create', 'delete']

function group(
  name: string,
  version: string,
  kinds: Readonly<Record<string, string>>,
  scope = 'Namespaced',
) {
  const resources = Object.entries(kinds).map(([kind, resource]) => ({
    resource,
    responseKind: { group: name, version, kind },
    scope,
    verbs: VERBS,
  }))
  return { metadata: { name }, versions: [{ version, freshness: 'Current', resources }] }
}

export function discoveryList(...items: readonly unknown[]) {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items,
  }
}

export const DISCOVERY: Routes = {
  'GET /api': () => ({
    body: discoveryList(
      group('', 'v1', { ConfigMap: 'configmaps', Secret: 'secrets', Service: 'services' }),
    ),
  }),
  'GET /apis': () => ({
    body: discoveryList(
      group('apps', 'v1', { Deployment: 'deployments' }),
      group('rbac.authorization.k8s.io', 'v1', { ClusterRole: 'clusterroles' }, 'Cluster'),
      group('kpt.dev', 'v1alpha1', { ResourceGroup: 'resourcegroups' }),
    ),
  }),
}

/** An API server of which only the given routes answer; everything else is 404. */
export async function scriptedApi(
  t: TestContext,
  routes: Routes,
  options: TestConnection = {},
): Promise<ScriptedApi> {
  const all: Routes = { ...DISCOVERY, ...routes }
  const server = await scriptedServer((request) => {
    const route = all[`${request.method} ${request.path.replace(/\?.*$/, '')}`]
    return route === undefined ? { status: 404, body: '404 page not found' } : route(request)
  })
  const clock = testClock()
  const connection = connectionTo(server, { clock, ...options })
  t.after(async () => {
    connection.close()
    await server.close()
  })
  const where = { clock, defaultNamespace: 'default' }
  return {
    server,
    clock,
    cluster: new ApiServerCluster(readApi(connection), where),
    writer: new ApiServerWriter(readApi(connection), writeApi(connection), {
      ...where,
      userAgent: 'backporch/test',
    }),
    requested: () =>
      server.requests
        .map(({ method, path }) => `${method} ${decodeURIComponent(path)}`)
        .filter((line) => !/^GET \/apis?$/.test(line)),
  }
}

/** A list as a server gives it; items have no apiVersion and kind of their own. */
export function listOf(
  kind: string,
  names: readonly string[],
  metadata: Readonly<Record<string, unknown>> = {},
) {
  const items = names.map((name) => ({ metadata: { name, resourceVersion: '5' }, data: { name } }))
  return {
    kind: `${kind}List`,
    apiVersion: 'v1',
    metadata: { resourceVersion: '100', ...metadata },
    items,
  }
}

/** A `Status` answer. */
export function statusAnswer(
  code: number,
  reason: string,
  message: string,
  details: unknown = undefined,
): ScriptedAnswer {
  return {
    status: code,
    body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details },
  }
}

export function query(request: ScriptedRequest, name: string): string | null {
  return new URL(request.path, 'https://x').searchParams.get(name)
}

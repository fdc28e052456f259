/** No connection before the first request. */
import {
  filterObjects,
  filterTexts,
  formatJson,
  getPartAt,
  isJsonArray,
  type JsonObject,
} from '@backporch/kyaml/json'
import { omitUndefined } from '@backporch/kyaml/text'
import type { Clock } from '@backporch/system/clock'
import type { Trace } from '@backporch/system/trace'
import type { V1SelfSubjectRulesReview } from '@kubernetes/client-node/dist/gen/models/V1SelfSubjectRulesReview.js'
import { ApiServerWriter } from '../apply/api-server-writer.ts'
import { ApiConnection, type ConnectionOptions } from '../connection/api-connection.ts'
import { type ReadApi, readApi, writeApi } from '../connection/cluster-api.ts'
import { createCredentialSource } from '../connection/credentials.ts'
import { type KubeconfigOptions, readKubeconfig } from '../connection/kubeconfig.ts'
import {
  createNotKubernetesFailure,
  parseJsonResponse,
  type RequestDescription,
} from '../connection/kubernetes-failure.ts'
import type { WireForm } from '../connection/wire-form.ts'
import { createEventApi } from '../events/event-api.ts'
import { EventWriter } from '../events/event-writer.ts'
import type { AccessRule, ClusterAccessAnswer } from '../ports/cluster.ts'
import type { ClusterWatch, WatchObserver } from '../ports/cluster-watch.ts'
import type { OpenedDriftEvents } from '../ports/drift-events.ts'
import { ApiServerWatch } from '../watch/api-server-watch.ts'
import type { WatchOptions } from '../watch/watch-options.ts'
import { ApiServerCluster } from './api-server-cluster.ts'

export interface ConnectOptions extends KubeconfigOptions {
  readonly clock: Clock
  /** Default: the context's name. */
  readonly name?: string
  /** `--kubeconfig-exec-allow`: absolute paths. */
  readonly execAllow?: readonly string[]
  readonly version: string
  /** Milliseconds per request; default 30 s. */
  readonly timeout?: number
  readonly trace?: Trace
  readonly connection?: Pick<
    ConnectionOptions,
    'random' | 'pingEvery' | 'pingWithin' | 'connectTimeout' | 'maxBody'
  >
}

export interface ConnectedCluster {
  readonly name: string
  readonly reader: ApiServerCluster
  watch(observer: WatchObserver, options?: WatchOptions): ClusterWatch
  /** An idle connection does not keep the process alive. */
  close(): void
}

/**
 * @param given `--namespace`; default: that of the context
 * @throws Failure BP1006
 */
export function connectCluster(options: ConnectOptions, given?: string): ConnectedCluster {
  const { connection, namespace } = open(options)
  const reader = new ApiServerCluster(readApi(connection), {
    clock: options.clock,
    defaultNamespace: given ?? namespace,
  })
  const watches: ClusterWatch[] = []
  return {
    name: connection.name,
    reader,
    watch(observer, watchOptions) {
      const watch = new ApiServerWatch(connection, observer, options.clock, watchOptions)
      watches.push(watch)
      return watch
    },
    close() {
      for (const watch of watches) void watch.close()
      connection.close()
    },
  }
}

/**
 * A separate connection.
 * @throws Failure BP1006, BP30xx
 */
export async function probeCluster(
  options: ConnectOptions,
  namespace: string,
  signal: AbortSignal,
): Promise<ClusterAccessAnswer> {
  const { connection } = open(options)
  try {
    return await probeAccess(readApi(connection), namespace, signal)
  } finally {
    connection.close()
  }
}

/**
 * A separate connection, for the settle step only.
 * @throws Failure BP1006
 */
export function connectClusterWriter(
  options: ConnectOptions,
  given?: string,
): { readonly writer: ApiServerWriter; close(): void } {
  const { connection, namespace } = open(options)
  const writer = new ApiServerWriter(readApi(connection), writeApi(connection), {
    clock: options.clock,
    defaultNamespace: given ?? namespace,
    userAgent: formatUserAgent(options),
  })
  return { writer, close: () => connection.close() }
}

/**
 * A separate connection that can write only Events.
 * @throws Failure BP1006
 */
export function connectDriftEvents(options: ConnectOptions): OpenedDriftEvents {
  const { connection } = open(options)
  return {
    events: new EventWriter(createEventApi(connection), readApi(connection), options.clock),
    close: () => connection.close(),
  }
}

function open(options: ConnectOptions): {
  readonly connection: ApiConnection
  readonly namespace: string
} {
  const access = readKubeconfig(options)
  const { clock, environment } = options
  const source = createCredentialSource(access, {
    environment,
    execAllow: options.execAllow ?? [],
    now: () => clock.now(),
  })
  const connection = new ApiConnection(options.name ?? access.context, access, source, {
    clock,
    environment,
    userAgent: formatUserAgent(options),
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    ...(options.trace === undefined ? {} : { trace: options.trace }),
    ...options.connection,
  })
  return { connection, namespace: access.namespace }
}

function formatUserAgent({ version }: ConnectOptions): string {
  return `backporch/${version}`
}

/**
 * `SelfSubjectRulesReview` stores nothing.
 * @throws Failure BP30xx
 */
async function probeAccess(
  api: ReadApi,
  namespace: string,
  signal: AbortSignal,
): Promise<ClusterAccessAnswer> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace },
  } satisfies WireForm<V1SelfSubjectRulesReview>
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
  const requested: RequestDescription = {
    cluster: api.cluster,
    verb: 'create',
    resource: undefined,
    path,
  }
  const response = await api.reviewRules(formatJson(body), requested, signal)
  const answer = parseJsonResponse(response, requested)
  const listed = getPartAt(answer, 'status', 'resourceRules')
  if (!isJsonArray(listed))
    throw createNotKubernetesFailure(requested, 'its answer is not a review of rules')
  const time = Date.parse(response.headers.get('date') ?? '')
  const user = await readUser(api, signal)
  return {
    ...omitUndefined({ user }),
    rules: filterObjects(listed).map(readAccessRule),
    incomplete: getPartAt(answer, 'status', 'incomplete') === true,
    serverTime: Number.isNaN(time) ? undefined : time,
  }
}

async function readUser(api: ReadApi, signal: AbortSignal): Promise<string | undefined> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const requested: RequestDescription = {
    cluster: api.cluster,
    verb: 'create',
    resource: undefined,
    path,
  }
  const response = await api.reviewSelf(formatJson(review), requested, signal)
  if (response.status === 404) return undefined
  const name = getPartAt(parseJsonResponse(response, requested), 'status', 'userInfo', 'username')
  return typeof name === 'string' ? name : undefined
}

function readAccessRule(rule: JsonObject): AccessRule {
  const texts = (key: string): readonly string[] => filterTexts(getPartAt(rule, key))
  return {
    verbs: texts('verbs'),
    groups: texts('apiGroups'),
    resources: texts('resources'),
    names: texts('resourceNames'),
  }
}

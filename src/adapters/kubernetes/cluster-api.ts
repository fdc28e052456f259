/**
 * The doors to an API server. `ReadApi` can only read, and apply as a dry run: it has no means to send anything else, so
 * what holds only a `ReadApi` cannot write. `WriteApi` is made apart, for the writer alone.
 */
import type { ApiCall, ApiConnection } from './connection/api-connection.ts'
import type { ApiResponse } from './connection/transport.ts'
import type { RequestDescription } from './kubernetes-failure.ts'

export interface GetOptions {
  readonly accept?: string
  /** Statuses that are an answer to the caller, not a failure. */
  readonly answers?: readonly number[]
}

export interface ReadApi {
  readonly cluster: string
  get(path: string, requested: RequestDescription, signal: AbortSignal, options?: GetOptions): Promise<ApiResponse>
  /** Server-side apply with `dryRun=All` and `force=true`. `path` is the object's, without a query. A refusal (4xx, and some 500) is an answer. */
  dryRunApply(path: string, body: string, fieldManager: string, requested: RequestDescription, signal: AbortSignal): Promise<ApiResponse>
  /** Asks whether we may do something. Stores nothing, and says `dryRun=All` all the same. */
  reviewAccess(body: string, requested: RequestDescription, signal: AbortSignal): Promise<ApiResponse>
  /** Asks for all that we may do in a namespace. Stores nothing either. */
  reviewRules(body: string, requested: RequestDescription, signal: AbortSignal): Promise<ApiResponse>
}

export interface WriteApi {
  apply(path: string, body: string, options: WriteOptions, requested: RequestDescription, signal: AbortSignal): Promise<ApiResponse>
  jsonPatch(path: string, body: string, options: WriteOptions, requested: RequestDescription, signal: AbortSignal): Promise<ApiResponse>
  delete(path: string, body: string, options: WriteOptions, requested: RequestDescription, signal: AbortSignal): Promise<ApiResponse>
}

export interface WriteOptions {
  readonly fieldManager: string
  readonly userAgent: string
  readonly answers?: readonly number[]
}

const APPLY = 'application/apply-patch+yaml'
/** Statuses with which a server may say that it will not take the object; 500 for a field that it does not know (docs/facts/refused-applies.md). */
const REFUSALS = [400, 403, 404, 409, 413, 422, 500]
const RULES_REVIEW_PATH = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
const ACCESS_REVIEW_PATH = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

export function readApi(connection: ApiConnection): ReadApi {
  return {
    cluster: connection.name,
    get: (path, requested, signal, options = {}) =>
      connection.send({ method: 'GET', path, repeatable: true, ...options }, requested, signal),
    dryRunApply: (path, body, fieldManager, queried, signal) => {
      const query = new URLSearchParams({ dryRun: 'All', fieldManager, force: 'true', fieldValidation: 'Ignore' })
      return connection.send(
        { method: 'PATCH', path: `${path}?${query}`, body, contentType: APPLY, repeatable: true, answers: REFUSALS },
        queried,
        signal,
      )
    },
    reviewAccess: (body, question, signal) =>
      connection.send({ method: 'POST', path: `${ACCESS_REVIEW_PATH}?dryRun=All`, body, repeatable: true }, question, signal),
    reviewRules: (body, query, signal) =>
      connection.send({ method: 'POST', path: `${RULES_REVIEW_PATH}?dryRun=All`, body, repeatable: true }, query, signal),
  }
}

/** Not repeatable: an answer that got lost is looked at by the caller, who reads again. */
export function writeApi(connection: ApiConnection): WriteApi {
  const send = (
    call: Omit<ApiCall, 'repeatable'>,
    options: WriteOptions,
    requested: RequestDescription,
    signal: AbortSignal,
  ): Promise<ApiResponse> => {
    const { userAgent, answers } = options
    return connection.send({ ...call, userAgent, repeatable: false, ...(answers === undefined ? {} : { answers }) }, requested, signal)
  }
  const query = (fieldManager: string): URLSearchParams => new URLSearchParams({ fieldManager, fieldValidation: 'Ignore' })
  return {
    apply: (path, body, options, queried, signal) => {
      const parameters = query(options.fieldManager)
      parameters.set('force', 'true')
      return send({ method: 'PATCH', path: `${path}?${parameters}`, body, contentType: APPLY }, options, queried, signal)
    },
    jsonPatch: (path, body, options, question, signal) =>
      send(
        { method: 'PATCH', path: `${path}?${query(options.fieldManager)}`, body, contentType: 'application/json-patch+json' },
        options,
        question,
        signal,
      ),
    delete: (path, body, options, asked, signal) => send({ method: 'DELETE', path, body }, options, asked, signal),
  }
}

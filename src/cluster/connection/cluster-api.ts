/** `ReadApi` cannot write; only the writer gets `WriteApi`. */
import type { ApiConnection } from './api-connection.ts'
import type { RequestDescription } from './kubernetes-failure.ts'
import type { ApiResponse } from './transport.ts'

interface GetOptions {
  readonly accept?: string
  readonly answers?: readonly number[]
}

export interface ReadApi {
  readonly cluster: string
  get(
    path: string,
    requested: RequestDescription,
    signal: AbortSignal,
    options?: GetOptions,
  ): Promise<ApiResponse>
  /** `dryRun=All`, `force=true`. A refusal (4xx, and some 500) is an answer. */
  dryRunApply(
    object: AppliedObject,
    requested: RequestDescription,
    signal: AbortSignal,
  ): Promise<ApiResponse>
  /** Stores nothing, but is sent with `dryRun=All` anyway. */
  reviewAccess(
    body: string,
    requested: RequestDescription,
    signal: AbortSignal,
  ): Promise<ApiResponse>
  reviewRules(
    body: string,
    requested: RequestDescription,
    signal: AbortSignal,
  ): Promise<ApiResponse>
  /** 404 where the server has no such review, before Kubernetes 1.28. */
  reviewSelf(body: string, requested: RequestDescription, signal: AbortSignal): Promise<ApiResponse>
}

export interface WriteApi {
  apply(write: ApiWrite, requested: RequestDescription, signal: AbortSignal): Promise<ApiResponse>
  jsonPatch(
    write: ApiWrite,
    requested: RequestDescription,
    signal: AbortSignal,
  ): Promise<ApiResponse>
  delete(write: ApiWrite, requested: RequestDescription, signal: AbortSignal): Promise<ApiResponse>
}

interface AppliedObject {
  readonly path: string
  readonly body: string
  readonly fieldManager: string
}

export interface ApiWrite extends AppliedObject {
  readonly userAgent: string
  readonly answers?: readonly number[]
}

const APPLY = 'application/apply-patch+yaml'
const JSON_PATCH = 'application/json-patch+json'
/** 500 is for an unknown field (docs/facts/refused-applies.md). */
const REFUSALS = [400, 403, 404, 409, 413, 422, 500]
const RULES_REVIEW_PATH = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
const SELF_REVIEW_PATH = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const ACCESS_REVIEW_PATH = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

export function readApi(connection: ApiConnection): ReadApi {
  const review =
    (path: string, answers: readonly number[] = []): ReadApi['reviewAccess'] =>
    (body, requested, signal) =>
      connection.send(
        { method: 'POST', path: `${path}?dryRun=All`, body, repeatable: true, answers },
        requested,
        signal,
      )
  return {
    cluster: connection.name,
    get: (path, requested, signal, options = {}) =>
      connection.send({ method: 'GET', path, repeatable: true, ...options }, requested, signal),
    dryRunApply: ({ path, body, fieldManager }, requested, signal) => {
      const query = new URLSearchParams({
        dryRun: 'All',
        fieldManager,
        force: 'true',
        fieldValidation: 'Ignore',
      })
      const call = {
        path: `${path}?${query}`,
        body,
        contentType: APPLY,
        repeatable: true,
        answers: REFUSALS,
      }
      return connection.send({ method: 'PATCH', ...call }, requested, signal)
    },
    reviewAccess: review(ACCESS_REVIEW_PATH),
    reviewRules: review(RULES_REVIEW_PATH),
    reviewSelf: review(SELF_REVIEW_PATH, [404]),
  }
}

/** Never repeats: after a lost answer the caller reads the object again. */
export function writeApi(connection: ApiConnection): WriteApi {
  const query = ({ fieldManager }: ApiWrite): URLSearchParams =>
    new URLSearchParams({ fieldManager, fieldValidation: 'Ignore' })
  const call = ({ body, userAgent, answers }: ApiWrite) => ({
    body,
    userAgent,
    repeatable: false,
    ...(answers === undefined ? {} : { answers }),
  })
  return {
    apply: (write, requested, signal) => {
      const path = `${write.path}?${query(write)}&force=true`
      return connection.send(
        { method: 'PATCH', path, contentType: APPLY, ...call(write) },
        requested,
        signal,
      )
    },
    jsonPatch: (write, requested, signal) => {
      const path = `${write.path}?${query(write)}`
      return connection.send(
        { method: 'PATCH', path, contentType: JSON_PATCH, ...call(write) },
        requested,
        signal,
      )
    },
    delete: (write, requested, signal) =>
      connection.send({ method: 'DELETE', path: write.path, ...call(write) }, requested, signal),
  }
}

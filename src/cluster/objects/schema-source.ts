import { type FieldSchema, findKindSchema } from '@backporch/kyaml/field'
import { getPartAt, getTextAt, isJsonObject, type Json } from '@backporch/kyaml/json'
import type { ReadApi } from '../connection/cluster-api.ts'
import {
  createNotKubernetesFailure,
  createNotServedFailure,
  describeRequestedPath,
  parseJsonResponse,
} from '../connection/kubernetes-failure.ts'

const INDEX = '/openapi/v3'
// Left to Go's content sniffing (kube-openapi, pkg/handler3, `HandleDiscovery`).
const INDEX_TYPES = ['text/plain']

export class SchemaSource {
  private readonly api: ReadApi
  private index: Promise<ReadonlyMap<string, string>> | undefined
  private readonly documents = new Map<string, Promise<Json>>()
  private readonly schemas = new Map<string, FieldSchema>()

  constructor(api: ReadApi) {
    this.api = api
  }

  /** @throws Failure BP3009 when no document has the kind, another BP30xx when it is not known */
  async readSchema(apiVersion: string, kind: string, signal: AbortSignal): Promise<FieldSchema> {
    const key = `${apiVersion}#${kind}`
    const known = this.schemas.get(key)
    if (known !== undefined) return known
    const schema =
      findKindSchema(await this.readDocument(apiVersion, signal), apiVersion, kind) ??
      (await this.findLateSchema(apiVersion, kind, signal))
    if (schema === undefined)
      throw createNotServedFailure(
        { cluster: this.api.cluster, apiVersion },
        kind,
        'the server publishes no OpenAPI schema of it',
      )
    this.schemas.set(key, schema)
    return schema
  }

  /** @throws Failure as `schemaOf` */
  async readDocument(apiVersion: string, signal: AbortSignal): Promise<Json> {
    const path = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`
    let url = (await this.readIndex(signal)).get(path)
    if (url === undefined) {
      this.index = undefined
      url = (await this.readIndex(signal)).get(path)
    }
    if (url === undefined)
      throw createNotServedFailure(
        { cluster: this.api.cluster, apiVersion },
        'any kind',
        'the server publishes no OpenAPI document of it',
      )
    try {
      return await this.readDocumentAt(url, signal)
    } catch (thrown) {
      // The server redirects from an old hash after the group got another kind.
      this.index = undefined
      signal.throwIfAborted()
      const now = (await this.readIndex(signal)).get(path)
      if (now === undefined || now === url) throw thrown
      return this.readDocumentAt(now, signal)
    }
  }

  private readDocumentAt(url: string, signal: AbortSignal): Promise<Json> {
    const known = this.documents.get(url)
    if (known !== undefined) return known
    const wanted = this.get(url, signal)
    this.documents.set(url, wanted)
    wanted.catch(() => this.documents.delete(url))
    return wanted
  }

  private async findLateSchema(
    apiVersion: string,
    kind: string,
    signal: AbortSignal,
  ): Promise<FieldSchema | undefined> {
    this.index = undefined
    return findKindSchema(await this.readDocument(apiVersion, signal), apiVersion, kind)
  }

  private readIndex(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    this.index ??= this.fetchIndex(signal).catch((thrown: unknown) => {
      this.index = undefined
      throw thrown
    })
    return this.index
  }

  private async fetchIndex(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const answer = await this.get(INDEX, signal)
    const paths = getPartAt(answer, 'paths')
    if (!isJsonObject(paths))
      throw createNotKubernetesFailure(
        describeRequestedPath(this.api.cluster, INDEX),
        'its OpenAPI index has no paths',
      )
    const urls = new Map<string, string>()
    for (const [path, entry] of Object.entries(paths)) {
      const url = getTextAt(entry, 'serverRelativeURL')
      // The index must not send the credentials to another server.
      if (/^\/(?!\/)/.test(url)) urls.set(path, url)
    }
    return urls
  }

  private async get(path: string, signal: AbortSignal): Promise<Json> {
    const requested = describeRequestedPath(this.api.cluster, path)
    return parseJsonResponse(
      await this.api.get(path, requested, signal),
      requested,
      path === INDEX ? INDEX_TYPES : [],
    )
  }
}

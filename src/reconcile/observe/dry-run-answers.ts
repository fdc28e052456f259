/**
 * An unchanged object, in git and in the cluster, does not cost a dry run in every turn
 * (docs/adr/0037-what-a-turn-remembers.md). An answer is valid for one cluster and server version,
 * one syncer, one content of git and one stored object. Its other causes (policies, webhooks,
 * quotas, rights) change without a trace, so it expires.
 */
import { hash } from 'node:crypto'
import type { ClusterIdentity } from '@backporch/cluster/cluster'
import type { FieldManager, FieldSchema } from '@backporch/kyaml/field'
import { formatJson, type Json, type JsonObject } from '@backporch/kyaml/json'
import {
  getMetadataText,
  getResourceKey,
  type Prediction,
  type Resource,
} from '@backporch/kyaml/resource'
import { LRUCache } from 'lru-cache'
import type { StoredManifest } from '../../drift/compare/last-applied.ts'

export interface AnswerContext {
  readonly cluster: string
  readonly identity: Pick<ClusterIdentity, 'uid' | 'version' | 'observedAt' | 'recorded'>
  readonly manager: string
}

export interface RequestedObject {
  readonly resource: Resource
  /** Undefined for a missing object. */
  readonly stored?:
    | {
        readonly live: JsonObject
        readonly schema: FieldSchema
        readonly syncer: FieldManager | undefined
        readonly lastApplied: StoredManifest | undefined
        readonly compared?: readonly number[]
      }
    | undefined
}

interface CachedAnswer<Answer> {
  readonly answer: Answer
  /** Milliseconds since 1970. */
  readonly until: number
}

interface Retained<Answer> extends CachedAnswer<Answer> {
  readonly of: string
  readonly namespace: string
}

/** Milliseconds. A refusal expires earlier, because people wait for its end. */
const KEPT = { possible: 1_800_000, refused: 300_000 }
const MOST = 50_000

export class DryRunAnswers<Answer> {
  /** One per object, because an answer about an earlier state is useless. */
  private readonly retained = new LRUCache<string, Retained<Answer>>({
    maxSize: MOST,
    sizeCalculation: () => 1,
  })

  forgotten = 0

  get held(): number {
    return this.retained.size
  }

  findRemembered(
    context: AnswerContext,
    requested: RequestedObject,
  ): CachedAnswer<Answer> | undefined {
    const location = formatAnswerKey(context, requested)
    const found = this.retained.get(location)
    if (found === undefined) return undefined
    if (found.until > getTime(context) && found.of === computeHash(context, requested)) return found
    this.retained.delete(location)
    return undefined
  }

  /**
   * An unknown result is not cached. For a namespace that is or will be deleted, no earlier answer
   * counts.
   * @returns milliseconds since 1970; 0 if it is not cached
   */
  keep(
    context: AnswerContext,
    requested: RequestedObject,
    predictions: readonly Prediction[],
    answer: Answer,
  ): number {
    if (context.identity.recorded || predictions.some(({ state }) => state === 'unproven')) return 0
    const refusals = predictions.filter((prediction) => prediction.state === 'refused')
    const namespace = `${context.cluster}/${requested.resource.id.namespace}`
    if (
      refusals.some(
        ({ reason }) => reason === 'NamespaceTerminating' || reason === 'NamespaceMissing',
      )
    ) {
      this.forget(namespace)
      return 0
    }
    const location = formatAnswerKey(context, requested)
    const of = computeHash(context, requested)
    const until =
      getTime(context) + (refusals.length === 0 ? KEPT.possible : KEPT.refused) * spread(of)
    this.retained.set(location, { answer, of, namespace, until })
    return until
  }

  private forget(namespace: string): void {
    this.forgotten += 1
    for (const [location, retained] of [...this.retained])
      if (retained.namespace === namespace) this.retained.delete(location)
  }
}

function getTime({ identity }: AnswerContext): number {
  return Date.parse(identity.observedAt)
}

/** Between 0.75 and 1.25, so that the answers of one turn do not all expire in the same turn. */
function spread(of: string): number {
  return 0.75 + Number.parseInt(of.slice(0, 4), 16) / 0x1_ffff
}

function formatAnswerKey(
  { cluster, manager }: AnswerContext,
  { resource: { id, apiVersion } }: RequestedObject,
): string {
  return JSON.stringify([cluster, manager, apiVersion, getResourceKey(id)])
}

function computeHash({ identity }: AnswerContext, { resource, stored }: RequestedObject): string {
  const parts: unknown[] = [identity.uid, identity.version, hashObjectContent(resource.object)]
  if (stored !== undefined) {
    const { live, schema, syncer, lastApplied, compared = [] } = stored
    parts.push(
      getMetadataText(live, 'uid'),
      getMetadataText(live, 'resourceVersion'),
      getNumber(schema),
      syncer,
      lastApplied,
      ...compared,
    )
  }
  return hash('sha256', formatJson(parts as Json))
}

/** The hash covers the content of Secrets, and never leaves the process. */
export function hashObjectContent(object: JsonObject): string {
  const known = CONTENT.get(object)
  if (known !== undefined) return known
  const created = hash('sha256', formatJson(object))
  CONTENT.set(object, created)
  return created
}

const CONTENT = new WeakMap<JsonObject, string>()

function getNumber(schema: FieldSchema): number {
  const known = SCHEMAS.get(schema)
  if (known !== undefined) return known
  schemas += 1
  SCHEMAS.set(schema, schemas)
  return schemas
}

const SCHEMAS = new WeakMap<FieldSchema, number>()
let schemas = 0

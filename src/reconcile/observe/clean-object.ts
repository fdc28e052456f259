/**
 * Reduces a live object to a manifest. The fields of its authors are sent as a creation under
 * another name; a field that the server then sets to the same value by itself is a default, and is
 * omitted. As a proof, an apply under the syncer's name must leave the object unchanged, and a
 * comparison must find no drift: a field that either would lose is kept. Both are dry runs.
 */
import type { ClusterReader } from '@backporch/cluster/cluster'
import { removeValueAt, writeValueAt } from '@backporch/kyaml/edit-yaml'
import type { Failure } from '@backporch/kyaml/failure'
import {
  createFieldStep,
  type FieldPath,
  type FieldSchema,
  findValueAt,
  formatFieldPath,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { describeResourceId, type Prediction, type Resource } from '@backporch/kyaml/resource'
import { extractAuthoredPart } from '../../drift/authored/authored-part.ts'
import type { ManifestAnswer } from '../../drift/authored/object-manifest.ts'
import { compareObjects, type FieldDifference } from '../../drift/compare/compare-resource.ts'
import type { SyncerManager } from '../../drift/compare/drift.ts'
import { classifyNoise } from '../../drift/detect/classify-noise.ts'
import { detectDrift } from '../../drift/detect/detect-drift.ts'
import { NO_SCALERS } from '../../drift/noise/scaler.ts'
import { createCreationProbe, findCreatedObject } from '../../drift/unowned/creation-probe.ts'
import { isLastApplied } from '../../drift/unowned/server-written.ts'
import type { EffectivePolicy } from '../../policy/effective-policy.ts'
import { listSyncersOfMark } from '../../syncers/marks.ts'

/** Dry runs per object. Fields that are no longer tried stay. */
const MOST_PROBES = 200
const MOST_RETURNS = 3

interface LiveObject extends Resource {
  readonly schema: FieldSchema
}

export interface CleaningPorts {
  readonly reader: Pick<ClusterReader, 'predict'>
  readonly manager: string
  /** Undefined if unknown: assume one that applies as `manager`. */
  readonly syncer: SyncerManager | undefined
  readonly presets: EffectivePolicy['presets']
}

/** @throws only the reason of `signal` */
export async function cleanObject(
  live: LiveObject,
  ports: CleaningPorts,
  signal: AbortSignal,
): Promise<ManifestAnswer> {
  return new Cleaning(live, ports, signal).run()
}

class Cleaning {
  private readonly live: LiveObject
  private readonly ports: CleaningPorts
  private readonly signal: AbortSignal
  private written: ReadonlySet<string> = new Set()
  private probes = 0
  private manifest: JsonObject

  constructor(live: LiveObject, ports: CleaningPorts, signal: AbortSignal) {
    this.live = live
    this.ports = ports
    this.signal = signal
    this.manifest = extractAuthoredPart(live.object)
  }

  async run(): Promise<ManifestAnswer> {
    const written = await this.findDifferences(this.manifest)
    if (written !== undefined) {
      this.written = new Set(written)
      await this.leaveOutDefaults()
    }
    return this.proveManifest()
  }

  private async leaveOutDefaults(): Promise<void> {
    for (const [name, value] of Object.entries(this.manifest)) {
      if (name === 'apiVersion' || name === 'kind') continue
      const [path, schema] = [
        [createFieldStep(name)],
        this.live.schema.getChildSchema(name),
      ] as const
      if (name !== 'metadata') await this.leaveOut(path, value, schema)
      else await this.leaveOutBelow(path, omitIdentity(value), schema)
    }
  }

  private async leaveOut(path: FieldPath, value: Json, schema: FieldSchema): Promise<void> {
    if (this.probes === MOST_PROBES) return
    const without = removeValueAt(this.manifest, path)
    if (isJsonObject(without) && (await this.isSame(without))) {
      this.manifest = without
      return
    }
    await this.leaveOutBelow(path, value, schema)
  }

  private async leaveOutBelow(path: FieldPath, value: Json, schema: FieldSchema): Promise<void> {
    if (isJsonObject(value)) {
      for (const [name, below] of Object.entries(value)) {
        // The server sets no defaults for the keys of a map of texts.
        if (schema.kind === 'object' && !schema.hasField(name) && typeof below !== 'object')
          continue
        // Linters and editors require what the schema requires, even if the server has a default.
        const [there, inner] = [
          [...path, createFieldStep(name)],
          schema.getChildSchema(name),
        ] as const
        if (schema.requires?.(name) === true) await this.leaveOutBelow(there, below, inner)
        else await this.leaveOut(there, below, inner)
      }
    } else if (isJsonArray(value)) {
      for (const [index, item] of value.entries()) {
        if (!isJsonObject(item)) continue
        // Items stay, so that indexes stay valid; a key may be a default itself.
        await this.leaveOutBelow([...path, { kind: 'index', index }], item, schema.getItemSchema())
      }
    }
  }

  private async isSame(manifest: JsonObject): Promise<boolean> {
    const differences = await this.findDifferences(manifest)
    return differences?.every((difference) => this.written.has(difference)) ?? false
  }

  /** Parts that a creation does not produce; undefined if the server does not answer. */
  private async findDifferences(manifest: JsonObject): Promise<readonly string[] | undefined> {
    this.probes += 1
    const { id, apiVersion, object, schema } = this.live
    const probe = createCreationProbe({ id, apiVersion, object: manifest }, manifest)
    const answer = await this.ports.reader.predict(probe.resource, this.ports.manager, this.signal)
    const created =
      answer.state === 'predicted'
        ? findCreatedObject(answer.object, probe, manifest, object)
        : undefined
    return created === undefined
      ? undefined
      : compareObjects(object, created, schema).map(({ path }) => formatFieldPath(path))
  }

  private async proveManifest(): Promise<ManifestAnswer> {
    for (let attempt = 0; ; attempt += 1) {
      const { id, apiVersion, object, schema } = this.live
      const answer: Prediction = await this.ports.reader.predict(
        { id, apiVersion, object: this.manifest },
        this.ports.manager,
        this.signal,
      )
      if (answer.state === 'unproven')
        return { manifest: this.manifest, unproven: answer.failure.why }
      if (answer.state === 'refused') return { failure: this.createRefusal(answer.failure) }
      const differences = compareObjects(object, answer.object, schema).filter(
        (each) => !this.isSyncersOwn(each),
      )
      const lost = differences.filter(
        ({ live, predicted }) => live !== undefined && predicted === undefined,
      )
      const [changed] = differences.filter((each) => !lost.includes(each))
      if (changed !== undefined) return { failure: this.moves(changed.path) }
      const missed = lost.length > 0 ? lost : this.computeDrift(answer)
      const [first] = missed
      if (first === undefined) return { manifest: this.manifest }
      if (attempt === MOST_RETURNS) return { failure: this.moves(first.path) }
      for (const { path } of missed) this.putBack(path)
    }
  }

  /** Of other writers: a default that somebody sent has an owner. */
  private computeDrift(prediction: Prediction): readonly { readonly path: FieldPath }[] {
    const { id, apiVersion, object, schema } = this.live
    const {
      manager,
      presets,
      syncer = { manager, operation: 'Apply', subresource: '' },
    } = this.ports
    const desired = { id, apiVersion, object: this.manifest, location: NOWHERE }
    const live = { state: 'present', object, metadataOnly: false } as const
    const verdict = detectDrift({ desired, live, schema, prediction }, syncer)
    const { items } = classifyNoise(verdict, {
      presets,
      syncer,
      scalers: NO_SCALERS,
      liveOf: () => undefined,
    })
    return items.filter(({ change }) => change === 'added')
  }

  private putBack(path: FieldPath): void {
    const value = findValueAt(this.live.object, path)
    const returned = value === undefined ? this.manifest : writeValueAt(this.manifest, path, value)
    if (isJsonObject(returned)) this.manifest = orderLikeLive(returned, this.live.object)
  }

  private isSyncersOwn({ path, live, predicted }: FieldDifference): boolean {
    return (
      listSyncersOfMark(path, live ?? predicted).length > 0 ||
      (predicted !== undefined && isLastApplied(path, predicted, this.live.id))
    )
  }

  private createRefusal({ why, remedy }: Failure) {
    return {
      code: 'BP2001' as const,
      what: `cannot adopt ${describeResourceId(this.live.id)}`,
      why: `the server refuses its manifest: ${why}`,
      remedy: `${remedy}; or write the manifest by hand and commit it`,
    }
  }

  private moves(path: FieldPath) {
    return {
      code: 'BP2001' as const,
      what: `cannot adopt ${describeResourceId(this.live.id)}`,
      why: `an apply of its manifest would change ${formatRedactedPath(path, this.live.id)} of it`,
      remedy: 'write the manifest by hand and commit it, or choose restore or release',
      retry: 'on-change' as const,
    }
  }
}

const NOWHERE = { path: '', document: 0, item: undefined, line: 1 } as const

function orderLikeLive(manifest: JsonObject, live: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(manifest).map(([name, value]) => [
      name,
      name === 'metadata' ? value : orderLike(value, getKey(live, name)),
    ]),
  )
}

function orderLike(value: Json, like: Json | undefined): Json {
  if (isJsonArray(value))
    return value.map((item, index) => orderLike(item, isJsonArray(like) ? like[index] : undefined))
  if (!isJsonObject(value) || !isJsonObject(like)) return value
  const names = Object.keys(like)
  const entries = Object.entries(value).sort(
    ([one], [other]) => names.indexOf(one) - names.indexOf(other),
  )
  return Object.fromEntries(
    entries.map(([name, below]) => [name, orderLike(below, getKey(like, name))]),
  )
}

function omitIdentity(metadata: Json): Json {
  if (!isJsonObject(metadata)) return metadata
  return Object.fromEntries(
    Object.entries(metadata).filter(([name]) => name !== 'name' && name !== 'namespace'),
  )
}

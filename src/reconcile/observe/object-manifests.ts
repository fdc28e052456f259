/** Manifests of objects to adopt. The server is asked only for an object that somebody adopts. */
import type { ClusterReader } from '@backporch/cluster/cluster'
import { convertToFailure } from '@backporch/kyaml/failure'
import { isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { getMetadataText, getResourceKey } from '@backporch/kyaml/resource'
import type { ManifestAnswer, ManifestLibrary } from '../../drift/authored/object-manifest.ts'
import type { Drift } from '../../drift/compare/drift.ts'
import { Unanswered } from '../../sources/programs/questions.ts'
import { type CleaningPorts, cleanObject } from './clean-object.ts'

export interface KnownManifests {
  get(key: string): ManifestAnswer | undefined
  set(key: string, answer: ManifestAnswer): unknown
}

export class ObjectManifests implements ManifestLibrary {
  private readonly reader: ClusterReader
  private readonly by: Omit<CleaningPorts, 'reader'>
  private readonly known: KnownManifests
  private readonly failed = new Map<string, ManifestAnswer>()

  constructor(reader: ClusterReader, by: Omit<CleaningPorts, 'reader'>, known: KnownManifests) {
    this.reader = reader
    this.by = by
    this.known = known
  }

  getManifest(drift: Drift): ManifestAnswer {
    const key = this.computeKey(drift)
    const answer = this.failed.get(key) ?? this.known.get(key)
    if (answer === undefined)
      throw new Unanswered({ kind: 'server', ask: (signal) => this.ask(drift, signal) })
    return answer
  }

  private async ask(drift: Drift, signal: AbortSignal): Promise<void> {
    const { id, apiVersion, live } = drift
    const object: JsonObject = isJsonObject(live) ? live : {}
    try {
      const { schema } = await this.reader.findServedKind(apiVersion, id.kind, signal)
      const answer = await cleanObject(
        { id, apiVersion, object, schema },
        { reader: this.reader, ...this.by },
        signal,
      )
      // A refusal's causes may change without the object.
      const kept: KnownManifests =
        'failure' in answer || answer.unproven !== undefined ? this.failed : this.known
      kept.set(this.computeKey(drift), answer)
    } catch (thrown) {
      signal.throwIfAborted()
      this.failed.set(this.computeKey(drift), { failure: convertToFailure(thrown).toJSON() })
    }
  }

  private computeKey({ id, uid, live }: Drift): string {
    const version = isJsonObject(live) ? getMetadataText(live, 'resourceVersion') : ''
    const { manager, syncer, presets } = this.by
    return JSON.stringify([
      this.reader.name,
      manager,
      syncer,
      [...presets],
      getResourceKey(id),
      uid,
      version,
    ])
  }
}

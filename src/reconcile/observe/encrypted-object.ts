/** Compares an object with encrypted fields. It sends no ciphertext and returns no plain value. */
import type { ClusterReader } from '@backporch/cluster/cluster'
import { Failure } from '@backporch/kyaml/failure'
import type { FieldPath } from '@backporch/kyaml/field'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import {
  describeResourceId,
  getResourceKey,
  type LiveState,
  type LiveView,
  type Resource,
  type WantedObject,
} from '@backporch/kyaml/resource'
import type { ObjectVerdict } from '../../drift/compare/drift.ts'
import {
  type EarlierValues,
  isEncrypted,
  removeSealedValues,
  type SealOptions,
  sealAnswer,
  sealLive,
} from '../../drift/detect/encrypted-fields.ts'
import type { ObservedObject } from '../../drift/detect/object-comparison.ts'

export type ObjectReader = Pick<ClusterReader, 'predict' | 'readLive'>

export class EncryptedObject implements ObjectReader {
  private readonly reader: ObjectReader
  private readonly observed: Omit<ObservedObject, 'prediction'>
  private options: SealOptions
  private plain: LiveState
  private unproven: readonly FieldPath[] = []
  private asksEarlier = false

  private constructor(
    reader: ObjectReader,
    observed: Omit<ObservedObject, 'prediction'>,
    options: SealOptions,
  ) {
    this.reader = reader
    this.observed = observed
    this.options = options
    this.plain = observed.live
  }

  /** Undefined without encrypted fields. */
  static createIfEncrypted(
    reader: ObjectReader,
    observed: Omit<ObservedObject, 'prediction'>,
    options: SealOptions,
  ): EncryptedObject | undefined {
    return isEncrypted(observed.desired.object)
      ? new EncryptedObject(reader, observed, options)
      : undefined
  }

  sealState(live: LiveState = this.plain): LiveState {
    this.plain = live
    if (live.state !== 'present') return live
    const { object, unproven, asksEarlier } = sealLive(
      live.object,
      this.observed.desired,
      this.observed.schema,
      this.options,
    )
    this.unproven = unproven
    this.asksEarlier = asksEarlier
    return { ...live, object }
  }

  async sealWithEarlier(
    read: ((desired: Resource) => Promise<EarlierValues>) | undefined,
  ): Promise<LiveState> {
    const first = this.sealState()
    if (!this.asksEarlier || read === undefined) return first
    this.options = { ...this.options, earlier: await read(this.observed.desired) }
    return this.sealState()
  }

  async readLive(wanted: readonly WantedObject[], signal: AbortSignal): Promise<LiveView> {
    const key = getResourceKey(this.observed.desired.id)
    const view = await this.reader.readLive(wanted, signal)
    return new Map(
      [...view].map(([name, state]) => [name, name === key ? this.sealState(state) : state]),
    )
  }

  predict: ClusterReader['predict'] = async (resource: Resource, fieldManager, signal) => {
    const { schema } = this.observed
    const live = this.plain.state === 'present' ? this.plain.object : {}
    const answer = await this.reader.predict(
      { ...resource, object: removeSealedValues(resource, live, schema) },
      fieldManager,
      signal,
    )
    return answer.state === 'predicted'
      ? {
          state: 'predicted',
          object: sealAnswer(answer.object, resource, schema, this.options.key),
        }
      : answer
  }

  /** If the writer of an encrypted field is unknown, the object is not proven to be in sync. */
  judgeVerdict(verdict: ObjectVerdict): ObjectVerdict {
    const [first, ...more] = this.unproven
    if (first === undefined || verdict.state !== 'in-sync') return verdict
    const others = more.length === 0 ? '' : ` and ${more.length} more`
    const failure = new Failure({
      code: 'BP3012',
      what: `encrypted fields of ${describeResourceId(verdict.id)} cannot be compared`,
      why: `git encrypts ${formatRedactedPath(first, verdict.id)}${others} with SOPS, and nothing says that the syncer wrote the live value`,
      remedy:
        'apply the decrypted object with the syncer, which is then known as its last writer; or name the syncer (--field-manager)',
    })
    return { ...verdict, state: 'unverified', proof: 'none', failure }
  }
}

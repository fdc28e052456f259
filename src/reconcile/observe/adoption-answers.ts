import type { ClusterReader } from '@backporch/cluster/cluster'
import { formatJson, type JsonObject } from '@backporch/kyaml/json'
import {
  getMetadataText,
  getResourceKey,
  type Prediction,
  type RefusalReason,
  type Resource,
} from '@backporch/kyaml/resource'
import type { AdoptionAnswer, AdoptionLibrary } from '../../drift/authored/object-manifest.ts'
import { Unanswered } from '../../sources/programs/questions.ts'

export interface KnownAdoptions {
  get(key: string): AdoptionAnswer | undefined
  set(key: string, answer: AdoptionAnswer): unknown
}

/** They concern the cluster, the namespace or git as it is, not the adopted values. */
const NOT_OF_VALUES: ReadonlySet<RefusalReason> = new Set([
  'NamespaceTerminating',
  'NamespaceMissing',
  'UnknownField',
  'QuotaExceeded',
  'Conflict',
  'TwoOfOneKey',
])

export class AdoptionAnswers implements AdoptionLibrary {
  private readonly reader: ClusterReader
  private readonly manager: string
  private readonly known: KnownAdoptions
  private readonly ofTurn = new Map<string, AdoptionAnswer>()

  constructor(reader: ClusterReader, manager: string, known: KnownAdoptions) {
    this.reader = reader
    this.manager = manager
    this.known = known
  }

  answerTo(resource: Resource, live: JsonObject): AdoptionAnswer {
    const version = [getMetadataText(live, 'uid'), getMetadataText(live, 'resourceVersion')]
    const { id, apiVersion, object } = resource
    const key = JSON.stringify([
      this.reader.name,
      this.manager,
      getResourceKey(id),
      apiVersion,
      ...version,
      formatJson(object),
    ])
    const answer = this.ofTurn.get(key) ?? this.known.get(key)
    if (answer === undefined)
      throw new Unanswered({ kind: 'server', ask: (signal) => this.ask(key, resource, signal) })
    return answer
  }

  /** A refusal's cause may change without the object: the next turn asks again. */
  private async ask(key: string, resource: Resource, signal: AbortSignal): Promise<void> {
    const answer = convertAnswer(await this.reader.predict(resource, this.manager, signal))
    const kept: KnownAdoptions = answer.state === 'accepted' ? this.known : this.ofTurn
    kept.set(key, answer)
  }
}

function convertAnswer(prediction: Prediction): AdoptionAnswer {
  if (prediction.state === 'predicted') return { state: 'accepted' }
  const { why } = prediction.failure
  if (
    prediction.state === 'unproven' ||
    (prediction.reason !== undefined && NOT_OF_VALUES.has(prediction.reason))
  )
    return { state: 'not-checked', why }
  return { state: 'refused', why }
}

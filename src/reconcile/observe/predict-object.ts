import type { ClusterReader } from '@backporch/cluster/cluster'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import {
  getMetadataText,
  getResourceKey,
  type LiveState,
  type Prediction,
} from '@backporch/kyaml/resource'
import type { SyncerManager } from '../../drift/compare/drift.ts'
import {
  buildCreationProbe,
  getAppliedPart,
  needsPrediction,
} from '../../drift/detect/detect-drift.ts'
import type { ObservedObject } from '../../drift/detect/object-comparison.ts'
import type { AnswerContext, DryRunAnswers } from './dry-run-answers.ts'
import type { ObjectReader } from './encrypted-object.ts'

/** An object that keeps changing is then compared as it is. */
const ATTEMPTS = 3

/**
 * A write after the read would show as false drift, so both are requested again. A dry run's answer
 * has the version of the object that it was computed on (docs/facts/dry-run-version.md).
 */
export async function addPrediction(
  reader: ObjectReader,
  object: Omit<ObservedObject, 'prediction'>,
  { syncer, manager }: { readonly syncer: SyncerManager | undefined; readonly manager: string },
  signal: AbortSignal,
): Promise<ObservedObject> {
  const { id, apiVersion } = object.desired
  let observed = object
  const sent = createSent(object)
  for (let attempt = 1; needsPrediction(observed, syncer); attempt += 1) {
    const prediction = await reader.predict(sent, manager, signal)
    if (attempt === ATTEMPTS || !hasMovedBetween(observed.live, prediction))
      return { ...observed, prediction }
    const live = (await reader.readLive([{ id, apiVersion }], signal)).get(getResourceKey(id))
    if (live === undefined) return { ...observed, prediction }
    observed = { ...observed, live }
  }
  return { ...observed, prediction: undefined }
}

export function hasMovedBetween(live: LiveState, prediction: Prediction): boolean {
  if (live.state !== 'present' || prediction.state !== 'predicted') return false
  const read = getMetadataText(live.object, 'resourceVersion') || undefined
  const predicted = getMetadataText(prediction.object, 'resourceVersion') || undefined
  return read !== undefined && predicted !== undefined && read !== predicted
}

/**
 * For objects without managers. After a failed attempt, for example without the right to create, no
 * other of its kind in its namespace is tried.
 */
export function createCreationPredictor(manager: string) {
  const unproven = new Map<string, Prediction>()
  return async <Object extends Omit<ObservedObject, 'prediction'>>(
    object: Object,
    reader: ObjectReader,
    signal: AbortSignal,
  ): Promise<Object> => {
    const probe = buildCreationProbe(object)
    if (probe === undefined) return object
    const { id, apiVersion } = object.desired
    const location = `${apiVersion} ${id.kind} ${id.namespace}`
    const prediction =
      unproven.get(location) ?? (await reader.predict(probe.resource, manager, signal))
    if (prediction.state === 'unproven') unproven.set(location, prediction)
    return { ...object, creation: { probe, prediction } }
  }
}

export interface MissingObjectAnswer {
  /** Undefined: the server would create the object. */
  readonly refusal: Extract<Prediction, { state: 'refused' }> | undefined
}

/**
 * A missing namespace, or a missing right to create a kind, applies to other absent objects too.
 */
export class MissingObjects {
  private readonly reader: ClusterReader
  private readonly context: AnswerContext
  private readonly answers: DryRunAnswers<MissingObjectAnswer>
  private readonly byNamespace = new Map<string, Promise<Prediction | undefined>>()
  private readonly unproven = new Set<string>()
  /** Milliseconds since 1970; 0 if an answer cannot be cached. */
  until = Number.POSITIVE_INFINITY

  constructor(
    reader: ClusterReader,
    context: AnswerContext,
    answers: DryRunAnswers<MissingObjectAnswer>,
  ) {
    this.reader = reader
    this.context = context
    this.answers = answers
  }

  /** A refused object is blocked, not only missing. */
  async addPrediction(
    object: Omit<ObservedObject, 'prediction'>,
    signal: AbortSignal,
  ): Promise<ObservedObject> {
    const known = this.answers.findRemembered(this.context, { resource: createSent(object) })
    if (known !== undefined) {
      this.until = Math.min(this.until, known.until)
      return { ...object, prediction: known.answer.refusal }
    }
    const { namespace } = object.desired.id
    const first = namespace === '' ? undefined : this.byNamespace.get(namespace)
    if (first === undefined) {
      const requested = this.ask(object, signal)
      this.byNamespace.set(namespace, requested)
      return { ...object, prediction: await requested }
    }
    const text = await first
    const forAll =
      text?.state === 'refused' &&
      (text.reason === 'NamespaceTerminating' || text.reason === 'NamespaceMissing')
    if (!forAll) return { ...object, prediction: await this.ask(object, signal) }
    this.until = 0
    return { ...object, prediction: text }
  }

  private async ask(
    object: Omit<ObservedObject, 'prediction'>,
    signal: AbortSignal,
  ): Promise<Prediction | undefined> {
    const { apiVersion, id } = object.desired
    const kind = `${apiVersion} ${id.kind} ${id.namespace}`
    if (this.unproven.has(kind)) {
      this.until = 0
      return undefined
    }
    const sent = createSent(object)
    const prediction = await this.reader.predict(sent, this.context.manager, signal)
    if (prediction.state === 'unproven') this.unproven.add(kind)
    const answer = { refusal: prediction.state === 'refused' ? prediction : undefined }
    this.until = Math.min(
      this.until,
      this.answers.keep(this.context, { resource: sent }, [prediction], answer),
    )
    return prediction
  }
}

function createSent(object: Omit<ObservedObject, 'prediction'>): DesiredResource {
  return { ...object.desired, object: getAppliedPart(object) }
}

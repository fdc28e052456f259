import type { ClusterReader } from '@backporch/cluster/cluster'
import type { PlainValues, RedactionKey } from '@backporch/kyaml/redaction'
import { getMetadataText, type Resource } from '@backporch/kyaml/resource'
import type { ObjectVerdict, SyncerManager } from '../../drift/compare/drift.ts'
import { addLiveCommands } from '../../drift/compare/live-commands.ts'
import { detectDrift } from '../../drift/detect/detect-drift.ts'
import { type EarlierValues, isEncrypted } from '../../drift/detect/encrypted-fields.ts'
import type { ObservedObject } from '../../drift/detect/object-comparison.ts'
import {
  type AnswerContext,
  type DryRunAnswers,
  hashObjectContent,
  type RequestedObject,
} from './dry-run-answers.ts'
import { EncryptedObject } from './encrypted-object.ts'
import {
  addPrediction,
  createCreationPredictor,
  hasMovedBetween,
  type MissingObjectAnswer,
  MissingObjects,
} from './predict-object.ts'
import type { ClusterVerdicts, UnitVerdicts } from './verdicts/cluster-verdicts.ts'

export type CachedVerdict = Omit<ObjectVerdict, 'desired' | 'live'>

export interface EarlierAnswers {
  readonly creations: DryRunAnswers<MissingObjectAnswer>
  readonly verdicts: DryRunAnswers<CachedVerdict>
  readonly clusters: ReadonlyMap<string, ClusterVerdicts>
}

type Observed = Omit<ObservedObject, 'prediction'>

export interface JudgeOptions {
  readonly syncer: SyncerManager | undefined
  readonly key: RedactionKey
  readonly known?: UnitVerdicts | undefined
  /** Undefined if decryption is not allowed. */
  readonly plain?: PlainValues | undefined
  readonly readEarlier?: ((desired: Resource) => Promise<EarlierValues>) | undefined
}

export class ObjectJudge {
  private readonly reader: ClusterReader
  private readonly context: AnswerContext
  private readonly options: JudgeOptions
  private readonly retained: DryRunAnswers<CachedVerdict>
  private readonly missing: MissingObjects
  private readonly withCreation: ReturnType<typeof createCreationPredictor>
  private answered = Number.POSITIVE_INFINITY

  constructor(
    reader: ClusterReader,
    context: AnswerContext,
    options: JudgeOptions,
    { verdicts, creations }: EarlierAnswers,
  ) {
    this.reader = reader
    this.context = context
    this.options = options
    this.retained = verdicts
    this.missing = new MissingObjects(reader, context, creations)
    this.withCreation = createCreationPredictor(context.manager)
  }

  /** Milliseconds since 1970; 0 if a verdict must be requested in every turn. */
  get until(): number {
    return Math.min(this.answered, this.missing.until)
  }

  async judge(object: Observed, signal: AbortSignal): Promise<ObjectVerdict> {
    const proven = this.findProven(object)
    if (proven !== undefined) return proven
    const desired = addLiveCommands(object.desired, object.live)
    const verdict = await this.compare(
      desired === object.desired ? object : { ...object, desired },
      signal,
    )
    this.options.known?.keep(object.live, verdict, this.buildQuestion(object), this.now)
    // Proposals refer to the object in git.
    return desired === object.desired ? verdict : { ...verdict, desired: object.desired }
  }

  private findProven({ desired, live, stored }: Observed): ObjectVerdict | undefined {
    const { known } = this.options
    if (known === undefined || live.state !== 'present' || live.metadataOnly) return undefined
    const { id, apiVersion } = desired
    const recalled = known.recall(
      id,
      live.object,
      this.buildQuestion({ desired, stored }),
      this.now,
    )
    if (recalled === undefined) return undefined
    this.answered = Math.min(this.answered, recalled.until)
    const { proof } = recalled
    return {
      id,
      apiVersion,
      desired,
      state: 'in-sync',
      proof,
      items: [],
      setAside: [],
      failure: undefined,
      reapplyFails: undefined,
    }
  }

  private buildQuestion({
    desired,
    stored,
  }: Pick<Observed, 'desired' | 'stored'>): readonly unknown[] {
    const { identity, manager } = this.context
    return [
      identity.uid,
      identity.version,
      hashObjectContent(desired.object),
      manager,
      this.options.syncer ?? null,
      stored ?? null,
      ...this.listCompared(desired),
    ]
  }

  private listCompared({ object }: Resource): readonly number[] {
    const { plain } = this.options
    return plain !== undefined && plain.size > 0 && isEncrypted(object) ? [plain.size] : []
  }

  private get now(): number {
    return Date.parse(this.context.identity.observedAt)
  }

  private async compare(object: Observed, signal: AbortSignal): Promise<ObjectVerdict> {
    const { syncer } = this.options
    const encrypted = EncryptedObject.createIfEncrypted(this.reader, object, this.options)
    // The server would validate the ciphertext.
    if (object.live.state === 'absent' && encrypted !== undefined)
      return detectDrift({ ...object, prediction: undefined }, syncer)
    if (object.live.state === 'absent')
      return detectDrift(await this.missing.addPrediction(object, signal), syncer)
    return this.findRemembered(object, encrypted) ?? this.ask(object, encrypted, signal)
  }

  private async ask(
    object: Observed,
    encrypted: EncryptedObject | undefined,
    signal: AbortSignal,
  ): Promise<ObjectVerdict> {
    const { syncer } = this.options
    const reader = encrypted ?? this.reader
    const found =
      encrypted === undefined
        ? object
        : { ...object, live: await encrypted.sealWithEarlier(this.options.readEarlier) }
    const created = await this.withCreation(found, reader, signal)
    const observed = await addPrediction(
      reader,
      created,
      { syncer, manager: this.context.manager },
      signal,
    )
    const detected = detectDrift(observed, syncer)
    const verdict = encrypted?.judgeVerdict(detected) ?? detected
    const until = this.keep(observed, verdict)
    this.answered = Math.min(this.answered, observed.live === found.live ? until : 0)
    return verdict
  }

  private findRemembered(
    object: Observed,
    encrypted: EncryptedObject | undefined,
  ): ObjectVerdict | undefined {
    const requested = this.createRequested(object)
    const retained =
      requested === undefined ? undefined : this.retained.findRemembered(this.context, requested)
    if (retained === undefined) return undefined
    this.answered = Math.min(this.answered, retained.until)
    const { answer } = retained
    const live = encrypted === undefined ? object.live : encrypted.sealState()
    return {
      ...answer,
      desired: object.desired,
      ...(answer.items.length === 0 || live.state !== 'present' ? {} : { live: live.object }),
    }
  }

  /**
   * Every turn requests whether an apply changes nothing, because readers of `in-sync` rely on it.
   * @returns no end if the verdict took no dry run
   */
  private keep(
    observed: ObservedObject,
    { desired: _desired, live: _live, ...verdict }: ObjectVerdict,
  ): number {
    const { prediction, creation } = observed
    const predictions = [prediction, creation?.prediction].filter((each) => each !== undefined)
    if (predictions.length === 0) return Number.POSITIVE_INFINITY
    if (verdict.items.length === 0 && creation === undefined) return 0
    // After a write in between, the answer is about another version of the object.
    if (prediction !== undefined && hasMovedBetween(observed.live, prediction)) return 0
    const requested = this.createRequested(observed)
    return requested === undefined
      ? 0
      : this.retained.keep(this.context, requested, predictions, verdict)
  }

  /** Undefined for an object that is not fully read, or has no version. */
  private createRequested({
    desired: resource,
    live,
    schema,
    stored,
  }: Observed): RequestedObject | undefined {
    if (
      live.state !== 'present' ||
      live.metadataOnly ||
      getMetadataText(live.object, 'resourceVersion') === ''
    )
      return undefined
    return {
      resource,
      stored: {
        live: live.object,
        schema,
        syncer: this.options.syncer,
        lastApplied: stored,
        compared: this.listCompared(resource),
      },
    }
  }
}

/** The verdict on one object, with the dry runs that it takes; what they showed of it in an earlier turn holds while the object is the same. */
import { detectDrift, type ObservedObject } from '../drift/detect-drift.ts'
import type { ObjectVerdict, Syncer } from '../drift/drift.ts'
import type { RedactionKey } from '../krm/redacted.ts'
import { metadataText } from '../krm/resource.ts'
import type { ClusterReader } from '../ports/cluster.ts'
import type { AnswerGround, AskedObject, DryRunAnswers } from './dry-run-answers.ts'
import { EncryptedObject } from './encrypted-object.ts'
import { Creations, type MissingObjectAnswer, MissingObjects, movedBetween, withPrediction } from './predict-object.ts'

/** Without what each turn reads by itself. */
export type KeptVerdict = Omit<ObjectVerdict, 'desired' | 'live'>

/** Of the turns before. */
export interface EarlierAnswers {
  /** What servers said to making what is missing. */
  readonly creations: DryRunAnswers<MissingObjectAnswer>
  /** What dry runs showed of objects that are there. */
  readonly verdicts: DryRunAnswers<KeptVerdict>
}

type Seen = Omit<ObservedObject, 'prediction'>

export class ObjectJudge {
  private readonly reader: ClusterReader
  private readonly ground: AnswerGround
  private readonly options: { readonly syncer: Syncer | undefined; readonly key: RedactionKey }
  private readonly kept: DryRunAnswers<KeptVerdict>
  private readonly missing: MissingObjects
  private readonly creations: Creations

  constructor(
    reader: ClusterReader,
    ground: AnswerGround,
    options: { readonly syncer: Syncer | undefined; readonly key: RedactionKey },
    { verdicts, creations }: EarlierAnswers,
  ) {
    this.reader = reader
    this.ground = ground
    this.options = options
    this.kept = verdicts
    this.missing = new MissingObjects(reader, ground, creations)
    this.creations = new Creations(reader, ground.manager)
  }

  async judge(object: Seen, signal: AbortSignal): Promise<ObjectVerdict> {
    const { syncer } = this.options
    const encrypted = EncryptedObject.of(this.reader, object, this.options)
    // What is encrypted cannot be tried: the server would judge the ciphertext.
    if (object.live.state === 'absent' && encrypted !== undefined) return detectDrift({ ...object, prediction: undefined }, syncer)
    if (object.live.state === 'absent') return detectDrift(await this.missing.withPrediction(object, signal), syncer)
    if (encrypted === undefined) return this.recall(object) ?? this.ask(object, signal)
    const created = await this.creations.withCreation({ ...object, live: encrypted.sealed() }, signal, encrypted)
    const { manager } = this.ground
    return encrypted.judged(detectDrift(await withPrediction(encrypted, created, syncer, manager, signal), syncer))
  }

  private async ask(object: Seen, signal: AbortSignal): Promise<ObjectVerdict> {
    const created = await this.creations.withCreation(object, signal)
    const observed = await withPrediction(this.reader, created, this.options.syncer, this.ground.manager, signal)
    const verdict = detectDrift(observed, this.options.syncer)
    this.keep(observed, verdict)
    return verdict
  }

  private recall(object: Seen): ObjectVerdict | undefined {
    const asked = this.asked(object)
    const kept = asked === undefined ? undefined : this.kept.recall(this.ground, asked)
    if (kept === undefined || object.live.state !== 'present') return undefined
    return { ...kept, desired: object.desired, ...(kept.items.length === 0 ? {} : { live: object.live.object }) }
  }

  /** That an apply changes nothing is asked in every turn: who is told `in-sync` relies on it. */
  private keep(observed: ObservedObject, { desired: _desired, live: _live, ...verdict }: ObjectVerdict): void {
    const { prediction, creation } = observed
    const predictions = [prediction, creation?.prediction].filter((each) => each !== undefined)
    if (predictions.length === 0 || (verdict.items.length === 0 && creation === undefined)) return
    // Somebody wrote in between, so the answer is about another object than the one that was read.
    if (prediction !== undefined && movedBetween(observed.live, prediction)) return
    const asked = this.asked(observed)
    if (asked !== undefined) this.kept.keep(this.ground, asked, predictions, verdict)
  }

  /** Undefined for what is not read whole, or has no version. */
  private asked({ desired: resource, live, schema, stored }: Seen): AskedObject | undefined {
    if (live.state !== 'present' || live.metadataOnly || metadataText(live.object, 'resourceVersion') === '') return undefined
    return { resource, stored: { live: live.object, schema, syncer: this.options.syncer, lastApplied: stored } }
  }
}

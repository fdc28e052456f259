/**
 * An object in sync costs no dry run while it, its manifest, its syncer and the epoch of its kind
 * are unchanged, for at most a day (docs/adr/0057-the-controller-watches.md).
 */
import { formatJson, type Json, type JsonObject } from '@backporch/kyaml/json'
import { isSecret, type RedactionKey } from '@backporch/kyaml/redaction'
import {
  computeKeyedMark,
  computeObjectMark,
  getResourceKey,
  type LiveState,
  type ResourceId,
  readResource,
  reportMark,
} from '@backporch/kyaml/resource'
import type { ObjectVerdict } from '../../../drift/compare/drift.ts'
import { computeStatus } from '../../../status/kstatus.ts'
import { KindEpochs } from './kind-epochs.ts'
import { RetainedJudges } from './retained-judges.ts'
import { MOST_SCOPES, packState, type RowVerdict, unpackState } from './row-state.ts'
import { HASH_WORDS, VerdictTable } from './verdict-table.ts'

/** Milliseconds. */
const HOLDS = 86_400_000
const SPREAD = 0.25

export interface VerdictScope {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string
  /** Of a Secret that was observed since the start; no file has it. */
  readonly name?: string
}

export interface StoredVerdicts {
  readonly table: VerdictTable
  readonly units: readonly string[]
  readonly scopes: readonly VerdictScope[]
}

function convertToWords(mark: Uint8Array, words: number): Uint32Array {
  // A copy, because `slice` of a Buffer is a view of shared memory.
  return new Uint32Array(
    new Uint8Array(mark.subarray(0, words * Uint32Array.BYTES_PER_ELEMENT)).buffer,
  )
}

export const NO_MARK = new Uint32Array(HASH_WORDS.mark)
const UNREAD_MARK = new Uint32Array(HASH_WORDS.mark).fill(0xffff_ffff)
const NO_QUESTION = new Uint32Array(HASH_WORDS.question)

export class ClusterVerdicts {
  readonly epochs = new KindEpochs()
  readonly judges = new RetainedJudges()
  readonly key: RedactionKey
  table: VerdictTable
  private readonly random: () => number
  private readonly unitNames: Numbered<string>
  private readonly scopeList: Numbered<VerdictScope>
  /** By hash of the id. */
  private readonly secrets = new Map<string, ResourceId>()

  constructor(key: RedactionKey, random: () => number, stored: StoredVerdicts | undefined) {
    this.key = key
    this.random = random
    this.table = stored?.table ?? new VerdictTable()
    this.unitNames = new Numbered((name) => name, stored?.units ?? [])
    this.scopeList = new Numbered(formatScopeKey, stored?.scopes ?? [])
  }

  get stored(): StoredVerdicts {
    return { table: this.table, units: this.unitNames.all, scopes: this.scopeList.all }
  }

  getUnitAt(number: number): string {
    return this.unitNames.all[number] ?? ''
  }

  getScopeAt(number: number): VerdictScope | undefined {
    return this.scopeList.all[number]
  }

  getScopeNumber({ group, kind, namespace }: ResourceId, apiVersion: string): number {
    return Math.min(
      this.scopeList.getNumber({ apiVersion: apiVersion || `${group}/`, kind, namespace }),
      MOST_SCOPES - 1,
    )
  }

  listScopes(): readonly VerdictScope[] {
    const used = new Set<number>()
    const named: VerdictScope[] = []
    for (const at of this.table.listPositions()) {
      const { scope } = unpackState(this.table.getRow(at).state)
      const secret = this.secrets.get(formatHash(this.table.getIdAt(at)))
      if (secret === undefined) used.add(scope)
      else named.push({ apiVersion: 'v1', ...secret })
    }
    return [...[...used].flatMap((number) => this.getScopeAt(number) ?? []), ...named]
  }

  getUnitVerdicts(name: string): UnitVerdicts {
    return new UnitVerdicts(this, this.unitNames.getNumber(name))
  }

  findVerdict(unit: string, object: JsonObject): RowVerdict | undefined {
    const read = readResource(object)
    if ('problem' in read) return undefined
    const at = this.table.findRow(this.computeHash(read.id), this.unitNames.getNumber(unit))
    return at === -1 ? undefined : unpackState(this.table.getRow(at).state).verdict
  }

  retainUnits(names: ReadonlySet<string>): void {
    this.table.deleteWhere(({ unit }) => !names.has(this.getUnitAt(unit)))
  }

  computeHash(id: ResourceId): Uint32Array {
    return convertToWords(computeKeyedMark(this.key, getResourceKey(id)), HASH_WORDS.id)
  }

  rememberSecret(id: ResourceId, hash: Uint32Array): void {
    if (isSecret(id)) this.secrets.set(formatHash(hash), id)
  }

  createMark(object: JsonObject): Uint32Array {
    return convertToWords(computeObjectMark(this.key, object), HASH_WORDS.mark)
  }

  /** Of a syncer resource the status counts. */
  chooseMark(verdict: RowVerdict, object: JsonObject): Uint32Array {
    return verdict === 'report'
      ? convertToWords(reportMark(this.key, object), HASH_WORDS.mark)
      : this.createMark(object)
  }

  /** Milliseconds since 1970. */
  end(now: number): number {
    return now + HOLDS * (1 - SPREAD * this.random())
  }

  listDueUnits(now: number): ReadonlySet<string> {
    const units = this.table.findEnded(Math.floor(now / 1000))
    return new Set([...units].map((number) => this.getUnitAt(number)))
  }
}

class Numbered<Item> {
  readonly all: Item[]
  private readonly keyOf: (item: Item) => string
  private readonly numbers: Map<string, number>

  constructor(keyOf: (item: Item) => string, items: readonly Item[]) {
    this.keyOf = keyOf
    this.all = [...items]
    this.numbers = new Map(this.all.map((item, number) => [keyOf(item), number]))
  }

  getNumber(item: Item): number {
    const key = this.keyOf(item)
    const number = this.numbers.get(key) ?? this.all.push(item) - 1
    this.numbers.set(key, number)
    return number
  }
}

function formatScopeKey({ apiVersion, kind, namespace }: VerdictScope): string {
  return `${apiVersion} ${kind} ${namespace}`
}

type Judged = Pick<ObjectVerdict, 'id' | 'apiVersion' | 'state' | 'proof' | 'items' | 'setAside'> &
  Partial<
    Pick<
      ObjectVerdict,
      'notes' | 'failure' | 'reapplyFails' | 'mayBeBehind' | 'notSettled' | 'visibilityOf'
    >
  >

export class UnitVerdicts {
  private readonly cluster: ClusterVerdicts
  private readonly number: number
  private readonly touched = new Set<string>()

  constructor(cluster: ClusterVerdicts, number: number) {
    this.cluster = cluster
    this.number = number
  }

  /**
   * @param question what else determines the verdict, as plain values
   * @param now milliseconds since 1970
   */
  recall(
    id: ResourceId,
    live: JsonObject,
    question: readonly unknown[],
    now: number,
  ): { readonly proof: ObjectVerdict['proof']; readonly until: number } | undefined {
    const asked = this.hashQuestion(id, question)
    if (asked === undefined) return undefined
    const { table } = this.cluster
    const hash = this.touch(id)
    const at = table.findRow(hash, this.number)
    if (at === -1) return undefined
    const row = table.getRow(at)
    const { verdict, proof } = unpackState(row.state)
    const holds = verdict === 'in-sync' && row.until * 1000 > now && isEqual(row.question, asked)
    return holds && isEqual(row.mark, this.cluster.createMark(live))
      ? { proof, until: row.until * 1000 }
      : undefined
  }

  /**
   * @param question undefined if it cannot be recalled
   * @returns milliseconds since 1970; 0 if only the object's state is stored
   */
  keep(
    live: LiveState,
    judged: Judged,
    question: readonly unknown[] | undefined,
    now: number,
  ): number {
    const { id } = judged
    const isProof =
      question !== undefined && isPlain(judged) && live.state === 'present' && !live.metadataOnly
    const asked = isProof ? this.hashQuestion(id, question) : undefined
    const until = asked === undefined ? 0 : this.cluster.end(now)
    const whole = live.state === 'present' && !live.metadataOnly
    this.cluster.table.put(this.touch(id), {
      mark: live.state === 'present' ? this.cluster.createMark(live.object) : NO_MARK,
      question: asked ?? NO_QUESTION,
      unit: this.number,
      until: Math.floor(until / 1000),
      state: packState({
        verdict: getRowVerdict(live, judged),
        proof: judged.proof,
        status: whole ? computeStatus(live.object, new Date(now)).status : undefined,
        marked: live.state !== 'unreadable',
        scope: this.cluster.getScopeNumber(id, judged.apiVersion),
      }),
    })
    return until
  }

  /** An older object state that was reported since then is not the last one. */
  confirm(live: LiveState, judged: Judged, now: number): void {
    const { table } = this.cluster
    const at = table.findRow(this.touch(judged.id), this.number)
    const mark = live.state === 'present' ? this.cluster.createMark(live.object) : NO_MARK
    const isSame =
      at !== -1 &&
      isEqual(table.getRow(at).mark, mark) &&
      unpackState(table.getRow(at).state).verdict === getRowVerdict(live, judged)
    if (!isSame) this.keep(live, judged, undefined, now)
  }

  /**
   * An unexpected object, or the resource of the unit's syncer.
   * @param live if unread, the state that is seen next counts as known
   */
  follow(
    { id, apiVersion }: Pick<Judged, 'id' | 'apiVersion'>,
    verdict: 'other' | 'report',
    live: LiveState | undefined,
  ): void {
    const { table } = this.cluster
    const hash = this.touch(id)
    const isUnread = live?.state === 'unreadable'
    if (table.findRow(hash, this.number) !== -1 && !isUnread) return
    const marked = live !== undefined
    const state = packState({
      verdict,
      proof: 'none',
      status: undefined,
      marked,
      scope: this.cluster.getScopeNumber(id, apiVersion),
    })
    // Both appearance and removal of an unreadable object are changes.
    const mark =
      live?.state === 'present'
        ? this.cluster.chooseMark(verdict, live.object)
        : isUnread
          ? UNREAD_MARK
          : NO_MARK
    table.put(hash, { mark, question: NO_QUESTION, unit: this.number, until: 0, state })
  }

  /** An object that did not occur in the observation does not belong to the unit. */
  retainTouched(): void {
    const { table } = this.cluster
    if (table.count(this.number) === this.touched.size) return
    table.deleteWhere(
      ({ unit }, at) => unit === this.number && !this.touched.has(formatHash(table.getIdAt(at))),
    )
  }

  private touch(id: ResourceId): Uint32Array {
    const hash = this.cluster.computeHash(id)
    this.touched.add(formatHash(hash))
    this.cluster.rememberSecret(id, hash)
    return hash
  }

  private hashQuestion(
    { group, kind }: ResourceId,
    question: readonly unknown[],
  ): Uint32Array | undefined {
    const epoch = this.cluster.epochs.getEpoch(group, kind)
    if (epoch === undefined) return undefined
    return convertToWords(
      computeKeyedMark(this.cluster.key, formatJson([epoch, ...question] as Json)),
      HASH_WORDS.question,
    )
  }
}

function isPlain({
  state,
  items,
  setAside,
  notes = [],
  failure,
  reapplyFails,
  mayBeBehind,
  notSettled,
  visibilityOf,
}: Judged): boolean {
  const without = [failure, reapplyFails, mayBeBehind, notSettled, visibilityOf].every(
    (part) => part === undefined,
  )
  return (
    state === 'in-sync' &&
    items.length === 0 &&
    setAside.length === 0 &&
    notes.length === 0 &&
    without
  )
}

function getRowVerdict(live: LiveState, { state }: Judged): RowVerdict {
  if (live.state === 'unreadable') return 'unreadable'
  if (live.state === 'absent') return 'absent'
  return state === 'in-sync' || state === 'drifted' ? state : 'other'
}

export function isEqual(left: Uint32Array, right: Uint32Array): boolean {
  return left.length === right.length && left.every((word, at) => word === right[at])
}

function formatHash(words: Uint32Array): string {
  return `${words[0]} ${words[1]}`
}

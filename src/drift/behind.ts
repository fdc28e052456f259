/**
 * Whose difference is it: git that moved, or somebody who wrote. What nobody but the syncer wrote may be what an earlier commit of
 * the package rendered; then git moved on and the syncer has not applied it yet, and that is no drift (design §5). What no commit
 * ever rendered is drift, whichever manager wrote it.
 */
import { Failure } from '../failure.ts'
import { type FieldPath, field, valueAt } from '../krm/field-path.ts'
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject, jsonEquals } from '../krm/json.ts'
import type { LiveView } from '../krm/live-view.ts'
import { type ManagedFields, managedFieldsOf, ownsPlace } from '../krm/managed-fields.ts'
import { canonicalQuantity } from '../krm/quantity.ts'
import { isSecret } from '../krm/redacted.ts'
import { annotationsOf } from '../krm/resource.ts'
import { resourceKey } from '../krm/resource-id.ts'
import { shownPathOnly } from '../krm/shown-path.ts'
import { isSyncer } from './actor.ts'
import { withItems } from './classify-ignored.ts'
import type { Drift, ObjectVerdict, SetAside, SetAsideState, Syncer } from './drift.ts'
import { lastAppliedOf, type StoredManifest } from './last-applied.ts'
import { withSecretData } from './secret-data.ts'
import { hasNoOwners } from './unowned/unowned-fields.ts'

/** One content of the package on the base branch. */
export interface PackageVersion {
  /** The first commit of the base branch with this content: 40 hex digits; empty for the time before the package was there. */
  readonly commit: string
  /** When the base branch got it, RFC 3339 UTC: its committer's clock. */
  readonly at: string
  /** What it renders, by `resourceKey`. */
  readonly objects: ReadonlyMap<string, JsonObject>
}

export interface PackageHistory {
  /** Newest first; the first one is what live is compared with. */
  readonly versions: readonly PackageVersion[]
  /** Place in `versions` of every commit that was walked. */
  readonly placeOf: ReadonlyMap<string, number>
  /** Whether it goes back to where the package began; otherwise only the latest versions were read. */
  readonly complete: boolean
  /** Why nothing older could be read, where that is so: in a shallow clone. */
  readonly cut?: Failure
}

/** What the syncer says about itself, where it has a resource that says anything. */
export interface SyncerReport {
  /** Commit that it applied last; undefined where it names none. */
  readonly applied: string | undefined
  /** Why it is at work just now, as a clause: `Flux Kustomization apps/web is at work`. */
  readonly atWork: string | undefined
  /** Why it applies nothing, as a clause. */
  readonly suspended: string | undefined
}

export const NO_SYNCER_REPORT: SyncerReport = { applied: undefined, atWork: undefined, suspended: undefined }

/** Everything that tells a syncer that is behind from a person who wrote. */
export interface SyncEvidence {
  readonly history: PackageHistory
  readonly syncer: Syncer | undefined
  readonly report: SyncerReport
  readonly live: LiveView
  /** Identities, by `resourceKey`, that the package's inventory lists; undefined where there is no inventory. */
  readonly inventory: ReadonlySet<string> | undefined
  /** What the syncer keeps of what it applied and compares its next apply with, by `resourceKey`; undefined where that is not known. */
  readonly stored: ReadonlyMap<string, StoredManifest> | undefined
  /** Of an earlier observation of the very same content: whether this difference waited for the syncer then. Undefined: no such observation. */
  readonly waitedBefore: ((drift: Drift) => boolean) | undefined
  /** RFC 3339 UTC, of the observation. */
  readonly now: string
}

/** How long an object that nothing else speaks about may be on its way, in milliseconds. */
const ON_ITS_WAY = 3_600_000

/** Moves what only waits for the syncer out of the items. Verdicts without an open question come back as they are. */
export function setBehindAside(verdicts: readonly ObjectVerdict[], evidence: SyncEvidence): ObjectVerdict[] {
  const judge = new Judge(evidence)
  return verdicts.map((verdict) => {
    const open = verdict.mayBeBehind
    if (open === undefined || open.size === 0) return verdict
    const { mayBeBehind: _decided, ...decided } = verdict
    const setAside: SetAside[] = []
    const items: Drift[] = []
    const undecided: Drift[] = []
    for (const drift of verdict.items) {
      const answer = open.has(drift) ? judge.decide(drift) : undefined
      if (answer === undefined) items.push(drift)
      else if (answer === 'older-commits') undecided.push(drift)
      else if ('note' in answer) items.push({ ...drift, notes: [...drift.notes, answer.note] })
      else setAside.push(answer.aside)
    }
    const kept = { ...decided, ...withItems(verdict, items), setAside: [...verdict.setAside, ...setAside] }
    const { cut } = evidence.history
    return undecided.length === 0 || cut === undefined ? kept : unproven(kept, undecided, cut)
  })
}

/** `older-commits`: only what a shallow clone lacks can say whose difference it is. */
type Answer = { readonly aside: SetAside } | { readonly note: string } | 'older-commits' | undefined

/** What is drift stays in the verdict; what may be lag is neither, and named. */
function unproven(verdict: ObjectVerdict, undecided: readonly Drift[], { code, what, where, why, remedy, retry }: Failure): ObjectVerdict {
  const places = undecided.map(({ change, path }) => (path.length === 0 ? `that it is ${change}` : shownPathOnly(path)))
  const failure = new Failure({
    code,
    what,
    ...(where === undefined ? {} : { where }),
    why: `${places.join(', ')} may be drift, or wait for the syncer: ${why}`,
    remedy,
    retry,
  })
  const state = verdict.items.length === 0 && verdict.state === 'in-sync' ? 'unverified' : verdict.state
  return { ...verdict, state, failure, reapplyFails: undefined }
}

class Judge {
  private readonly evidence: SyncEvidence
  private readonly versions: readonly PackageVersion[]
  /** Place of the commit that the syncer says it applied. */
  private readonly reported: number | undefined
  /** Newest version of which some live object proves that it was applied; found when it is first asked for. */
  private newestProven: number | undefined

  constructor(evidence: SyncEvidence) {
    this.evidence = evidence
    this.versions = evidence.history.versions
    this.reported = evidence.report.applied === undefined ? undefined : evidence.history.placeOf.get(evidence.report.applied)
  }

  decide(drift: Drift): Answer {
    switch (drift.change) {
      case 'modified':
      case 'added':
        return this.ofValue(drift)
      case 'removed':
        return this.ofRemoved(drift)
      case 'missing':
        return this.ofMissing(drift)
      case 'unexpected':
        return this.ofUnexpected(drift)
    }
  }

  /** The live value is the syncer's own: some commit rendered it, or somebody wrote through the syncer's manager. */
  private ofValue(drift: Drift): Answer {
    const stored = this.storedOf(drift)
    const applied = stored === undefined || drift.git === undefined ? undefined : valueIn(stored.object, drift)
    if (stored !== undefined && applied !== undefined && jsonEquals(applied, drift.git))
      return { note: `${stored.storedIn} has the value of git, so the live one was written later, under the syncer's own name` }
    const place = this.versions.findIndex(({ objects }, index) => {
      const object = index === 0 ? undefined : objects.get(resourceKey(drift.id))
      return object !== undefined && renders(valueIn(object, drift), drift.live, DATA_KINDS.has(drift.id.kind))
    })
    if (place !== -1) return this.behind(drift, place)
    if (this.evidence.history.cut !== undefined) return 'older-commits'
    // Of an object without managers nobody knows that it was the syncer.
    if (drift.actor.confidence === 'none') return undefined
    const looked = this.evidence.history.complete ? 'no version' : `none of the last ${this.versions.length} versions`
    return { note: `${looked} of the package in git has the live value, although the syncer's own field manager wrote it` }
  }

  /** Git has had the field since some commit: did the syncer apply that one? */
  private ofRemoved(drift: Drift): Answer {
    const key = resourceKey(drift.id)
    const lacking = this.versions.findIndex(({ objects }, index) => {
      const object = objects.get(key)
      return index > 0 && (object === undefined || valueIn(object, drift) === undefined)
    })
    const { cut } = this.evidence.history
    const oldest = this.versions.length - 1
    if (lacking === -1 && cut !== undefined && this.versions[oldest]?.objects.has(key) === true) {
      const state = this.evidence.live.get(key)
      return state?.state === 'present' && !this.wasApplied(drift, oldest, state.object) ? 'older-commits' : undefined
    }
    // A field that is as old as its object was applied with it.
    if (lacking === -1 || this.versions[lacking]?.objects.get(key) === undefined) return undefined
    const state = this.evidence.live.get(key)
    const live = state?.state === 'present' ? state.object : undefined
    if (live === undefined || this.wasApplied(drift, lacking - 1, live)) return undefined
    return this.behind(drift, lacking)
  }

  private wasApplied(drift: Drift, introduced: number, live: JsonObject): boolean {
    const { syncer, waitedBefore } = this.evidence
    const stored = this.storedOf(drift)
    if (stored !== undefined) return valueIn(stored.object, drift) !== undefined
    if (this.reported !== undefined) return this.reported <= introduced
    if (waitedBefore !== undefined && !waitedBefore(drift)) return true
    const applied = lastAppliedOf(live)
    if (applied !== undefined && valueIn(applied, drift) !== undefined) return true
    const managed = managedFieldsOf(live)
    // Without managers the annotation is the last apply; without both nothing speaks.
    if (hasNoOwners(managed)) return applied === undefined && Date.parse(this.evidence.now) - Date.parse(this.at(introduced)) > ON_ITS_WAY
    // The server gives a manager's entry a new time when its set grows: an older entry never had the field.
    const written = lastWriteOf(managed, syncer)
    return written === undefined || written >= this.at(introduced)
  }

  private ofMissing(drift: Drift): Answer {
    const key = resourceKey(drift.id)
    const lacking = this.versions.findIndex(({ objects }, index) => index > 0 && !objects.has(key))
    if (this.evidence.inventory?.has(key) === true) return undefined
    const { stored } = this.evidence
    if (lacking === -1) return this.ofOlder(drift)
    const neverApplied = stored !== undefined && !stored.has(key) && isKeptByHelm(drift)
    return neverApplied ? this.behind(drift, lacking) : this.onItsWay(drift, lacking)
  }

  private ofUnexpected(drift: Drift): Answer {
    const key = resourceKey(drift.id)
    const having = this.versions.findIndex(({ objects }, index) => index > 0 && objects.has(key))
    if (having === -1) return this.ofOlder(drift)
    return this.evidence.stored?.has(key) === true ? this.behind(drift, having) : this.onItsWay(drift, having)
  }

  /** No version that was read differs about the object: one that a shallow clone lacks may. */
  private ofOlder(drift: Drift): Answer {
    if (this.evidence.history.cut === undefined) return undefined
    return this.onItsWay(drift, this.versions.length) === undefined ? undefined : 'older-commits'
  }

  /** One of another version of the kind has other fields. */
  private storedOf({ id, apiVersion }: Drift): StoredManifest | undefined {
    const stored = this.evidence.stored?.get(resourceKey(id))
    return stored?.apiVersion === apiVersion ? stored : undefined
  }

  /** Nothing of the object itself says when it was applied: the syncer, the other objects and the time since the commit do. */
  private onItsWay(drift: Drift, before: number): Answer {
    const { waitedBefore, now } = this.evidence
    const changed = before - 1
    if (this.reported !== undefined) return this.reported <= changed ? undefined : this.behind(drift, before)
    if (waitedBefore !== undefined && !waitedBefore(drift)) return undefined
    if (this.provenPlace() <= changed) return undefined
    return Date.parse(now) - Date.parse(this.at(changed)) <= ON_ITS_WAY ? this.behind(drift, before) : undefined
  }

  /** The newest version that some live object shows as applied: by a value that only came with it and that the syncer owns. */
  private provenPlace(): number {
    this.newestProven ??= this.findProven()
    return this.newestProven
  }

  private findProven(): number {
    const { live, syncer } = this.evidence
    for (let place = 0; place + 1 < this.versions.length; place += 1) {
      const [version, earlier] = [this.versions[place], this.versions[place + 1]]
      for (const [key, object] of version?.objects ?? []) {
        const before = earlier?.objects.get(key)
        const state = live.get(key)
        if (before === object || state?.state !== 'present') continue
        const managed = managedFieldsOf(state.object)
        if (lastWriteOf(managed, syncer) === undefined) continue
        if (before === undefined || shows(state.object, object, before, managed, syncer)) return place
      }
    }
    return this.versions.length
  }

  private behind(drift: Drift, place: number): Answer {
    const { report, stored } = this.evidence
    const [first] = this.versions
    for (const { rollback, storedIn } of stored?.values() ?? []) {
      if (rollback === undefined || rollback.at < this.at(0)) continue
      return { note: `${storedIn} is a rollback to revision ${rollback.to} at ${rollback.at}, when git had ${short(first)} already` }
    }
    const commit = this.versions[place]?.commit ?? ''
    const since = this.sinceOf(drift)
    const git = `git has ${short(since)} since ${since?.at ?? ''}`
    const live = commit === '' ? `the package is new, ${git}` : `live is what ${commit.slice(0, 7)} rendered, ${git}`
    const [state, why]: [SetAsideState, string] =
      report.suspended !== undefined
        ? ['Suspended', `${live}, and nothing applies it: ${report.suspended}`]
        : report.atWork !== undefined
          ? ['Reconciling', `${live}, and ${report.atWork}`]
          : ['Behind', `${live}, and the syncer has not applied it yet`]
    return { aside: { drift, state, why, ...(commit === '' ? {} : { commit }) } }
  }

  /** The oldest version from which on git says what it says now: later ones changed other objects, or the Kptfile alone. */
  private sinceOf(drift: Drift): PackageVersion | undefined {
    const said = ({ objects }: PackageVersion): Json | undefined => {
      const object = objects.get(resourceKey(drift.id))
      return drift.path.length === 0 ? object !== undefined : object && valueIn(object, drift)
    }
    const [first] = this.versions
    const now = first && said(first)
    const other = this.versions.findIndex((version) => !sameValue(said(version), now))
    return this.versions[other - 1] ?? first
  }

  private at(place: number): string {
    return this.versions[place]?.at ?? ''
  }
}

/** Hooks, and the definitions in a chart's `crds/`, are in no manifest that Helm stores. */
function isKeptByHelm({ id, git }: Drift): boolean {
  return id.kind !== 'CustomResourceDefinition' && isJsonObject(git) && !annotationsOf(git).has('helm.sh/hook')
}

const DATA_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret'])

/** Whether live is what applying `declared` gives: the server may have added defaults inside. */
function renders(declared: Json | undefined, live: Json | undefined, data: boolean): boolean {
  if (declared === undefined || live === undefined) return false
  if (isJsonObject(declared) && isJsonObject(live)) {
    return Object.entries(declared).every(([name, value]) => renders(value, getKey(live, name), data))
  }
  if (isJsonArray(declared) && isJsonArray(live)) {
    return declared.length === live.length && declared.every((value, index) => renders(value, live[index], data))
  }
  return jsonEquals(declared, live) || (!data && sameQuantity(declared, live))
}

function sameValue(left: Json | undefined, right: Json | undefined): boolean {
  return left === undefined || right === undefined ? left === right : jsonEquals(left, right)
}

/** The server rewrites quantities: git's `1000m` is live as `1`. Data is text, whatever it looks like. */
function sameQuantity(declared: Json, live: Json): boolean {
  return typeof live === 'string' && !isJsonObject(declared) && canonicalQuantity(String(declared)) === live
}

/** Of a Secret, `stringData` stands where the server stores it. */
function valueIn(object: JsonObject, { id, path }: Drift): Json | undefined {
  return valueAt(isSecret(id) ? withSecretData(object) : object, path)
}

/** RFC 3339 of the syncer's last change to what it owns of the object itself; undefined where it has no entry. */
function lastWriteOf({ entries }: ManagedFields, syncer: Syncer | undefined): string | undefined {
  const times = entries.flatMap((entry) => (entry.subresource === '' && isSyncer(entry, syncer) ? [entry.time] : []))
  return times.length === 0 ? undefined : times.toSorted().at(-1)
}

/** Whether live has, in the syncer's hands, a scalar that `now` declares and `before` does not. */
function shows(live: JsonObject, now: JsonObject, before: JsonObject, managed: ManagedFields, syncer: Syncer | undefined): boolean {
  const own = managed.entries.filter((entry) => entry.subresource === '' && isSyncer(entry, syncer))
  return changedScalars(now, before, []).some(
    ({ path, value }) => jsonEquals(valueAt(live, path), value) && own.some((entry) => ownsPlace(entry, path, managed)),
  )
}

/** Scalars of maps only: an item of a list has no path of its own without its schema. */
function changedScalars(now: Json, before: Json | undefined, path: FieldPath): { path: FieldPath; value: Json }[] {
  if (jsonEquals(now, before) || isJsonArray(now)) return []
  if (!isJsonObject(now)) return [{ path, value: now }]
  const earlier = isJsonObject(before) ? before : {}
  return Object.entries(now).flatMap(([name, value]) => changedScalars(value, getKey(earlier, name), [...path, field(name)]))
}

function short(version: PackageVersion | undefined): string {
  return version?.commit.slice(0, 7) ?? 'an unknown commit'
}

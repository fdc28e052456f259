/**
 * A value that only the syncer wrote may come from an earlier commit that it has not replaced yet:
 * no drift (design §5). A value that no commit rendered is drift, whoever wrote it.
 */
import type { Failure } from '@backporch/kyaml/failure'
import { managedFieldsOf } from '@backporch/kyaml/field'
import { isJsonObject, type Json, type JsonObject, jsonEquals } from '@backporch/kyaml/json'
import { shownPathOnly } from '@backporch/kyaml/redaction'
import { annotationsOf, resourceKey } from '@backporch/kyaml/resource'
import type { Drift, ObjectVerdict, RolledBack, SetAside, SetAsideState } from '../compare/drift.ts'
import { lastAppliedOf, type StoredManifest } from '../compare/last-applied.ts'
import { lastWriteOf, rendersLive, valueIn } from '../detect/version-values.ts'
import { withItems } from '../noise/classify-ignored.ts'
import { hasNoOwners } from '../unowned/unowned-fields.ts'
import { AppliedVersions, sameValue } from './applied-versions.ts'
import { secondsAfter } from './arrivals.ts'
import type { ObservedLive, PackageVersion, SyncEvidence } from './sync-evidence.ts'

export function setBehindAside(
  verdicts: readonly ObjectVerdict[],
  evidence: SyncEvidence,
): ObjectVerdict[] {
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
      else if ('aside' in answer) setAside.push(answer.aside)
      else {
        const { note, rolledBack } = answer
        items.push({
          ...drift,
          notes: [...drift.notes, note],
          ...(rolledBack === undefined ? {} : { rolledBack }),
        })
      }
    }
    const retained = {
      ...decided,
      ...withItems(verdict, items),
      setAside: [...verdict.setAside, ...setAside],
    }
    const { cut } = evidence.history
    return undecided.length === 0 || cut === undefined
      ? retained
      : unproven(retained, undecided, cut)
  })
}

/** `older-commits`: a shallow clone lacks them. */
type Answer = { readonly aside: SetAside } | DriftAnswer | 'older-commits' | undefined
interface DriftAnswer {
  readonly note: string
  readonly rolledBack?: RolledBack
}

/** Keeps the drift. */
function unproven(
  verdict: ObjectVerdict,
  undecided: readonly Drift[],
  cut: Failure,
): ObjectVerdict {
  const locations = undecided.map(({ id, change, path }) =>
    path.length === 0 ? `that it is ${change}` : shownPathOnly(path, id),
  )
  const failure = cut.because(
    `${locations.join(', ')} may be drift, or wait for the syncer: ${cut.why}`,
  )
  const state =
    verdict.items.length === 0 && verdict.state === 'in-sync' ? 'unverified' : verdict.state
  return { ...verdict, state, failure, reapplyFails: undefined }
}

class Judge {
  private readonly evidence: SyncEvidence
  private readonly applied: AppliedVersions
  private readonly versions: readonly PackageVersion[]

  constructor(evidence: SyncEvidence) {
    this.evidence = evidence
    this.applied = new AppliedVersions(evidence)
    this.versions = this.applied.versions
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

  /** Another writer may have used the syncer's name. */
  private ofValue(drift: Drift): Answer {
    const stored = this.storedOf(drift)
    const applied =
      stored === undefined || drift.git === undefined ? undefined : valueIn(stored.object, drift)
    if (stored !== undefined && applied !== undefined && jsonEquals(applied, drift.git))
      return {
        note: `${stored.storedIn} has the value of git, so the live one was written later, under the syncer's own name`,
      }
    const index = this.versions.findIndex(({ objects }, index) => {
      const object = index === 0 ? undefined : objects.get(resourceKey(drift.id))
      return object !== undefined && rendersLive(object, drift)
    })
    if (index !== -1) return this.behind(drift, index)
    if (this.evidence.history.cut !== undefined) return 'older-commits'
    // Nothing identifies the syncer's writes.
    if (drift.actor.confidence === 'none') return undefined
    const observed = this.evidence.history.complete
      ? 'no version'
      : `none of the last ${this.versions.length} versions`
    return {
      note: `${observed} of the package in git has the live value, although the syncer's own field manager wrote it`,
    }
  }

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
      return state?.state === 'present' && !this.wasApplied(drift, oldest, state.object)
        ? 'older-commits'
        : undefined
    }
    // It was applied with its object.
    if (lacking === -1 || this.versions[lacking]?.objects.get(key) === undefined) return undefined
    const state = this.evidence.live.get(key)
    const live = state?.state === 'present' ? state.object : undefined
    if (live === undefined) return undefined
    const observed = this.applied.observedPlace(key)
    if (observed !== undefined && observed.index < lacking) {
      // A manual removal leaves the syncer's entry unchanged.
      const since = lastWriteOf(managedFieldsOf(live), this.evidence.syncer)
      return since !== undefined && since > observed.at
        ? this.rolledBack(lacking, observed)
        : undefined
    }
    return this.wasApplied(drift, lacking - 1, live) ? undefined : this.behind(drift, lacking)
  }

  private wasApplied(drift: Drift, introduced: number, live: JsonObject): boolean {
    const { syncer, waitedBefore } = this.evidence
    const stored = this.storedOf(drift)
    if (stored !== undefined) return valueIn(stored.object, drift) !== undefined
    if (this.applied.reported !== undefined) return this.applied.reported <= introduced
    if (waitedBefore !== undefined && !waitedBefore(drift)) return true
    const applied = lastAppliedOf(live)
    if (applied !== undefined && valueIn(applied, drift) !== undefined) return true
    const managed = managedFieldsOf(live)
    // Without managers only the annotation shows the last apply.
    if (hasNoOwners(managed)) return applied === undefined && this.applied.isOverdue(introduced)
    // A growing set gets a new time.
    const written = lastWriteOf(managed, syncer)
    return written === undefined || written >= this.applied.arrival(introduced).latest
  }

  private ofMissing(drift: Drift): Answer {
    const key = resourceKey(drift.id)
    const lacking = this.versions.findIndex(({ objects }, index) => index > 0 && !objects.has(key))
    const { stored, report, refused } = this.evidence
    // Helm stores what it applied before the failure; kpt also lists what it could not apply.
    const isRefused = refused.has(key) && stored?.has(key) !== true
    if (this.evidence.inventory?.has(key) === true && !isRefused) return undefined
    if (report.unappliedSince !== undefined || isRefused)
      return this.behind(drift, lacking === -1 ? this.versions.length : lacking)
    const observed = this.applied.observedPlace(key)
    if (observed !== undefined && this.versions[observed.index]?.objects.has(key) === true)
      return undefined
    if (lacking === -1) return this.ofOlder(drift)
    const neverApplied = stored !== undefined && !stored.has(key) && isRetainedByHelm(drift)
    return neverApplied ? this.behind(drift, lacking) : this.onItsWay(drift, lacking)
  }

  private ofUnexpected(drift: Drift): Answer {
    const key = resourceKey(drift.id)
    const having = this.versions.findIndex(({ objects }, index) => index > 0 && objects.has(key))
    if (having === -1) return this.ofOlder(drift)
    const observed = this.applied.observedPlace(key)
    if (observed !== undefined && observed.index < having) return this.rolledBack(having, observed)
    return this.evidence.stored?.has(key) === true
      ? this.behind(drift, having)
      : this.onItsWay(drift, having)
  }

  /** A shallow clone may lack another version of the object. */
  private ofOlder(drift: Drift): Answer {
    if (this.evidence.history.cut === undefined) return undefined
    return this.onItsWay(drift, this.versions.length) === undefined ? undefined : 'older-commits'
  }

  private storedOf({ id, apiVersion }: Drift): StoredManifest | undefined {
    const stored = this.evidence.stored?.get(resourceKey(id))
    return stored?.apiVersion === apiVersion ? stored : undefined
  }

  /** The syncer's report, other objects and the time since the commit decide. */
  private onItsWay(drift: Drift, before: number): Answer {
    const { waitedBefore } = this.evidence
    const changed = before - 1
    if (this.applied.reported !== undefined)
      return this.applied.reported <= changed ? undefined : this.behind(drift, before)
    if (waitedBefore !== undefined && !waitedBefore(drift)) return undefined
    if (this.applied.provenLocation() <= changed) return undefined
    return this.applied.isOverdue(changed) ? undefined : this.behind(drift, before)
  }

  private behind(drift: Drift, index: number): Answer {
    const rolledBack = this.rollback(drift, index)
    if (rolledBack !== undefined) return rolledBack
    const { report } = this.evidence
    const commit = this.versions[index]?.commit ?? ''
    const since = this.sinceLocation(drift)
    const git = `git has ${short(this.versions[since])} since ${this.applied.arrival(since).latest}`
    const isNew =
      report.unappliedSince !== undefined ? 'nothing of it was applied yet' : 'the package is new'
    const live =
      commit === '' ? `${isNew}, ${git}` : `live is what ${commit.slice(0, 7)} rendered, ${git}`
    const { state, why, stuckSince } = this.whyWaiting(drift, index)
    const says = report.says ?? (report.title === undefined ? undefined : `look at ${report.title}`)
    const observe =
      stuckSince === undefined || says === undefined || why === says ? {} : { observe: says }
    const late = stuckSince === undefined ? {} : { stuckSince }
    return {
      aside: {
        drift,
        state,
        why: `${live}, and ${why}`,
        ...(commit === '' ? {} : { commit }),
        ...late,
        ...observe,
      },
    }
  }

  private whyWaiting(
    drift: Drift,
    index: number,
  ): { readonly state: SetAsideState; readonly why: string; readonly stuckSince?: string } {
    const { report, refused, stuckAfter } = this.evidence
    if (report.suspended !== undefined)
      return { state: 'Suspended', why: `nothing applies it: ${report.suspended}` }
    const failed = report.failed ?? refused.get(resourceKey(drift.id))
    if (failed !== undefined) return { state: 'SyncFailed', why: failed, stuckSince: '' }
    const { earliest } = this.applied.arrival(index - 1)
    const begin = [earliest, report.unappliedSince ?? ''].toSorted().at(-1) ?? ''
    const stuckSince = secondsAfter(begin, stuckAfter)
    if (begin === '' || this.evidence.now > stuckSince) {
      return { state: 'Behind', why: this.whyStuck(drift, index - 1), stuckSince }
    }
    if (report.atWork !== undefined) return { state: 'Reconciling', why: report.atWork }
    return { state: 'Behind', why: report.says ?? 'the syncer has not applied it yet' }
  }

  private sinceLocation(drift: Drift): number {
    const text = ({ objects }: PackageVersion): Json | undefined => {
      const object = objects.get(resourceKey(drift.id))
      return drift.path.length === 0 ? object !== undefined : object && valueIn(object, drift)
    }
    const [first] = this.versions
    const now = first && text(first)
    return Math.max(this.versions.findIndex((version) => !sameValue(text(version), now)) - 1, 0)
  }

  /** Something newer than `index` was live. */
  private rollback(drift: Drift, index: number): DriftAnswer | undefined {
    const { id } = drift
    const observed = this.applied.observedPlace(resourceKey(id))
    const known =
      observed !== undefined && observed.index < index
        ? this.rolledBack(index, observed)
        : undefined
    const { stored } = this.evidence
    const commit = this.versions[index]?.commit ?? ''
    for (const { rollback, storedIn } of stored?.values() ?? []) {
      const since = this.sinceLocation(drift)
      if (rollback === undefined || rollback.at < this.applied.arrival(since).latest) continue
      const had = short(this.versions[since])
      const note = `${storedIn} is a rollback to revision ${rollback.to} at ${rollback.at}, when git had ${had} already`
      return { note, rolledBack: known?.rolledBack ?? { commit } }
    }
    if (known !== undefined) return known
    // A write before the reported commit proves nothing.
    if (this.applied.reported === undefined || this.applied.reported >= index) return undefined
    const written = this.applied.lastWrite(id)
    if (written === undefined || written < this.applied.arrival(this.applied.reported).latest)
      return undefined
    const applied = this.versions[this.applied.reported]
    const note = `${this.whatIsLive(index)}, although the syncer says that it applied ${short(applied)}`
    return { note, rolledBack: { commit } }
  }

  private rolledBack(index: number, { commit, at }: ObservedLive): DriftAnswer {
    const note = `${this.whatIsLive(index)}, although ${commit.slice(0, 7)} was live until ${at}`
    return {
      note,
      rolledBack: { commit: this.versions[index]?.commit ?? '', seen: { commit, at } },
    }
  }

  private whatIsLive(index: number): string {
    return `rolled back: live is what ${short(this.versions[index])} rendered`
  }

  private whyStuck({ id }: Drift, unapplied: number): string {
    const { stuckAfter } = this.evidence
    const { earliest } = this.applied.arrival(unapplied)
    const missed = `the syncer did not apply ${short(this.versions[unapplied])} within ${durationText(stuckAfter)}`
    if (earliest === '')
      return `${missed} as far as anybody knows: the commit is dated in the future`
    const written = this.applied.lastWrite(id)
    if (written === undefined || written <= secondsAfter(earliest, stuckAfter)) return missed
    return `${missed}: it wrote the object at ${written}, so it reads an older commit, or somebody applied one under its name`
  }
}

/** Its manifests omit hooks and `crds/`. */
function isRetainedByHelm({ id, git }: Drift): boolean {
  return (
    id.kind !== 'CustomResourceDefinition' &&
    isJsonObject(git) &&
    !annotationsOf(git).has('helm.sh/hook')
  )
}

function short(version: PackageVersion | undefined): string {
  return version?.commit.slice(0, 7) ?? 'an unknown commit'
}

function durationText(seconds: number): string {
  const units = { d: 86_400, h: 3_600, m: 60, s: 1 }
  const unit = (['d', 'h', 'm'] as const).find((name) => seconds % units[name] === 0) ?? 's'
  return `${seconds / units[unit]}${unit}`
}

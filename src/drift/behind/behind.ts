/**
 * A value that only the syncer wrote may come from an earlier commit that it has not replaced yet:
 * no drift (design §5). A value that no commit rendered is drift, whoever wrote it.
 */
import type { Failure } from '@backporch/kyaml/failure'
import { getManagedFields } from '@backporch/kyaml/field'
import { isJsonEqual, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { getAnnotations, getResourceKey } from '@backporch/kyaml/resource'
import type { Drift, ObjectVerdict, RolledBack, SetAside, SetAsideState } from '../compare/drift.ts'
import { findLastApplied, type StoredManifest } from '../compare/last-applied.ts'
import { findDriftValue, findLastWriteTime, rendersLive } from '../detect/version-values.ts'
import { replaceItems } from '../noise/classify-ignored.ts'
import { hasNoOwners } from '../unowned/unowned-fields.ts'
import { AppliedVersions, hasSameValue } from './applied-versions.ts'
import { computeSecondsAfter } from './arrivals.ts'
import type { ObservedLive, PackageVersion, SyncEvidence } from './sync-evidence.ts'

export function setBehindAside(
  verdicts: readonly ObjectVerdict[],
  evidence: SyncEvidence,
): ObjectVerdict[] {
  const judge = new LagClassifier(evidence)
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
      ...replaceItems(verdict, items),
      setAside: [...verdict.setAside, ...setAside],
    }
    const { cut } = evidence.history
    return undecided.length === 0 || cut === undefined
      ? retained
      : markUnproven(retained, undecided, cut)
  })
}

/** `older-commits`: a shallow clone lacks them. */
type Answer = { readonly aside: SetAside } | DriftAnswer | 'older-commits' | undefined
interface DriftAnswer {
  readonly note: string
  readonly rolledBack?: RolledBack
}

/** Keeps the drift. */
function markUnproven(
  verdict: ObjectVerdict,
  undecided: readonly Drift[],
  cut: Failure,
): ObjectVerdict {
  const locations = undecided.map(({ id, change, path }) =>
    path.length === 0 ? `that it is ${change}` : formatRedactedPath(path, id),
  )
  const failure = cut.replaceReason(
    `${locations.join(', ')} may be drift, or wait for the syncer: ${cut.why}`,
  )
  const state =
    verdict.items.length === 0 && verdict.state === 'in-sync' ? 'unverified' : verdict.state
  return { ...verdict, state, failure, reapplyFails: undefined }
}

class LagClassifier {
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
        return this.judgeValue(drift)
      case 'removed':
        return this.judgeRemoved(drift)
      case 'missing':
        return this.judgeMissing(drift)
      case 'unexpected':
        return this.judgeUnexpected(drift)
    }
  }

  /** Another writer may have used the syncer's name. */
  private judgeValue(drift: Drift): Answer {
    const stored = this.findStored(drift)
    const applied =
      stored === undefined || drift.git === undefined
        ? undefined
        : findDriftValue(stored.object, drift)
    if (stored !== undefined && applied !== undefined && isJsonEqual(applied, drift.git))
      return {
        note: `${stored.storedIn} has the value of git, so the live one was written later, under the syncer's own name`,
      }
    const index = this.versions.findIndex(({ objects }, index) => {
      const object = index === 0 ? undefined : objects.get(getResourceKey(drift.id))
      return object !== undefined && rendersLive(object, drift)
    })
    if (index !== -1) return this.judgeBehind(drift, index)
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

  private judgeRemoved(drift: Drift): Answer {
    const key = getResourceKey(drift.id)
    const lacking = this.versions.findIndex(({ objects }, index) => {
      const object = objects.get(key)
      return index > 0 && (object === undefined || findDriftValue(object, drift) === undefined)
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
    const observed = this.applied.findObservedPlace(key)
    if (observed !== undefined && observed.index < lacking) {
      // A manual removal leaves the syncer's entry unchanged.
      const since = findLastWriteTime(getManagedFields(live), this.evidence.syncer)
      return since !== undefined && since > observed.at
        ? this.createRollbackAnswer(lacking, observed)
        : undefined
    }
    return this.wasApplied(drift, lacking - 1, live) ? undefined : this.judgeBehind(drift, lacking)
  }

  private wasApplied(drift: Drift, introduced: number, live: JsonObject): boolean {
    const { syncer, waitedBefore } = this.evidence
    const stored = this.findStored(drift)
    if (stored !== undefined) return findDriftValue(stored.object, drift) !== undefined
    if (this.applied.reported !== undefined) return this.applied.reported <= introduced
    if (waitedBefore !== undefined && !waitedBefore(drift)) return true
    const applied = findLastApplied(live)
    if (applied !== undefined && findDriftValue(applied, drift) !== undefined) return true
    const managed = getManagedFields(live)
    // Without managers only the annotation shows the last apply.
    if (hasNoOwners(managed)) return applied === undefined && this.applied.isOverdue(introduced)
    // A growing set gets a new time.
    const written = findLastWriteTime(managed, syncer)
    return written === undefined || written >= this.applied.getArrival(introduced).latest
  }

  private judgeMissing(drift: Drift): Answer {
    const key = getResourceKey(drift.id)
    const lacking = this.versions.findIndex(({ objects }, index) => index > 0 && !objects.has(key))
    const { stored, report, refused } = this.evidence
    // Helm stores what it applied before the failure; kpt also lists what it could not apply.
    const isRefused = refused.has(key) && stored?.has(key) !== true
    if (this.evidence.inventory?.has(key) === true && !isRefused) return undefined
    if (report.unappliedSince !== undefined || isRefused)
      return this.judgeBehind(drift, lacking === -1 ? this.versions.length : lacking)
    const observed = this.applied.findObservedPlace(key)
    if (observed !== undefined && this.versions[observed.index]?.objects.has(key) === true)
      return undefined
    if (lacking === -1) return this.judgeOlder(drift)
    const neverApplied = stored !== undefined && !stored.has(key) && isRetainedByHelm(drift)
    return neverApplied ? this.judgeBehind(drift, lacking) : this.judgeOnItsWay(drift, lacking)
  }

  private judgeUnexpected(drift: Drift): Answer {
    const key = getResourceKey(drift.id)
    const having = this.versions.findIndex(({ objects }, index) => index > 0 && objects.has(key))
    if (having === -1) return this.judgeOlder(drift)
    const observed = this.applied.findObservedPlace(key)
    if (observed !== undefined && observed.index < having)
      return this.createRollbackAnswer(having, observed)
    return this.evidence.stored?.has(key) === true
      ? this.judgeBehind(drift, having)
      : this.judgeOnItsWay(drift, having)
  }

  /** A shallow clone may lack another version of the object. */
  private judgeOlder(drift: Drift): Answer {
    if (this.evidence.history.cut === undefined) return undefined
    return this.judgeOnItsWay(drift, this.versions.length) === undefined
      ? undefined
      : 'older-commits'
  }

  private findStored({ id, apiVersion }: Drift): StoredManifest | undefined {
    const stored = this.evidence.stored?.get(getResourceKey(id))
    return stored?.apiVersion === apiVersion ? stored : undefined
  }

  /** The syncer's report, other objects and the time since the commit decide. */
  private judgeOnItsWay(drift: Drift, before: number): Answer {
    const { waitedBefore } = this.evidence
    const changed = before - 1
    if (this.applied.reported !== undefined)
      return this.applied.reported <= changed ? undefined : this.judgeBehind(drift, before)
    if (waitedBefore !== undefined && !waitedBefore(drift)) return undefined
    if (this.applied.getProvenLocation() <= changed) return undefined
    return this.applied.isOverdue(changed) ? undefined : this.judgeBehind(drift, before)
  }

  private judgeBehind(drift: Drift, index: number): Answer {
    const rolledBack = this.findRollback(drift, index)
    if (rolledBack !== undefined) return rolledBack
    const { report } = this.evidence
    const commit = this.versions[index]?.commit || undefined
    const since = this.findSinceLocation(drift)
    const git = `git has ${formatCommit(this.versions[since])} since ${this.applied.getArrival(since).latest}`
    const isNew =
      report.unappliedSince !== undefined ? 'no part of it was applied yet' : 'the package is new'
    const live =
      commit === undefined
        ? `${isNew}, ${git}`
        : `live is what ${commit.slice(0, 7)} rendered, ${git}`
    const { state, why, stuckSince } = this.explainWaiting(drift, index)
    const says = report.says ?? (report.title === undefined ? undefined : `check ${report.title}`)
    const observe =
      stuckSince === undefined || says === undefined || why === says ? {} : { observe: says }
    const late = stuckSince === undefined ? {} : { stuckSince }
    return {
      aside: {
        drift,
        state,
        why: `${live}, and ${why}`,
        ...(commit === undefined ? {} : { commit }),
        ...late,
        ...observe,
      },
    }
  }

  private explainWaiting(
    drift: Drift,
    index: number,
  ): { readonly state: SetAsideState; readonly why: string; readonly stuckSince?: string } {
    const { report, refused, stuckAfter } = this.evidence
    if (report.suspended !== undefined)
      return { state: 'Suspended', why: `nothing applies it: ${report.suspended}` }
    const failed = report.failed ?? refused.get(getResourceKey(drift.id))
    if (failed !== undefined) return { state: 'SyncFailed', why: failed, stuckSince: '' }
    const { earliest } = this.applied.getArrival(index - 1)
    const begin = [earliest, report.unappliedSince]
      .filter((at) => at !== undefined)
      .sort()
      .at(-1)
    const stuckSince = begin === undefined ? '' : computeSecondsAfter(begin, stuckAfter)
    if (begin === undefined || this.evidence.now > stuckSince) {
      return { state: 'Behind', why: this.explainStuck(drift, index - 1), stuckSince }
    }
    if (report.atWork !== undefined) return { state: 'Reconciling', why: report.atWork }
    return { state: 'Behind', why: report.says ?? 'the syncer has not applied it yet' }
  }

  private findSinceLocation(drift: Drift): number {
    const text = ({ objects }: PackageVersion): Json | undefined => {
      const object = objects.get(getResourceKey(drift.id))
      return drift.path.length === 0
        ? object !== undefined
        : object && findDriftValue(object, drift)
    }
    const [first] = this.versions
    const now = first && text(first)
    return Math.max(this.versions.findIndex((version) => !hasSameValue(text(version), now)) - 1, 0)
  }

  /** Something newer than `index` was live. */
  private findRollback(drift: Drift, index: number): DriftAnswer | undefined {
    const { id } = drift
    const observed = this.applied.findObservedPlace(getResourceKey(id))
    const known =
      observed !== undefined && observed.index < index
        ? this.createRollbackAnswer(index, observed)
        : undefined
    const { stored } = this.evidence
    const commit = this.versions[index]?.commit ?? ''
    for (const { rollback, storedIn } of stored?.values() ?? []) {
      const since = this.findSinceLocation(drift)
      if (rollback === undefined || rollback.at < this.applied.getArrival(since).latest) continue
      const had = formatCommit(this.versions[since])
      const note = `${storedIn} is a rollback to revision ${rollback.to} at ${rollback.at}, when git had ${had} already`
      return { note, rolledBack: known?.rolledBack ?? { commit } }
    }
    if (known !== undefined) return known
    // A write before the reported commit proves nothing.
    if (this.applied.reported === undefined || this.applied.reported >= index) return undefined
    const written = this.applied.findLastWrite(id)
    if (written === undefined || written < this.applied.getArrival(this.applied.reported).latest)
      return undefined
    const applied = this.versions[this.applied.reported]
    const note = `${this.describeWhatIsLive(index)}, although the syncer says that it applied ${formatCommit(applied)}`
    return { note, rolledBack: { commit } }
  }

  private createRollbackAnswer(index: number, { commit, at }: ObservedLive): DriftAnswer {
    const note = `${this.describeWhatIsLive(index)}, although ${commit.slice(0, 7)} was live until ${at}`
    return {
      note,
      rolledBack: { commit: this.versions[index]?.commit ?? '', seen: { commit, at } },
    }
  }

  private describeWhatIsLive(index: number): string {
    return `rolled back: live is what ${formatCommit(this.versions[index])} rendered`
  }

  private explainStuck({ id }: Drift, unapplied: number): string {
    const { stuckAfter } = this.evidence
    const { earliest } = this.applied.getArrival(unapplied)
    const missed = `the syncer did not apply ${formatCommit(this.versions[unapplied])} within ${formatDuration(stuckAfter)}`
    if (earliest === undefined)
      return `${missed}, as far as is known: the commit is dated in the future`
    const written = this.applied.findLastWrite(id)
    if (written === undefined || written <= computeSecondsAfter(earliest, stuckAfter)) return missed
    return `${missed}: it wrote the object at ${written}, so it reads an older commit, or somebody applied one under its name`
  }
}

/** Its manifests omit hooks and `crds/`. */
function isRetainedByHelm({ id, git }: Drift): boolean {
  return (
    id.kind !== 'CustomResourceDefinition' &&
    isJsonObject(git) &&
    !getAnnotations(git).has('helm.sh/hook')
  )
}

function formatCommit(version: PackageVersion | undefined): string {
  return version?.commit.slice(0, 7) ?? 'an unknown commit'
}

function formatDuration(seconds: number): string {
  const units = { d: 86_400, h: 3_600, m: 60, s: 1 }
  const unit = (['d', 'h', 'm'] as const).find((name) => seconds % units[name] === 0) ?? 's'
  return `${seconds / units[unit]}${unit}`
}

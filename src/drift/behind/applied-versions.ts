import { getManagedFields } from '@backporch/kyaml/field'
import { isJsonEqual, type Json } from '@backporch/kyaml/json'
import { getResourceKey, type ResourceId } from '@backporch/kyaml/resource'
import { findLastWriteTime, matchesVersion } from '../detect/version-values.ts'
import { type Arrival, type ContentId, computeArrivals, computeSecondsAfter } from './arrivals.ts'
import type { ObservedLive, PackageVersion, SyncEvidence } from './sync-evidence.ts'

export class AppliedVersions {
  private readonly evidence: SyncEvidence
  readonly versions: readonly PackageVersion[]
  private readonly arrivals: readonly Arrival[]
  readonly reported: number | undefined
  private newestProven: number | undefined

  constructor(evidence: SyncEvidence) {
    this.evidence = evidence
    this.versions = evidence.history.versions
    this.reported =
      evidence.report.applied === undefined
        ? undefined
        : evidence.history.locationOf.get(evidence.report.applied)
    const { contents } = evidence.memory
    const seenAt = new Map(
      contents.toReversed().flatMap((content) => [[this.findLocation(content), content] as const]),
    )
    this.arrivals = computeArrivals(this.versions, (index) => seenAt.get(index), evidence.present)
  }

  /** In a rewritten history the newest version. */
  private findLocation({ commit, tree }: ContentId): number | undefined {
    const index =
      this.evidence.history.locationOf.get(commit) ??
      this.versions.findIndex((version) => version.tree === tree)
    return index === -1 ? undefined : index
  }

  /** Undefined if older than the evidence. */
  findObservedPlace(key: string): (ObservedLive & { readonly index: number }) | undefined {
    const { memory, now } = this.evidence
    const observed = memory.observedWith(key)
    const index =
      observed === undefined || now < observed.at ? undefined : this.findLocation(observed)
    if (observed === undefined || index === undefined) return undefined
    // git may have returned to the content before the observation.
    const returned = this.versions.findIndex(
      ({ tree }, at) => tree === observed.tree && this.getArrival(at).latest <= observed.at,
    )
    if (returned === -1 || returned >= index) return { ...observed, index }
    return { ...observed, commit: this.versions[returned]?.commit ?? '', index: returned }
  }

  getProvenLocation(): number {
    this.newestProven ??= Math.min(this.findProvenLive(), this.findProvenObservation())
    return this.newestProven
  }

  /** Also proves later versions without a change of the object. */
  private findProvenObservation(): number {
    let newest = this.versions.length
    const entries = this.versions.flatMap(({ objects }) => [...objects])
    const keysOf = Map.groupBy(entries, ([, object]) => object)
    for (const key of new Set(entries.map(([key]) => key))) {
      const observed = this.findObservedPlace(key)?.index
      const object = observed === undefined ? undefined : this.versions[observed]?.objects.get(key)
      if (observed === undefined || object === undefined) continue
      // An object has a key for each scope that its kind may have: the older answer counts.
      if (
        keysOf
          .get(object)
          ?.some(
            ([other]) => (this.findObservedPlace(other)?.index ?? this.versions.length) > observed,
          )
      )
        continue
      let location = observed
      while (hasSameValue(this.versions[location + 1]?.objects.get(key), object)) location += 1
      newest = Math.min(newest, location)
    }
    return newest
  }

  private findProvenLive(): number {
    const { live, syncer } = this.evidence
    for (let index = 0; index + 1 < this.versions.length; index += 1) {
      const [version, earlier] = [this.versions[index], this.versions[index + 1]]
      for (const [key, object] of version?.objects ?? []) {
        const before = earlier?.objects.get(key)
        const state = live.get(key)
        if (before === object || state?.state !== 'present') continue
        if (findLastWriteTime(getManagedFields(state.object), syncer) === undefined) continue
        if (before === undefined || matchesVersion(state.object, object, before, syncer))
          return index
      }
    }
    return this.versions.length
  }

  findLastWrite(id: ResourceId): string | undefined {
    const state = this.evidence.live.get(getResourceKey(id))
    return state?.state === 'present'
      ? findLastWriteTime(getManagedFields(state.object), this.evidence.syncer)
      : undefined
  }

  isOverdue(index: number): boolean {
    const { earliest } = this.getArrival(index)
    return (
      earliest === undefined ||
      this.evidence.now > computeSecondsAfter(earliest, this.evidence.stuckAfter)
    )
  }

  getArrival(index: number): Arrival {
    return this.arrivals[index] ?? { earliest: undefined, latest: this.evidence.present }
  }
}

export function hasSameValue(left: Json | undefined, right: Json | undefined): boolean {
  return left === undefined || right === undefined ? left === right : isJsonEqual(left, right)
}

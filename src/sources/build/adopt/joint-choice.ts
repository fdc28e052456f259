/**
 * Chooses the edits of many changes together, so that builds do not grow with the number of
 * changes. All changes are tried where they are authored; those that move another unit are tried in
 * the overlay; one build proves all. Only if it fails is each tried alone, all in one round of
 * builds.
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { catchFailure, Failure } from '@backporch/kyaml/failure'
import { type FieldPath, findValueAt, isWithin } from '@backporch/kyaml/field'
import { isJsonArray } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import { listSome, type MovedField } from '../../edits/moved-fields.ts'
import { getWantedValue, type ResolvedChange } from '../../edits/resolution-edits.ts'
import type { SourceFiles } from '../../kustomize/files/kustomize-build.ts'
import type { ChosenLocation } from '../../locate/adoption-failures.ts'
import {
  type Candidate,
  EVERYWHERE,
  type SourceCandidate,
  type SourceLocations,
} from '../../locate/candidate.ts'
import { computeEditsKey } from '../../locate/combine-locations.ts'
import { computeEach } from '../../programs/questions.ts'
import type { SharingUnit } from '../built-unit.ts'
import type { BuildTrials } from './build-trials.ts'
import { findSharingUnits, listOtherReadingUnits } from './shared-builds.ts'
import { applyCandidate } from './source-edits.ts'

export interface Trial {
  readonly candidate: SourceCandidate
  readonly index: number
  readonly files: SourceFiles
  readonly lands: boolean
  readonly others: readonly MovedField[]
}

/** Group among the authored locations or the overlay's, and index in it. */
export interface Place {
  readonly isOverlay: boolean
  readonly group: number
  readonly index: number
}

export interface Choice {
  readonly trial: Trial
  readonly note: readonly Note[]
  readonly place: Place
}

interface Joint {
  readonly files: SourceFiles
  readonly chosen: readonly ChosenLocation[]
  readonly notes: readonly Note[]
}

interface Tried extends Place {
  readonly authored?: Place
  readonly choice?: Choice
}

type Tries = ReadonlyMap<ResolvedChange, Tried>

/** Each try costs up to three rounds of builds, and advances at least one change. */
const MOST_TRIES = 8

export class JointChoice {
  private readonly trials: BuildTrials
  private readonly chooseAlone: (change: ResolvedChange) => Choice
  private readonly files: SourceFiles
  private readonly unedited = new Map<ResolvedChange, readonly SourceLocations[]>()

  /** @param chooseAlone finds the edit of one change by itself. @throws Failure, Unanswered */
  constructor(trials: BuildTrials, chooseAlone: (change: ResolvedChange) => Choice) {
    this.trials = trials
    this.chooseAlone = chooseAlone
    this.files = trials.input.source.files
  }

  /** Edits of as many of the changes as can be proven at once: without those whose edits are refused or depend on each other. @throws Unanswered */
  run(wanted: readonly ResolvedChange[]): Joint {
    let tries: Tries = wanted.length > 1 ? this.begin(wanted) : new Map()
    for (let left = MOST_TRIES; left > 0 && tries.size > 1; left -= 1) {
      const joint = this.edit(tries)
      const dirty = this.findDirty(joint.files, tries)
      const moving = dirty.length > 0 ? [] : this.findMoving(joint.files, tries)
      if (dirty.length === 0 && moving.length === 0) return joint
      tries = this.moveOn(tries, dirty, moving)
    }
    return { files: this.files, chosen: [], notes: [] }
  }

  /** A change that a person located, or that has several locations, is chosen alone. */
  private begin(wanted: readonly ResolvedChange[]): Tries {
    const isMixed = !areEverywhere(wanted)
    const placed = wanted.filter(({ via }) => via !== EVERYWHERE || !isMixed)
    const first = computeEach(placed, (change): readonly [ResolvedChange, Tried | undefined] => {
      const groups = this.getGroups(change, this.files, false)
      const group = groups.findIndex(({ candidates }) => candidates.length > 0)
      const found = groups[group]
      const isOne =
        found !== undefined &&
        change.via === undefined &&
        this.trials.listCandidates(found, this.files).length === 1
      return [change, isOne ? { isOverlay: false, group, index: 0 } : undefined]
    })
    const alone = this.tryAlone(
      first.flatMap(([change, tried]) => (tried === undefined ? [change] : [])),
    )
    return new Map(
      first.flatMap(([change, tried = alone.get(change)]) =>
        tried === undefined ? [] : [[change, tried]],
      ),
    )
  }

  private tryAlone(changes: readonly ResolvedChange[]): Tries {
    const found = computeEach(changes, (change) => {
      this.trials.restart()
      return catchFailure(() => this.chooseAlone(change))
    })
    return new Map(
      changes.flatMap((change, at) => {
        const choice = found[at]
        return choice === undefined || choice instanceof Failure
          ? []
          : [[change, { ...choice.place, choice }]]
      }),
    )
  }

  private getGroups(
    change: ResolvedChange,
    files: SourceFiles,
    isOverlay: boolean,
  ): readonly SourceLocations[] {
    const known = files === this.files ? this.unedited.get(change) : undefined
    const groups = known ?? this.trials.findLocations(change, files)
    if (files === this.files) this.unedited.set(change, groups)
    return groups.filter(({ onlyWhereShared }) => (onlyWhereShared === true) === isOverlay)
  }

  private findCandidateAt(
    change: ResolvedChange,
    { isOverlay, group, index }: Place,
    files: SourceFiles,
  ): SourceCandidate | undefined {
    const locations = this.getGroups(change, files, isOverlay)[group]
    return locations === undefined ? undefined : this.trials.listCandidates(locations, files)[index]
  }

  /** An edit of two changes is made once. A change without an edit has no value in the build. */
  private edit(tries: Tries): Joint {
    let { files } = this
    const made = new Set<string>()
    const chosen: ChosenLocation[] = []
    const notes: Note[] = []
    for (const [change, tried] of tries) {
      const own = this.findCandidateAt(change, tried, this.files)
      const key =
        own === undefined
          ? ''
          : `${computeEditsKey(own.edits)}${JSON.stringify([...(own.texts ?? [])])}`
      const candidate = this.findCandidateAt(change, tried, files)
      if (candidate === undefined || made.has(key)) continue
      made.add(key)
      const edited = catchFailure(() => applyCandidate(files, candidate))
      if (edited instanceof Failure) continue
      files = edited
      chosen.push({
        change,
        candidate: { ...candidate, via: tried.choice?.trial.candidate.via ?? candidate.via },
      })
      notes.push(...this.createNotes(change, tried, candidate))
    }
    return { files, chosen, notes }
  }

  private createNotes(
    change: ResolvedChange,
    { authored, choice }: Tried,
    candidate: Candidate,
  ): readonly Note[] {
    if (choice !== undefined) return choice.note
    const from =
      authored === undefined ? undefined : this.findCandidateAt(change, authored, this.files)
    if (from === undefined) return []
    const readers = listOtherReadingUnits(this.trials.input, applyCandidate(this.files, from))
    return [createOverlayNote(change, candidate, { from: from.what, readers })]
  }

  private findDirty(files: SourceFiles, tries: Tries): readonly ResolvedChange[] {
    const all = [...tries.keys()]
    if (this.trials.isClean(files, all)) return []
    return this.findSome(tries, (change, own) => !this.trials.isClean(own, [change]))
  }

  private findMoving(files: SourceFiles, tries: Tries): readonly ResolvedChange[] {
    const all = [...tries.keys()]
    if (areEverywhere(all)) return []
    const { input } = this.trials
    const sharing = findSharingUnits(input, files)
    if (sharing.length === 0) return []
    const moved = sharing.flatMap((unit) => unit.moved)
    const named = all.filter((change) => moved.some((each) => isMovedBy(each, change)))
    return named.length > 0
      ? named
      : this.findSome(tries, (_change, own) => findSharingUnits(input, own).length > 0)
  }

  private findSome(
    tries: Tries,
    isSo: (change: ResolvedChange, files: SourceFiles) => boolean,
  ): readonly ResolvedChange[] {
    const found = computeEach([...tries], ([change, tried]) =>
      isSo(change, this.edit(new Map([[change, tried]])).files) ? [change] : [],
    ).flat()
    return found.length > 0 ? found : [...tries.keys()]
  }

  private moveOn(
    tries: Tries,
    dirty: readonly ResolvedChange[],
    moving: readonly ResolvedChange[],
  ): Tries {
    const isNew = (change: ResolvedChange): boolean => {
      const tried = tries.get(change)
      return tried?.isOverlay === false && tried.choice === undefined
    }
    const alone = this.tryAlone(dirty.filter(isNew))
    return new Map(
      [...tries].flatMap(([change, tried]): readonly (readonly [ResolvedChange, Tried])[] => {
        if (!dirty.includes(change) && !moving.includes(change)) return [[change, tried]]
        const next =
          dirty.includes(change) && isNew(change)
            ? alone.get(change)
            : this.findNextOverlay(change, tried)
        return next === undefined ? [] : [[change, next]]
      }),
    )
  }

  private findNextOverlay(change: ResolvedChange, tried: Tried): Tried | undefined {
    const group = tried.isOverlay ? tried.group + 1 : 0
    const exists = this.getGroups(change, this.files, true)[group] !== undefined
    return tried.choice === undefined && exists
      ? { isOverlay: true, group, index: 0, authored: tried.authored ?? tried }
      : undefined
  }
}

export function createOverlayNote(
  change: ResolvedChange,
  { what }: Pick<Candidate, 'what'>,
  { from, readers }: { readonly from: string; readonly readers: readonly SharingUnit[] },
): Note {
  const { drift } = change
  const edited = getWantedValue(change) === undefined ? 'removes it' : 'changes it'
  const names = listSome(readers, ({ name }) => name)
  const text = `${formatRedactedPath(drift.path, drift.id) || 'the object'} comes from ${from}, which ${names} ${readers.length === 1 ? 'is' : 'are'} built from too: ${what} ${edited} here only`
  return { cause: 'shared-source', subject: describeResourceId(drift.id), text }
}

function areEverywhere(changes: readonly ResolvedChange[]): boolean {
  return changes.every(({ via }) => via === EVERYWHERE)
}

function isMovedBy(
  { resource, path }: MovedField,
  { drift: { id, path: own } }: ResolvedChange,
): boolean {
  if (
    resource.id.group !== id.group ||
    resource.id.kind !== id.kind ||
    resource.id.name !== id.name
  )
    return false
  const place = findPlace(resource, own)
  return isWithin(path, place) || isWithin(place, path)
}

function findPlace({ object }: DesiredResource, path: FieldPath): FieldPath {
  const items = path.findIndex((step, at) => {
    const list = findValueAt(object, path.slice(0, at))
    return step.kind !== 'field' && isJsonArray(list) && findValueAt(list, [step]) === undefined
  })
  return path.slice(0, items === -1 ? path.length : items).map((step, at) => {
    const list = findValueAt(object, path.slice(0, at))
    const item = findValueAt(object, path.slice(0, at + 1))
    return step.kind !== 'field' && isJsonArray(list) && item !== undefined
      ? { kind: 'index', index: list.indexOf(item) }
      : step
  })
}

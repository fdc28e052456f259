/**
 * Adopt and Release in a package with a pipeline: finds the authored location of each value, edits it, renders the edited package, and takes
 * the edit only if every chosen field has its chosen value and nothing else moved (design §8). A refusal names the function that prevents the
 * edit, and the fields that would move.
 */
import { valueAt } from '../../krm/field-path.ts'
import { resourceKey } from '../../krm/resource-id.ts'
import type { PackageFiles } from '../../package/package-files.ts'
import { answerCalls, type FunctionLibrary } from '../../render/answer-calls.ts'
import type { RenderWatcher } from '../../render/kpt/run-pipeline.ts'
import { writeItems } from '../../render/kpt/write-items.ts'
import { ProvenanceWatcher } from '../../render/provenance.ts'
import { type RenderedPackage, renderPackage } from '../../render/render-package.ts'
import { editYaml } from '../../yaml/edit/edit-yaml.ts'
import { jsonOf, type YamlMap } from '../../yaml/yaml-node.ts'
import { nodeAtPath } from '../../yaml/yaml-path.ts'
import { leaves, type MovedField, RenderedBefore, wantedBy } from '../moved-fields.ts'
import type { Rendered } from '../prove-edit.ts'
import { editFor, type FileEdit, type ResolvedChange } from '../resolution-edits.ts'
import {
  assertNamed,
  type ChosenLocation,
  editedChanges,
  movedTogether,
  notIdempotent,
  onlyTrial,
  problemsOf,
  refusal,
  tooMany,
  tryEdit,
  tryRender,
  undone,
} from './adoption-failures.ts'
import { AuthoredFiles } from './authored-files.ts'
import { type Candidate, editsByFile, type Locations, NOWHERE, type Obstacle } from './candidate.ts'
import { combineLocations, editsKey } from './combine-locations.ts'
import { LocationFinder, type Target } from './find-locations.ts'
import { inPlaceEdits } from './in-place.ts'
import { INVERSES } from './inverses.ts'

export interface AdoptionInput {
  readonly packagePath: string
  readonly files: PackageFiles
  readonly changes: readonly ResolvedChange[]
  readonly functions: FunctionLibrary
}

/** Changed texts by path from the root of the repository. */
export type EditedTexts = ReadonlyMap<string, string>

/** Renderings of one proposal. */
const MAX_RENDERINGS = 300
/** How often a function may revert an edit, whose config is then edited instead. */
const MOST_TURNS = 4

/** @throws Failure BP2001, BP2002, BP2010, BP2014 or BP1207, or the failure of the package */
export function adoptThroughPipeline(input: AdoptionInput): EditedTexts {
  const wanted = editedChanges(input.changes)
  return wanted.length === 0 ? new Map() : new Adoption(input).run(wanted)
}

/** Why each change by itself cannot be adopted, in their order; undefined where it can be adopted. */
export function adoptionProblems(input: AdoptionInput): readonly (string | undefined)[] {
  return problemsOf(input.changes, () => new Adoption(input).alone())
}

/** The rendered result of a candidate. */
interface Trial {
  readonly candidate: Candidate
  readonly texts: EditedTexts
  readonly lands: boolean
  readonly others: readonly MovedField[]
  readonly after: RenderedPackage
}

class Adoption {
  private readonly input: AdoptionInput
  private readonly authored: AuthoredFiles
  private readonly base: RenderedPackage
  private readonly before: RenderedBefore
  private readonly finder: LocationFinder
  private renderings = 0

  constructor(input: AdoptionInput) {
    this.input = input
    this.authored = new AuthoredFiles(input.packagePath, input.files)
    this.base = this.render(new Map(), new ProvenanceWatcher())
    this.before = new RenderedBefore(byKey(this.base), input.changes)
    this.finder = this.finderOf(this.base)
  }

  run(wanted: readonly ResolvedChange[]): EditedTexts {
    this.assertIdempotent()
    let edits: readonly FileEdit[] = []
    const chosen: ChosenLocation[] = []
    let last: Trial | undefined
    for (const change of wanted) {
      if (last !== undefined && this.before.landed(change, byKey(last.after))) continue
      last = this.choose(change, edits)
      chosen.push({ change, candidate: last.candidate })
      edits = [...edits, ...last.candidate.edits]
    }
    assertNamed(wanted, chosen)
    return last === undefined ? new Map() : this.inPlace(last, wanted)
  }

  /** Finds the edit of one change by itself. */
  alone(): (change: ResolvedChange) => void {
    this.assertIdempotent()
    return (change) => {
      this.renderings = 0
      this.choose(change, [])
    }
  }

  private choose(change: ResolvedChange, edits: readonly FileEdit[]): Trial {
    const { clean, dirty, obstacles } = this.tryAll(change, edits)
    const only = onlyTrial(change, clean)
    if (only === undefined) throw refusal(change, dirty, obstacles)
    return only
  }

  /** `clean`: candidates that land and move nothing else. `dirty`: candidates that land and move more. */
  private tryAll(
    change: ResolvedChange,
    edits: readonly FileEdit[],
  ): { readonly clean: readonly Trial[]; readonly dirty: readonly Trial[]; readonly obstacles: readonly Obstacle[] } {
    const target = this.targetOf(change)
    const trials = new Map<string, Trial>()
    const obstacles: Obstacle[] = []
    const work = ({ candidates, obstacles: known }: Locations): void => {
      obstacles.push(...known)
      const queue = candidates.map((candidate) => ({ candidate, turn: 0 }))
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const { candidate, turn } = next
        const key = editsKey(candidate.edits)
        const trial = trials.has(key) ? undefined : this.tryOne(candidate, change, edits, obstacles)
        if (trial === undefined) continue
        trials.set(key, trial)
        if (trial.lands || target === undefined || turn === MOST_TURNS) continue
        const more = this.takenBackBy(trial, change, target)
        obstacles.push(...more.obstacles)
        queue.push(...more.candidates.map((each) => ({ candidate: each, turn: turn + 1 })))
      }
    }
    if (target === undefined) work(this.objectLocations(change))
    else {
      work(this.finder.findParts(target))
      if (!isClean(trials)) work(this.finder.find(target))
    }
    const all = [...trials.values()]
    return {
      clean: all.filter(({ lands, others }) => lands && others.length === 0),
      dirty: all.filter(({ lands, others }) => lands && others.length > 0),
      obstacles,
    }
  }

  private tryOne(candidate: Candidate, change: ResolvedChange, edits: readonly FileEdit[], obstacles: Obstacle[]): Trial | undefined {
    const texts = tryEdit(obstacles, () => this.apply([...edits, ...candidate.edits]))
    const after = texts === undefined ? undefined : tryRender(obstacles, candidate.what, candidate, () => this.render(texts))
    if (texts === undefined || after === undefined) return undefined
    const rendered = byKey(after)
    return { candidate, texts, lands: this.before.landed(change, rendered), others: this.before.otherMoves(rendered), after }
  }

  /**
   * A function without an effect on the present values does not show in the present package, but reverts an edit: finds the location of its
   * value. Of a list or a map it reverts parts, and the edit of the rest stays.
   */
  private takenBackBy({ candidate, texts }: Trial, change: ResolvedChange, target: Target): Locations {
    const key = this.before.keyOf(change)
    const after = this.render(texts, new ProvenanceWatcher())
    const root = key === undefined ? undefined : after.nodes.get(key)
    const now = root === undefined ? undefined : nodeAtPath(root, target.path)?.node
    if (root === undefined || now === undefined) return NOWHERE
    const finder = this.finderOf(after)
    const { path: above, wanted } = target
    const parts = [...leaves(jsonOf(now), wanted, [])].map((path): Locations => {
      const node = nodeAtPath(now, path)?.node
      const writer = node?.writes?.at(-1)
      if (writer === undefined) return NOWHERE
      return finder.through(
        { ...target, root, path: [...above, ...path], wanted: wanted === undefined ? undefined : valueAt(wanted, path) },
        writer,
      )
    })
    return parts.length === 1 && now.kind === 'scalar' ? (parts[0] ?? NOWHERE) : combineLocations(parts, candidate)
  }

  /** Undefined for a whole object. */
  private targetOf(change: ResolvedChange): Target | undefined {
    const key = this.before.keyOf(change)
    const root = key === undefined ? undefined : this.base.nodes.get(key)
    if (root === undefined || change.drift.change === 'missing') return undefined
    return { root, path: change.drift.path, wanted: wantedBy(change), before: Number.POSITIVE_INFINITY, depth: 0 }
  }

  /** A missing object is removed from its file. */
  private objectLocations(change: ResolvedChange): Locations {
    const edit = editFor(change)
    if (edit === undefined || change.desired?.location.step !== undefined) return NOWHERE
    const { path, line } = change.desired?.location ?? { path: '', line: 1 }
    return { candidates: [{ via: 'manifest', what: `the manifest (${path}:${line})`, edits: [edit] }], obstacles: [] }
  }

  private finderOf({ run, nodes }: RenderedPackage): LocationFinder {
    const objects: readonly YamlMap[] = run?.items ?? [...nodes.values()]
    return new LocationFinder(this.authored, { runs: run?.runs ?? [], objects }, INVERSES)
  }

  private apply(edits: readonly FileEdit[]): EditedTexts {
    return new Map([...editsByFile(edits)].map(([path, list]) => [path, editYaml(this.authored.text(path), list, path)]))
  }

  /** @param watcher records what wrote each field; most renderings only prove an edit */
  private render(texts: EditedTexts, watcher?: RenderWatcher): RenderedPackage {
    this.renderings += 1
    if (this.renderings > MAX_RENDERINGS) throw tooMany(this.input.packagePath)
    const { packagePath, functions } = this.input
    const rendering = answerCalls(renderPackage(packagePath, this.filesWith(texts), watcher), functions)
    if ('failures' in rendering) throw rendering.failures[0]
    return rendering
  }

  private filesWith(texts: EditedTexts): PackageFiles {
    if (texts.size === 0) return this.input.files
    const left = new Map(texts)
    const edited = this.input.files.map((file) => {
      const text = texts.get(this.authored.where(file.path))
      left.delete(this.authored.where(file.path))
      return text === undefined ? file : { ...file, content: bytes(text) }
    })
    const created = [...left].map(([path, text]) => ({ path: this.authored.within(path), mode: '100644' as const, content: bytes(text) }))
    return created.length === 0 ? edited : [...edited, ...created].sort((one, other) => (one.path < other.path ? -1 : 1))
  }

  /** Without this, the result of an edit depends on the number of renders. */
  private assertIdempotent(): void {
    const { run } = this.base
    if (run === undefined) return
    const written = new Map([...writeItems(run.items)].map(([path, text]) => [this.authored.where(path), text]))
    // A package that is stored rendered is its own proof.
    if ([...written].every(([path, text]) => text === this.authored.text(path))) return
    const again = this.render(written)
    const [moved] = new RenderedBefore(byKey(this.base), []).otherMoves(byKey(again))
    if (moved !== undefined) throw notIdempotent(moved, again)
  }

  /** Updates files that are stored rendered to the render of the edited package, and proves the whole once more. */
  private inPlace({ texts, after }: Trial, wanted: readonly ResolvedChange[]): EditedTexts {
    const whole = inPlaceEdits({ authored: this.authored, texts, before: this.base, after })
    const last = whole.size === 0 ? after : this.render(new Map([...texts, ...whole]))
    const rendered = byKey(last)
    const lost = wanted.find((change) => !this.before.landed(change, rendered))
    if (lost !== undefined) throw undone(lost)
    const moved = this.before.otherMoves(rendered)
    if (moved.length > 0) throw movedTogether(this.input.packagePath, moved)
    return new Map([...texts, ...whole])
  }
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function byKey({ desired }: RenderedPackage): Rendered {
  return new Map(desired.resources.map((resource) => [resourceKey(resource.id), resource]))
}

function isClean(trials: ReadonlyMap<string, Trial>): boolean {
  return [...trials.values()].some(({ lands, others }) => lands && others.length === 0)
}

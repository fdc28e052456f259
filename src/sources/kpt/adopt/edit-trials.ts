/** Chooses the edit that gives the value and moves nothing else. */
import { answerCalls, type FunctionLibrary } from '@backporch/kpt/function'
import { isKptfile } from '@backporch/kpt/package'
import type { RenderWatcher } from '@backporch/kpt/render'
import { findValueAt } from '@backporch/kyaml/field'
import type { PackageFiles } from '@backporch/kyaml/files'
import { isJsonEqual } from '@backporch/kyaml/json'
import { convertYamlToJson, findNodeAtPath, type YamlMap } from '@backporch/kyaml/yaml'
import { AuthoredFiles } from '../../edits/authored-files.ts'
import { editAuthored } from '../../edits/edit-authored.ts'
import { type MovedField, RenderedBefore } from '../../edits/moved-fields.ts'
import { leaves } from '../../edits/prove-edit.ts'
import {
  createEdit,
  type FileEdit,
  getWrittenValue,
  type ResolvedChange,
} from '../../edits/resolution-edits.ts'
import {
  createTooManyChangesFailure,
  createTrialRefusal,
  type DirtyTrial,
  findNotProvenObstacle,
  findOnlyTrial,
  tryEdit,
  tryRender,
} from '../../locate/adoption-failures.ts'
import { AppliedConfigs } from '../../locate/applied-configs.ts'
import {
  type Candidate,
  groupEditsByFile,
  joinLocations,
  type Locations,
  NOWHERE,
  type Obstacle,
} from '../../locate/candidate.ts'
import {
  combineLocations,
  computeEditsKey,
  selectLeastEdits,
} from '../../locate/combine-locations.ts'
import { listRenamedFields } from '../../locate/renamed-items.ts'
import { LocationFinder, type Target } from '../locate/find-locations.ts'
import { INVERSES } from '../locate/inverses.ts'
import { ProvenanceWatcher } from '../render/provenance.ts'
import { type RenderedPackage, renderPackage } from '../render/render-package.ts'
import { computeInPlaceEdits } from './in-place.ts'
import { proveRenders } from './prove-renders.ts'
import { indexObjectsByKey, RepeatedRenders } from './repeated-renders.ts'
import {
  type Attempt,
  addEarlierRender,
  type Committed,
  type EditedTexts,
  isClean,
  type KnownRender,
  type Trial,
} from './trial.ts'

export interface AdoptionInput {
  readonly packagePath: string
  readonly files: PackageFiles
  readonly changes: readonly ResolvedChange[]
  readonly functions: FunctionLibrary
}

/** Per proposal. */
const MAX_RENDERINGS = 600
/** A function may revert an edit so often; then its config is edited. */
const MOST_TURNS = 4

export class EditTrials {
  readonly before: RenderedBefore
  readonly unedited: RepeatedRenders
  private readonly input: AdoptionInput
  private readonly authored: AuthoredFiles
  private readonly base: RenderedPackage
  private readonly finder: LocationFinder
  private readonly configs: AppliedConfigs
  private renderings = 0

  constructor(input: AdoptionInput) {
    this.input = input
    this.authored = new AuthoredFiles(input.packagePath, input.files)
    this.base = this.render(input.files, new ProvenanceWatcher())
    this.unedited = this.createRepeatedRenders(input.files, this.base)
    this.before = new RenderedBefore(this.unedited.first.objects, input.changes)
    this.finder = this.createFinder(this.base)
    this.configs = new AppliedConfigs(this.base.run?.runs ?? [], this.base.desired.resources)
  }

  restart(): void {
    this.renderings = 0
  }

  get areTooMany(): boolean {
    return this.renderings > MAX_RENDERINGS
  }

  /**
   * After `edits` for other changes.
   * @throws Failure if there is none, or more than one
   */
  choose(
    change: ResolvedChange,
    edits: readonly FileEdit[],
    pending: readonly ResolvedChange[],
  ): Trial {
    const { clean, dirty, obstacles } = this.tryAll(change, edits, pending)
    const best = [
      ({ movesPending }: Trial) => !movesPending,
      ({ applied }: Trial) => applied.length === 0,
    ].reduce(
      (left, isBetter) => (left.some(isBetter) ? left.filter(isBetter) : left),
      selectLeastEdits(clean),
    )
    const only = findOnlyTrial(change, best)
    const target = only === undefined ? this.findTarget(change) : undefined
    if (only === undefined)
      throw createTrialRefusal(change, {
        dirty,
        obstacles,
        writer: target && this.finder.findWriter(target),
      })
    return only
  }

  /** `clean` candidates move nothing else. */
  private tryAll(
    change: ResolvedChange,
    edits: readonly FileEdit[],
    pending: readonly ResolvedChange[],
  ): {
    readonly clean: readonly Trial[]
    readonly dirty: readonly DirtyTrial[]
    readonly obstacles: readonly Obstacle[]
  } {
    const target = this.findTarget(change)
    const trials = new Map<string, Trial>()
    const obstacles: Obstacle[] = []
    const work = ({ candidates, obstacles: known }: Locations): void => {
      obstacles.push(...known)
      const queue = candidates.map((candidate) => ({ candidate, turn: 0 }))
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const { candidate, turn } = next
        const key = computeEditsKey(candidate.edits)
        const trial = trials.has(key)
          ? undefined
          : this.tryOne(candidate, { change, edits, pending }, obstacles)
        if (trial === undefined) continue
        trials.set(key, trial)
        if (trial.lands || target === undefined || turn === MOST_TURNS) continue
        const more = this.locateRevertedChange(trial, change, target)
        obstacles.push(...more.obstacles)
        queue.push(...more.candidates.map((each) => ({ candidate: each, turn: turn + 1 })))
      }
    }
    if (target === undefined) work(this.findObjectLocations(change))
    else {
      const renamed = listRenamedFields(change, this.input.changes).map((each) =>
        this.finder.find({ ...target, ...each }),
      )
      work(combineLocations(renamed))
      if (!isClean(trials)) work(this.finder.findAnchor(target))
      if (!isClean(trials)) work(this.finder.findParts(target))
      if (!isClean(trials)) work(this.finder.find(target))
    }
    const all = [...trials.values()]
    return {
      clean: all.filter(({ lands, others }) => lands && others.length === 0),
      dirty: all
        .filter(({ lands, others }) => lands && others.length > 0)
        .map((each) => ({
          ...each,
          movesConfig: each.others.every((moved) => this.configs.has(moved)),
        })),
      obstacles,
    }
  }

  private tryOne(
    candidate: Candidate,
    { change, edits, pending }: Attempt,
    obstacles: Obstacle[],
  ): Trial | undefined {
    const texts = tryEdit(obstacles, () => this.apply([...edits, ...candidate.edits]))
    if (texts === undefined) return undefined
    return tryRender(obstacles, candidate, () => {
      const files = this.applyTexts(texts)
      const after = this.render(files)
      const objects = indexObjectsByKey(after)
      const moved = this.before.listOtherMoves(objects, pending)
      const isEntry = (each: MovedField): boolean =>
        this.configs.isEntry(each, [...edits, ...candidate.edits])
      const [lands, others, applied] = [
        this.before.hasLanded(change, objects),
        moved.filter((each) => !isEntry(each)),
        moved.filter(isEntry),
      ]
      const movesPending =
        pending.length > 0 && this.before.listOtherMoves(objects).length > moved.length
      const first = {
        candidate,
        texts,
        lands,
        others,
        applied,
        number: 1,
        rewritten: [],
        movesPending,
      }
      if (!lands || others.length > 0) return { ...first, committed: undefined }
      const whole = computeInPlaceEdits({
        authored: this.authored,
        texts,
        before: this.base,
        after,
      })
      const committed = this.commitTexts(new Map([...texts, ...whole]), {
        applied,
        known: whole.size === 0 ? { files, after } : undefined,
      })
      const { before, unedited } = this
      const proof = addEarlierRender(
        proveRenders({ before, unedited, edited: committed.renders, change, pending, isEntry }),
        {
          kptfiles: [...whole.keys()].filter(isKptfile),
          where: (path) => this.authored.resolveLocation(path),
        },
      )
      const problem = findNotProvenObstacle(candidate, proof)
      if (problem !== undefined) obstacles.push(problem)
      return { ...first, ...proof, lands: problem === undefined, committed }
    })
  }

  private commitTexts(
    texts: EditedTexts,
    { applied, known }: Pick<Committed, 'applied'> & { readonly known: KnownRender | undefined },
  ): Committed {
    const files = known?.files ?? this.applyTexts(texts)
    return {
      texts,
      applied,
      renders: this.createRepeatedRenders(files, known?.after ?? this.render(files)),
    }
  }

  private createRepeatedRenders(files: PackageFiles, first: RenderedPackage): RepeatedRenders {
    return new RepeatedRenders(files, first, (next) => this.render(next))
  }

  /**
   * A function without effect on the present values may revert an edit, of a list or map also in
   * parts.
   */
  private locateRevertedChange(
    { candidate, texts }: Trial,
    change: ResolvedChange,
    target: Target,
  ): Locations {
    const key = this.before.findKey(change)
    const after = this.render(this.applyTexts(texts), new ProvenanceWatcher())
    const root = key === undefined ? undefined : after.nodes.get(key)
    const now = root === undefined ? undefined : findNodeAtPath(root, target.path)?.node
    if (root === undefined || now === undefined) return NOWHERE
    const finder = this.createFinder(after)
    const { path: above, wanted } = target
    const parts = [...leaves(convertYamlToJson(now), wanted, [])].map((path): Locations => {
      const node = findNodeAtPath(now, path)?.node
      const writer = node?.writes?.at(-1)
      if (writer === undefined) return NOWHERE
      return finder.findThroughWriter(
        {
          ...target,
          root,
          path: [...above, ...path],
          wanted: wanted === undefined ? undefined : findValueAt(wanted, path),
        },
        writer,
      )
    })
    const whole = combineLocations(parts, candidate)
    if (now.kind !== 'scalar') return whole
    const was = findNodeAtPath(target.root, above)?.node
    // Another location may give the rest of the text.
    const isPart = was !== undefined && !isJsonEqual(convertYamlToJson(was), convertYamlToJson(now))
    return joinLocations([...parts, ...(isPart ? [whole] : [])])
  }

  private findTarget(change: ResolvedChange): Target | undefined {
    const key = this.before.findKey(change)
    const root = key === undefined ? undefined : this.base.nodes.get(key)
    if (root === undefined || change.drift.change === 'missing') return undefined
    return {
      root,
      path: change.drift.path,
      wanted: getWrittenValue(change),
      before: Number.POSITIVE_INFINITY,
      depth: 0,
    }
  }

  private findObjectLocations(change: ResolvedChange): Locations {
    const edit = createEdit(change)
    if (edit === undefined || change.desired?.location.step !== undefined) return NOWHERE
    const { path, line } = change.desired?.location ?? { path: '', line: 1 }
    return {
      candidates: [{ via: 'manifest', what: `the manifest (${path}:${line})`, edits: [edit] }],
      obstacles: [],
    }
  }

  private createFinder({ run, nodes }: RenderedPackage): LocationFinder {
    const objects: readonly YamlMap[] = run?.items ?? [...nodes.values()]
    return new LocationFinder(this.authored, { runs: run?.runs ?? [], objects }, INVERSES)
  }

  private apply(edits: readonly FileEdit[]): EditedTexts {
    return new Map(
      [...groupEditsByFile(edits)].map(([path, list]) => [
        path,
        editAuthored(this.authored.getText(path), list, path),
      ]),
    )
  }

  private render(files: PackageFiles, watcher?: RenderWatcher): RenderedPackage {
    this.renderings += 1
    if (this.areTooMany) throw createTooManyChangesFailure(this.input.packagePath)
    const { packagePath, functions } = this.input
    // A file that lacks only kpt's attribution is stored rendered.
    const rendering = answerCalls(
      renderPackage(packagePath, files, { watcher, attributed: false }),
      functions,
    )
    if ('failures' in rendering) throw rendering.failures[0]
    return rendering
  }

  private applyTexts(texts: EditedTexts): PackageFiles {
    if (texts.size === 0) return this.input.files
    const left = new Map(texts)
    const edited = this.input.files.map((file) => {
      const text = texts.get(this.authored.resolveLocation(file.path))
      left.delete(this.authored.resolveLocation(file.path))
      return text === undefined ? file : { ...file, content: encodeBytes(text) }
    })
    const created = [...left].map(([path, text]) => ({
      path: this.authored.getRelativePath(path),
      mode: '100644' as const,
      content: encodeBytes(text),
    }))
    return created.length === 0
      ? edited
      : [...edited, ...created].sort((one, other) => (one.path < other.path ? -1 : 1))
  }
}

function encodeBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

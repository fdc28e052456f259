/** Chooses the edit that gives the value and moves nothing else. */
import { answerCalls, type FunctionLibrary } from '@backporch/kpt/function'
import { isKptfile } from '@backporch/kpt/package'
import type { RenderWatcher } from '@backporch/kpt/render'
import { valueAt } from '@backporch/kyaml/field'
import type { PackageFiles } from '@backporch/kyaml/files'
import { jsonEquals } from '@backporch/kyaml/json'
import { jsonOf, nodeAtPath, type YamlMap } from '@backporch/kyaml/yaml'
import { AuthoredFiles } from '../../edits/authored-files.ts'
import { editAuthored } from '../../edits/edit-authored.ts'
import { type MovedField, RenderedBefore } from '../../edits/moved-fields.ts'
import { leaves } from '../../edits/prove-edit.ts'
import {
  editFor,
  type FileEdit,
  type ResolvedChange,
  writtenBy,
} from '../../edits/resolution-edits.ts'
import {
  type DirtyTrial,
  notProven,
  onlyTrial,
  refusal,
  tooMany,
  tryEdit,
  tryRender,
} from '../../locate/adoption-failures.ts'
import { AppliedConfigs } from '../../locate/applied-configs.ts'
import {
  type Candidate,
  editsByFile,
  joinLocations,
  type Locations,
  NOWHERE,
  type Obstacle,
} from '../../locate/candidate.ts'
import { combineLocations, editsKey, leastEdits } from '../../locate/combine-locations.ts'
import { renamedFields } from '../../locate/renamed-items.ts'
import { LocationFinder, type Target } from '../locate/find-locations.ts'
import { INVERSES } from '../locate/inverses.ts'
import { ProvenanceWatcher } from '../render/provenance.ts'
import { type RenderedPackage, renderPackage } from '../render/render-package.ts'
import { inPlaceEdits } from './in-place.ts'
import { proveRenders } from './prove-renders.ts'
import { objectsByKey, RepeatedRenders } from './repeated-renders.ts'
import {
  type Attempt,
  type Committed,
  type EditedTexts,
  isClean,
  type KnownRender,
  type Trial,
  withEarlier,
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
    this.unedited = this.repeated(input.files, this.base)
    this.before = new RenderedBefore(this.unedited.first.objects, input.changes)
    this.finder = this.finderOf(this.base)
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
      leastEdits(clean),
    )
    const only = onlyTrial(change, best)
    const target = only === undefined ? this.targetOf(change) : undefined
    if (only === undefined)
      throw refusal(change, { dirty, obstacles, writer: target && this.finder.writerOf(target) })
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
    const target = this.targetOf(change)
    const trials = new Map<string, Trial>()
    const obstacles: Obstacle[] = []
    const work = ({ candidates, obstacles: known }: Locations): void => {
      obstacles.push(...known)
      const queue = candidates.map((candidate) => ({ candidate, turn: 0 }))
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const { candidate, turn } = next
        const key = editsKey(candidate.edits)
        const trial = trials.has(key)
          ? undefined
          : this.tryOne(candidate, { change, edits, pending }, obstacles)
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
      const renamed = renamedFields(change, this.input.changes).map((each) =>
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
      const files = this.filesWith(texts)
      const after = this.render(files)
      const objects = objectsByKey(after)
      const moved = this.before.otherMoves(objects, pending)
      const isEntry = (each: MovedField): boolean =>
        this.configs.isEntry(each, [...edits, ...candidate.edits])
      const [lands, others, applied] = [
        this.before.landed(change, objects),
        moved.filter((each) => !isEntry(each)),
        moved.filter(isEntry),
      ]
      const movesPending =
        pending.length > 0 && this.before.otherMoves(objects).length > moved.length
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
      const whole = inPlaceEdits({ authored: this.authored, texts, before: this.base, after })
      const committed = this.committed(new Map([...texts, ...whole]), {
        applied,
        known: whole.size === 0 ? { files, after } : undefined,
      })
      const { before, unedited } = this
      const proof = withEarlier(
        proveRenders({ before, unedited, edited: committed.renders, change, pending, isEntry }),
        {
          kptfiles: [...whole.keys()].filter(isKptfile),
          where: (path) => this.authored.where(path),
        },
      )
      const problem = notProven(candidate, proof)
      if (problem !== undefined) obstacles.push(problem)
      return { ...first, ...proof, lands: problem === undefined, committed }
    })
  }

  private committed(
    texts: EditedTexts,
    { applied, known }: Pick<Committed, 'applied'> & { readonly known: KnownRender | undefined },
  ): Committed {
    const files = known?.files ?? this.filesWith(texts)
    return { texts, applied, renders: this.repeated(files, known?.after ?? this.render(files)) }
  }

  private repeated(files: PackageFiles, first: RenderedPackage): RepeatedRenders {
    return new RepeatedRenders(files, first, (next) => this.render(next))
  }

  /**
   * A function without effect on the present values may revert an edit, of a list or map also in
   * parts.
   */
  private takenBackBy(
    { candidate, texts }: Trial,
    change: ResolvedChange,
    target: Target,
  ): Locations {
    const key = this.before.keyOf(change)
    const after = this.render(this.filesWith(texts), new ProvenanceWatcher())
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
        {
          ...target,
          root,
          path: [...above, ...path],
          wanted: wanted === undefined ? undefined : valueAt(wanted, path),
        },
        writer,
      )
    })
    const whole = combineLocations(parts, candidate)
    if (now.kind !== 'scalar') return whole
    const was = nodeAtPath(target.root, above)?.node
    // Another location may give the rest of the text.
    const isPart = was !== undefined && !jsonEquals(jsonOf(was), jsonOf(now))
    return joinLocations([...parts, ...(isPart ? [whole] : [])])
  }

  private targetOf(change: ResolvedChange): Target | undefined {
    const key = this.before.keyOf(change)
    const root = key === undefined ? undefined : this.base.nodes.get(key)
    if (root === undefined || change.drift.change === 'missing') return undefined
    return {
      root,
      path: change.drift.path,
      wanted: writtenBy(change),
      before: Number.POSITIVE_INFINITY,
      depth: 0,
    }
  }

  private objectLocations(change: ResolvedChange): Locations {
    const edit = editFor(change)
    if (edit === undefined || change.desired?.location.step !== undefined) return NOWHERE
    const { path, line } = change.desired?.location ?? { path: '', line: 1 }
    return {
      candidates: [{ via: 'manifest', what: `the manifest (${path}:${line})`, edits: [edit] }],
      obstacles: [],
    }
  }

  private finderOf({ run, nodes }: RenderedPackage): LocationFinder {
    const objects: readonly YamlMap[] = run?.items ?? [...nodes.values()]
    return new LocationFinder(this.authored, { runs: run?.runs ?? [], objects }, INVERSES)
  }

  private apply(edits: readonly FileEdit[]): EditedTexts {
    return new Map(
      [...editsByFile(edits)].map(([path, list]) => [
        path,
        editAuthored(this.authored.text(path), list, path),
      ]),
    )
  }

  private render(files: PackageFiles, watcher?: RenderWatcher): RenderedPackage {
    this.renderings += 1
    if (this.areTooMany) throw tooMany(this.input.packagePath)
    const { packagePath, functions } = this.input
    // A file that lacks only kpt's attribution is stored rendered.
    const rendering = answerCalls(
      renderPackage(packagePath, files, { watcher, attributed: false }),
      functions,
    )
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
    const created = [...left].map(([path, text]) => ({
      path: this.authored.within(path),
      mode: '100644' as const,
      content: bytes(text),
    }))
    return created.length === 0
      ? edited
      : [...edited, ...created].sort((one, other) => (one.path < other.path ? -1 : 1))
  }
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

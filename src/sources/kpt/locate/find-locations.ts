/**
 * Each location in a manifest or a function's config is only a candidate. A render proves the edit
 * (adoption.ts).
 */
import { describeStep, getFunctionName, type StepRun } from '@backporch/kpt/function'
import { EditRefusal, removeValueAt, writeValueAt } from '@backporch/kyaml/edit-yaml'
import { createFieldStep, type FieldPath, findValueAt } from '@backporch/kyaml/field'
import type { Json } from '@backporch/kyaml/json'
import {
  convertYamlToJson,
  createYamlPlain,
  findNearestNode,
  findNodeAtPath,
  resolveAlias,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import { findAnchoredEdit } from '../../edits/anchored-edits.ts'
import type { AuthoredFiles, AuthoredLocation } from '../../edits/authored-files.ts'
import { leaves } from '../../edits/prove-edit.ts'
import {
  type Candidate,
  createEditAt,
  joinLocations,
  type Locations,
  NOWHERE,
  type Wanted,
} from '../../locate/candidate.ts'
import { combineLocations } from '../../locate/combine-locations.ts'

export interface Target {
  readonly root: YamlMap
  readonly path: FieldPath
  readonly wanted: Wanted
  /** Only earlier steps wrote the tree. */
  readonly before: number
  readonly depth: number
}

export interface InverseInput {
  readonly run: StepRun
  readonly target: Target
  readonly node: YamlNode | undefined
  readonly finder: LocationFinder
}

export type Inverse = (input: InverseInput) => Locations | undefined

export interface Inverses {
  readonly byName: ReadonlyMap<string, Inverse | undefined>
  readonly otherwise: Inverse
}

/** Functions may write the config of other functions. */
const MAX_DEPTH = 4
const MOST_PARTS = 16

export class LocationFinder {
  private readonly authored: AuthoredFiles
  private readonly runs: readonly StepRun[]
  private readonly inverses: ReadonlyMap<string, Inverse | undefined>
  private readonly otherwise: Inverse
  readonly objects: readonly YamlMap[]

  constructor(
    authored: AuthoredFiles,
    rendering: Pick<LocationFinder, 'objects'> & { readonly runs: readonly StepRun[] },
    inverses: Inverses,
  ) {
    this.authored = authored
    this.runs = rendering.runs
    this.objects = rendering.objects
    this.inverses = inverses.byName
    this.otherwise = inverses.otherwise
  }

  findAnchor({ root, path, wanted }: Target): Locations {
    const node = findNodeAtPath(root, path)?.node
    const location =
      node === undefined || (node.writes ?? []).length > 0
        ? undefined
        : this.authored.findLocation(node)
    const document =
      location === undefined
        ? undefined
        : this.authored.parseDocuments(location.file)[location.document]
    if (location === undefined || document === undefined || wanted === undefined) return NOWHERE
    const anchored = findAnchoredEdit(document, location.document, location.path, wanted)
    if (anchored === undefined) return NOWHERE
    const { name, edit } = anchored
    const what = `the anchor &${name} (${this.authored.describe({ ...location, path: edit.path })})`
    return {
      candidates: [{ via: `anchor:${name}`, what, edits: [{ path: location.file, edit }] }],
      obstacles: [],
    }
  }

  find(target: Target): Locations {
    const writes = findNodeAtPath(target.root, target.path)?.node.writes ?? []
    const writer = writes.filter((step) => step < target.before).at(-1)
    return (
      (writer === undefined ? this.findInWrittenList(target) : undefined) ??
      this.findThroughWriter(target, writer)
    )
  }

  /** For a list whose items one function wrote, and for an item that such a list lacks. */
  private findInWrittenList(target: Target): Locations | undefined {
    const there = findNodeAtPath(target.root, target.path)?.node
    const list = there === undefined ? findWholeList(target) : target
    const node = list === undefined ? undefined : findNodeAtPath(list.root, list.path)?.node
    if (list === undefined || node?.kind !== 'list') return undefined
    const [writer, ...others] = new Set(
      node.items.map(({ writes = [] }) => writes.filter((step) => step < target.before).at(-1)),
    )
    const run = writer === undefined || others.length > 0 ? undefined : this.runs[writer]
    return run === undefined ? undefined : this.invert(run, list)
  }

  private invert(run: StepRun, target: Target): Locations | undefined {
    const node = findNodeAtPath(target.root, target.path)?.node
    const inverse = this.inverses.get(getFunctionName(run.step.function)) ?? this.otherwise
    return inverse({ run, target: { ...target, depth: target.depth + 1 }, node, finder: this })
  }

  /** Of the parts that change, for a list or map. */
  findParts(target: Target): Locations {
    const now = findNodeAtPath(target.root, target.path)?.node
    if (now === undefined || target.wanted === undefined) return NOWHERE
    const paths = [...leaves(convertYamlToJson(now), target.wanted, [])]
    if (paths.length > MOST_PARTS || paths.some((path) => path.length === 0)) return NOWHERE
    const { path: above, wanted } = target
    return combineLocations(
      paths.map((path) =>
        this.find({ ...target, path: [...above, ...path], wanted: findValueAt(wanted, path) }),
      ),
    )
  }

  /** Undefined if only the manifest has the field. */
  findWriter({ root, path, before }: Target): string | undefined {
    const writer = findNodeAtPath(root, path)
      ?.node.writes?.filter((step) => step < before)
      .at(-1)
    const run = writer === undefined ? undefined : this.runs[writer]
    return run === undefined ? undefined : describeStep(run.step)
  }

  findThroughWriter(target: Target, writer: number | undefined): Locations {
    const run = writer === undefined ? undefined : this.runs[writer]
    if (run === undefined) return this.findInManifest(target)
    const name = getFunctionName(run.step.function)
    if (target.depth >= MAX_DEPTH)
      return createStepObstacle(run, 'its config is written by functions that configure each other')
    const list = findWholeList(target)
    const found =
      this.invert(run, target) ?? (list === undefined ? undefined : this.invert(run, list))
    if (found !== undefined) return found
    const untraced = createStepObstacle(
      run,
      `${name} writes the field, and the written value cannot be traced back to its config`,
    )
    // It may write only a part of the value, and leave the rest as in the manifest.
    return joinLocations([this.findInManifest(target), untraced])
  }

  /** Of an absent field, the nearest parent. */
  findInManifest({ root, path, wanted }: Target): Locations {
    for (let steps = path.length; steps >= 0; steps -= 1) {
      const nearest = findNearestNode(root, path.slice(0, steps))
      const location = nearest.steps < steps ? undefined : this.authored.findLocation(nearest.node)
      if (location === undefined) continue
      if (wanted === undefined && steps < path.length) return NOWHERE
      const whole = { ...location, path: [...location.path, ...path.slice(steps)] }
      return {
        candidates: [
          this.createCandidate(whole, wanted, { via: 'manifest', what: 'the manifest' }),
        ],
        obstacles: [],
      }
    }
    return NOWHERE
  }

  locateConfigEntry(
    { step, config }: StepRun,
    path: FieldPath,
    { wanted, depth }: Pick<Target, 'wanted' | 'depth'>,
    label: Pick<Candidate, 'via' | 'what'>,
  ): Locations {
    if (step.function.configMap.size > 0) {
      // kpt creates the `data` of a ConfigMap from it.
      const inKptfile = [
        createFieldStep('pipeline'),
        createFieldStep(step.list),
        { kind: 'index' as const, index: step.index },
        createFieldStep('configMap'),
        ...path.slice(1),
      ]
      return {
        candidates: [
          this.createCandidate({ file: step.kptfile, document: 0, path: inKptfile }, wanted, label),
        ],
        obstacles: [],
      }
    }
    if (config === undefined) return NOWHERE
    const { candidates, obstacles } = this.find({
      root: config,
      path,
      wanted,
      before: step.number,
      depth,
    })
    return {
      candidates: candidates.map((each) => (each.via === 'manifest' ? relabel(each, label) : each)),
      obstacles,
    }
  }

  private createCandidate(
    location: AuthoredLocation,
    wanted: Wanted,
    { via, what }: Pick<Candidate, 'via' | 'what'>,
  ): Candidate {
    const { file, document, path } = location
    const value =
      wanted === undefined ? undefined : convertToFormOf(wanted, this.authored.findNode(location))
    return {
      via,
      what: `${what} (${this.authored.describe(location)})`,
      edits: [{ path: file, edit: createEditAt(document, path, value) }],
    }
  }
}

function relabel(candidate: Candidate, { via, what }: Pick<Candidate, 'via' | 'what'>): Candidate {
  return { ...candidate, via, what: candidate.what.replace(/^the manifest/, what) }
}

function findWholeList(target: Target): Target | undefined {
  const { root, path, wanted } = target
  const at = path.findLastIndex(({ kind }) => kind !== 'field')
  const node = at === -1 ? undefined : findNodeAtPath(root, path.slice(0, at))?.node
  if (node === undefined) return undefined
  const [now, within] = [convertYamlToJson(node), path.slice(at)]
  try {
    const list =
      wanted === undefined ? removeValueAt(now, within) : writeValueAt(now, within, wanted)
    return { ...target, path: path.slice(0, at), wanted: list }
  } catch (thrown) {
    if (thrown instanceof EditRefusal) return undefined
    throw thrown
  }
}

/** A config may contain `3` for the text "3": a number stays a number. */
function convertToFormOf(wanted: Json, node: YamlNode | undefined): Json {
  const target = node === undefined ? undefined : resolveAlias(node)
  if (
    typeof wanted !== 'string' ||
    target?.kind !== 'scalar' ||
    target.style !== 'plain' ||
    typeof convertYamlToJson(target) === 'string'
  )
    return wanted
  try {
    const read = convertYamlToJson(createYamlPlain(wanted))
    return read !== null && typeof read !== 'string' && String(read) === wanted ? read : wanted
  } catch {
    return wanted
  }
}

export function createStepObstacle({ step }: StepRun, why: string): Locations {
  const remedy = `edit the config of ${getFunctionName(step.function)} at ${step.kptfile}:${step.function.line} by hand, or choose restore`
  return { candidates: [], obstacles: [{ where: describeStep(step), why, remedy }] }
}

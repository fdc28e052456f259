import type { DesiredResource } from '@backporch/kpt/desired-set'
import { editYaml, removeValueAt, writeValueAt } from '@backporch/kyaml/edit-yaml'
import {
  createFieldStep,
  type FieldPath,
  findValueAt,
  formatFieldPath,
  type PathStep,
} from '@backporch/kyaml/field'
import { getTextAt, isJsonArray, isJsonObject } from '@backporch/kyaml/json'
import { index, readSourceDocuments, type SyncedFolder } from '../../build/adopt/source-document.ts'
import type { BuiltSource, ValuesLayer, ValuesPlace } from '../../build/built-source.ts'
import { getDeclaredObjects } from '../../build/read-built.ts'
import { isSameResource } from '../../build/syncer-object.ts'
import { KustomizeLocations } from '../../kustomize/locate/kustomize-locations.ts'
import { overlayLocations } from '../../kustomize/locate/overlay-patch.ts'
import type { SourceCandidate, SourceLocations } from '../../locate/candidate.ts'
import { createEditAt, type Obstacle, type Wanted } from '../../locate/candidate.ts'
import type { BuildLibrary } from '../../programs/package-builder.ts'
import { mergeValues } from '../chart/chart-values.ts'
import type { ValueChange } from './value-candidates.ts'

interface Places {
  readonly first: SourceLocations
  readonly otherwise: SourceLocations
  /**
   * For a location that feeds other units: patches of the resource where it is applied, and layers
   * over the location.
   */
  readonly overlaid: readonly SourceLocations[]
}

type Name = Pick<SourceCandidate, 'via' | 'what'>

interface One {
  readonly path: FieldPath
  readonly wanted: Wanted
}

export class ValuePlaces {
  private readonly source: BuiltSource
  private readonly library: BuildLibrary
  private readonly layers: readonly ValuesLayer[]

  constructor(source: BuiltSource, library: BuildLibrary, layers: readonly ValuesLayer[]) {
    this.source = source
    this.library = library
    this.layers = layers
  }

  /** @throws Unanswered where the unit above has to be built first */
  findPlaces(changes: readonly ValueChange[]): Places {
    const first = changes.map((change) =>
      this.joinLocations(change, (one) => this.listPreferredLayers(one)),
    )
    // An edit of the defaults affects everybody who uses the chart.
    const isOpen = first.some(({ candidates }) => candidates.length > 0)
    const otherwise = isOpen
      ? []
      : changes.map((change) =>
          this.joinLocations(change, () => this.layers.filter(({ isDefault }) => isDefault)),
        )
    const overlaid = changes.flatMap((change) => [
      ...this.locateInOverlay(change),
      ...this.locateInLaterLayers(change),
    ])
    return { first: combineLocations(first), otherwise: combineLocations(otherwise), overlaid }
  }

  /** Last values file first; then an Application's values. */
  private locateInLaterLayers(change: ValueChange): readonly SourceLocations[] {
    const setting = this.layers.findLastIndex(({ values }) =>
      change.some(({ path }) => findValueAt(values, path) !== undefined),
    )
    const later = this.layers
      .slice(setting + 1)
      .filter(({ isDefault }) => !isDefault)
      .toReversed()
    const inOrder = [
      ...later.filter(({ place }) => place.kind === 'file'),
      ...later.filter(({ place }) => place.kind === 'field' || place.kind === 'text'),
    ]
    return inOrder.map((layer) => ({
      ...this.joinLocations(change, () => [layer]),
      onlyWhereShared: true,
    }))
  }

  private locateInOverlay(change: ValueChange): readonly SourceLocations[] {
    const { parent, files, synced, isTaken } = this.source
    const layer = this.layers.findLast(({ place }) => place.kind === 'resource')
    if (parent === undefined || layer?.place.kind !== 'resource') return []
    const at = layer.place.at.map(createStep)
    const own = this.listDeclaredAbove().find(({ object }) =>
      isSameResource(object, synced?.object ?? {}),
    )
    const fields = change
      .map((one) => this.locateInLayerOf(layer, one))
      .map(({ path, wanted }) => ({ path: [...at, ...path], wanted }))
    return own === undefined ? [] : overlayLocations({ ...parent, files, isTaken }, own, fields)
  }

  /** A field of the resource that is no value of the chart. @throws Unanswered where the unit above has to be built first */
  locateField(path: FieldPath, wanted: Wanted): SourceLocations {
    const name = formatFieldPath(path)
    return this.locateInResource(path, { via: name, what: name }, wanted)
  }

  /** If only the chart sets the value, the last layer over the chart. */
  private listPreferredLayers({ path }: One): readonly ValuesLayer[] {
    const setting = this.layers.findLast(({ values }) => findValueAt(values, path) !== undefined)
    if (setting?.isDefault === false) return [setting]
    const over = this.layers.filter(
      ({ isDefault, place }) =>
        !isDefault && place.kind !== 'elsewhere' && place.kind !== 'parameters',
    )
    const used = over.findLast(({ values }) => Object.keys(values).length > 0) ?? over.at(-1)
    const chosen = used ?? setting ?? this.layers.find(({ isDefault }) => isDefault)
    return chosen === undefined ? [] : [chosen]
  }

  /**
   * A list from a lower layer is replaced as a whole, and an existing key is removed with null
   * (helm "Deleting a default key").
   */
  private locateInLayerOf(layer: ValuesLayer, { path, wanted }: One): One {
    const at = path.findIndex(
      (step, index) =>
        step.kind !== 'field' && !isJsonArray(findValueAt(layer.values, path.slice(0, index))),
    )
    const isInherited = findValueAt(layer.values, path) === undefined
    if (at === -1)
      return {
        path,
        wanted: wanted === undefined && isInherited && !layer.isDefault ? null : wanted,
      }
    const [list, rest] = [path.slice(0, at), path.slice(at)]
    const whole = findValueAt(mergeValues(...this.layers.map(({ values }) => values)), list) ?? []
    return {
      path: list,
      wanted: wanted === undefined ? removeValueAt(whole, rest) : writeValueAt(whole, rest, wanted),
    }
  }

  private joinLocations(
    change: ValueChange,
    layersOf: (one: One) => readonly ValuesLayer[],
  ): SourceLocations {
    const parts = change.map((one) =>
      combineLocations(
        layersOf(one).map((layer) => this.locateInLayer(layer, this.locateInLayerOf(layer, one))),
      ),
    )
    const obstacles = parts.flatMap((part) => part.obstacles)
    const [only, ...more] = parts
    if (only === undefined || more.length === 0)
      return { candidates: only?.candidates ?? [], obstacles }
    const chosen = parts.map(({ candidates }) => candidates[0])
    if (chosen.some((each) => each === undefined || each.texts !== undefined))
      return { candidates: [], obstacles }
    const all = chosen.flatMap((each) => each ?? [])
    const edits = all.flatMap((each) => each.edits)
    return {
      candidates: [
        {
          via: all.map(({ via }) => via).join('+'),
          what: all.map(({ what }) => what).join(' and '),
          edits,
        },
      ],
      obstacles,
    }
  }

  private locateInLayer({ place }: ValuesLayer, one: One): SourceLocations {
    if (place.kind === 'elsewhere')
      return { candidates: [], obstacles: [this.createElsewhereObstacle(place.title, one)] }
    if (place.kind === 'resource')
      return this.locateInResource(
        [...place.at.map(createStep), ...one.path],
        formatValueName(one),
        one.wanted,
      )
    if (place.kind === 'entry') return this.locateInEntry(place, one)
    if (place.kind === 'parameters') return this.locateInParameters(place, one)
    if (place.kind === 'text') return this.locateInText(place, one)
    const at =
      place.kind === 'file'
        ? one.path.slice(place.under.length)
        : [...place.at.map(createStep), ...one.path]
    const document = readSourceDocuments(place.path, this.source.files)[
      place.kind === 'file' ? 0 : place.document
    ]
    const where = document?.formatLocation(at) ?? place.path
    const edit = createEditAt(place.kind === 'file' ? 0 : place.document, at, one.wanted)
    return {
      candidates: [{ ...createName(one, where), edits: [{ path: place.path, edit }] }],
      obstacles: [],
    }
  }

  private locateInParameters(
    { path, document, at }: Extract<ValuesPlace, { kind: 'parameters' }>,
    one: One,
  ): SourceLocations {
    const found = readSourceDocuments(path, this.source.files)[document]
    const list = found?.getValueAt(at.map(createStep))
    const name = formatFieldPath(one.path)
    const position = isJsonArray(list)
      ? list.findLastIndex((each) => getTextAt(each, 'name') === name)
      : -1
    if (found === undefined || position === -1) return NOWHERE
    const entry = [...at.map(createStep), index(position)]
    const whole = one.wanted === undefined ? entry : [...entry, createFieldStep('value')]
    if (one.wanted !== undefined && typeof one.wanted === 'object') return NOWHERE
    const edit = createEditAt(
      document,
      whole,
      one.wanted === undefined ? undefined : String(one.wanted),
    )
    return {
      candidates: [{ ...createName(one, found.formatLocation(whole)), edits: [{ path, edit }] }],
      obstacles: [],
    }
  }

  private locateInText(
    { path, document, at }: Extract<ValuesPlace, { kind: 'text' }>,
    one: One,
  ): SourceLocations {
    const found = readSourceDocuments(path, this.source.files)[document]
    const text = found?.getValueAt(at.map(createStep))
    if (found === undefined || typeof text !== 'string') return NOWHERE
    const edit = createEditAt(
      document,
      at.map(createStep),
      editYaml(text, [createEditAt(0, one.path, one.wanted)], path),
    )
    return {
      candidates: [
        { ...createName(one, found.formatLocation(at.map(createStep))), edits: [{ path, edit }] },
      ],
      obstacles: [],
    }
  }

  private locateInResource(path: FieldPath, name: Name, wanted: Wanted): SourceLocations {
    const resource = this.source.synced?.object ?? {}
    const own = this.listDeclaredAbove().find(({ object }) => isSameResource(object, resource))
    return own === undefined ? NOWHERE : this.locateInUnitAbove(own, path, name, wanted)
  }

  private locateInEntry(
    { namespace, name, key }: Extract<ValuesPlace, { kind: 'entry' }>,
    one: One,
  ): SourceLocations {
    const map = this.listDeclaredAbove().find(
      ({ id }) =>
        id.kind === 'ConfigMap' && id.name === name && [namespace, ''].includes(id.namespace),
    )
    const data = map?.object['data']
    const text = isJsonObject(data) ? data[key] : undefined
    if (map === undefined || typeof text !== 'string')
      return {
        candidates: [],
        obstacles: [this.createElsewhereObstacle(`the ConfigMap ${namespace}/${name}`, one)],
      }
    const edited = editYaml(text, [createEditAt(0, one.path, one.wanted)], name)
    return this.locateInUnitAbove(
      map,
      [createFieldStep('data'), createFieldStep(key)],
      formatValueName(one),
      edited,
    )
  }

  /** Objects of the unit that applies the resource. @throws Unanswered, Failure of its build */
  private listDeclaredAbove(): readonly DesiredResource[] {
    const { parent, files } = this.source
    return parent === undefined ? [] : getDeclaredObjects({ ...parent, files }, this.library)
  }

  private locateInUnitAbove(
    desired: DesiredResource,
    path: FieldPath,
    { via, what }: Name,
    wanted: Wanted,
  ): SourceLocations {
    const { parent, files } = this.source
    const synced: SyncedFolder | undefined =
      parent?.synced === undefined ? undefined : { folder: parent.folder, build: parent.synced }
    const locations = new KustomizeLocations(files, synced)
    const groups = locations.find({
      desired,
      declaredName: locations.findDeclaredName(desired),
      path,
      wanted,
    })
    const group = groups.find(({ candidates }) => candidates.length > 0)
    const candidates = (group?.candidates ?? []).map((each): SourceCandidate => {
      const isOnly = group?.candidates.length === 1
      return { ...each, via: isOnly ? via : `${via}@${each.via}`, what: `${what} in ${each.what}` }
    })
    return { candidates, obstacles: groups.flatMap(({ obstacles }) => obstacles) }
  }

  private createElsewhereObstacle(title: string, { path }: One): Obstacle {
    return {
      where: title,
      why: `the value ${formatFieldPath(path)} is set by ${title}, which no file of this repository declares as the cluster has it`,
      remedy: 'set it there, or override the value in a file of this repository, or choose restore',
    }
  }
}

const NOWHERE: SourceLocations = { candidates: [], obstacles: [] }

function combineLocations(all: readonly SourceLocations[]): SourceLocations {
  return {
    candidates: all.flatMap(({ candidates }) => candidates),
    obstacles: all.flatMap(({ obstacles }) => obstacles),
  }
}

function formatValueName({ path }: One): Name {
  return { via: `values:${formatFieldPath(path)}`, what: `the value ${formatFieldPath(path)}` }
}

function createName(one: One, where: string): Name {
  const { via, what } = formatValueName(one)
  return { via, what: `${what} (${where})` }
}

function createStep(step: string | number): PathStep {
  return typeof step === 'number' ? index(step) : createFieldStep(step)
}

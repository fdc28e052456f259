/**
 * Finds the origin of a built value: read from the files without a build, and compared with the
 * built value.
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { type FieldPath, findValueAt } from '@backporch/kyaml/field'
import {
  formatJson,
  getPartAt,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { describeResourceId, getResourceKey } from '@backporch/kyaml/resource'
import {
  type FileLocation,
  index,
  isAt,
  listSyncerLayers,
  makePath,
  readKustomizations,
  readSourceDocuments,
  SourceDocument,
} from '../../build/adopt/source-document.ts'
import type { SyncerBuild } from '../../build/built-source.ts'
import { readSyncerObject } from '../../build/syncer-object.ts'
import { findKustomizationPath, type SourceFiles } from '../files/kustomize-build.ts'
import { listPatches, type Patch } from '../locate/kustomize-patches.ts'
import { BuiltIdentity, getIdentityText } from './built-identity.ts'
import { type FieldHistory, type FieldValue, type FieldWrite, UNKNOWN } from './field-history.ts'
import { findGeneratedBy } from './generator-writes.ts'
import { convertToNamedPath, listLeaves } from './item-paths.ts'
import { type Chain, KustomizeStages } from './kustomize-stages.ts'
import { runThrough } from './kustomize-writes.ts'
import { SyncerWrites } from './syncer-writes.ts'

interface BuiltOriginInput {
  /** From the repository root. */
  readonly folder: string
  readonly files: SourceFiles
  readonly synced?: SyncerBuild | undefined
  readonly resources: readonly DesiredResource[]
}

export interface BuiltOrigin {
  /** In the manifest; undefined if absent there. */
  readonly authored: FileLocation | undefined
  readonly nearest: FileLocation
  readonly isBuilt: boolean
  readonly writers: readonly PartWrite[]
  /** Then the last writer decides. */
  readonly isExplained: boolean
  readonly notes: readonly string[]
}

export interface PartWrite extends FieldWrite {
  /** Of a list or map; empty for the whole field. */
  readonly part: FieldPath
}

/** Parts read, and writers reported, per field. */
const MOST_PARTS = 40
const MOST_WRITERS = 8

interface ObjectBuild {
  readonly chain: Chain
  readonly declared: JsonObject | undefined
}

interface Known {
  readonly declared: JsonObject | undefined
  readonly document: SourceDocument | undefined
  readonly at: FieldPath
  readonly chain: Chain | undefined
}

export class KustomizeOrigins {
  private readonly input: BuiltOriginInput
  private readonly stages: KustomizeStages
  private readonly kustomizations: readonly SourceDocument[]
  private readonly known = new Map<string, Known>()
  private readonly read = new Map<string, readonly SourceDocument[]>()
  private readonly patches = new Map<SourceDocument, readonly Patch[]>()
  private readonly syncer: SyncerWrites | undefined

  /** @throws Failure BP1110 if a file cannot be read */
  constructor(input: BuiltOriginInput) {
    this.input = input
    this.kustomizations = readKustomizations(input.files)
    const { folder, files, synced } = input
    const layers = synced === undefined ? [] : listSyncerLayers(files, { folder, build: synced })
    const [resource] = layers
    this.syncer =
      synced === undefined || resource === undefined
        ? undefined
        : new SyncerWrites(synced, resource, files)
    this.stages = new KustomizeStages({
      folder,
      files,
      kustomizations: this.kustomizations,
      generated: findGeneratedBySyncer(input),
      layers,
    })
  }

  /**
   * Undefined if the object's file is unknown.
   * @throws Failure BP1110 if a file cannot be read
   */
  findOrigin(desired: DesiredResource, wanted: FieldPath): BuiltOrigin | undefined {
    const path = convertToNamedPath(desired.object, wanted)
    const known = this.findKnownObject(desired)
    if (known.document === undefined) return undefined
    const whole = [...known.at, ...path]
    // A merge key (`<<`) has no own location.
    const isThere = findValueAt(known.declared, path) !== undefined
    const nearest = known.document.findLocation(whole)
    const rendered = findValueAt(desired.object, path)
    const parts = [...listLeaves(rendered, [])].slice(0, MOST_PARTS)
    const found = parts.map((part) => this.explainPart(desired, known, path, part))
    const isWhole = parts.length === 1 && parts[0]?.length === 0
    return {
      authored: isThere ? nearest : undefined,
      nearest,
      isBuilt: rendered !== undefined,
      writers: found
        .flatMap(({ writers }) => (isWhole ? writers : writers.slice(-1)))
        .slice(-MOST_WRITERS),
      isExplained: isWhole && found.every(({ isExplained }) => isExplained),
      notes: found.flatMap(({ notes }) =>
        isWhole ? notes : notes.filter((note) => note !== UNEXPLAINED),
      ),
    }
  }

  private explainPart(
    desired: DesiredResource,
    known: Known,
    above: FieldPath,
    part: FieldPath,
  ): Pick<BuiltOrigin, 'writers' | 'isExplained' | 'notes'> {
    const path = [...above, ...part]
    const rendered = findValueAt(desired.object, path) ?? undefined
    const history =
      known.chain === undefined
        ? undefined
        : this.computeHistory({ ...known, chain: known.chain }, desired, path)
    if (history === undefined) return { writers: [], isExplained: false, notes: [] }
    const doubts = history.writes.filter(({ does }) => does === 'may write')
    const asPart = (write: FieldWrite): PartWrite => ({ ...write, part })
    // Doubtful patches do not count if the value is explained without them.
    if (producesValue(history, desired, path)) {
      const reported = history.writes.filter(
        ({ does, by }) => does !== 'may write' || by === 'replacements of' || by === 'vars of',
      )
      return {
        writers: reported.map(asPart),
        isExplained: reported.every(({ does }) => does !== 'may write'),
        notes: [],
      }
    }
    const reference = this.describeReference(desired, part, [history.value, rendered])
    const suspects = history.suspects.map(
      ({ by, location }): FieldWrite => ({
        does: 'may write',
        by,
        at: [{ location }],
        decides: '',
        value: UNKNOWN,
      }),
    )
    if (reference !== undefined)
      return { writers: history.writes.map(asPart), isExplained: false, notes: [reference] }
    if (doubts.length + suspects.length > 0)
      return {
        writers: [...history.writes, ...suspects].map(asPart),
        isExplained: false,
        notes: [],
      }
    const proven = history.writes.filter(({ value }) =>
      isJsonEqual(value === UNKNOWN ? undefined : (value ?? undefined), rendered),
    )
    return {
      writers: proven.map(asPart),
      isExplained: false,
      notes: proven.length > 0 ? [] : [UNEXPLAINED],
    }
  }

  /**
   * If it is unknown whether a patch selects the object, the value decides, if only one case gives
   * it.
   */
  private computeHistory(
    build: ObjectBuild,
    desired: DesiredResource,
    path: FieldPath,
  ): FieldHistory {
    const { history } = this.run(build, desired, path)
    if (
      producesValue(history, desired, path) ||
      history.writes.every(({ does }) => does !== 'may write')
    )
      return history
    const assumed = this.run(build, desired, path, 'yes').history
    return producesValue(assumed, desired, path) ? assumed : history
  }

  private run(
    { chain, declared }: ObjectBuild,
    desired: DesiredResource,
    path: FieldPath,
    assumed: 'maybe' | 'yes' = 'maybe',
  ) {
    const identity = new BuiltIdentity(
      desired.object,
      desired.id,
      this.findDeclaredName(desired, declared, chain),
      [desired.object, ...(declared === undefined ? [] : [declared])],
    )
    const history = runThrough(
      chain,
      identity,
      { desired, path, declared, files: this.input.files, patchesOf: this.getPatches },
      assumed,
    )
    this.syncer?.addTo(history, { desired, path })
    return { history, name: identity.now }
  }

  private findDeclaredName(
    { id, location }: DesiredResource,
    declared: JsonObject | undefined,
    chain: Chain,
  ): { readonly name: string; readonly namespace: string } {
    const first = chain[0]?.kustomization
    const created =
      location.step === undefined || first === undefined
        ? undefined
        : findGeneratedBy(first, location.step, id.name)?.value
    const metadata = findValueAt(declared, makePath('metadata')) ?? created
    const [name, namespace] = ['name', 'namespace'].map((each) =>
      isJsonObject(metadata) ? getIdentityText(metadata, each) : '',
    )
    return { name: name || id.name, namespace: namespace ?? '' }
  }

  private findKnownObject(desired: DesiredResource): Known {
    const key = getResourceKey(desired.id)
    const before = this.known.get(key)
    if (before !== undefined) return before
    const { path, document: number, item, step } = desired.location
    const document = this.readDocuments(path)[number]
    const at =
      step === undefined
        ? item === undefined
          ? []
          : [...makePath('items'), index(item)]
        : this.findEntry(desired, document)
    const value = step === undefined ? document?.getValueAt(at) : undefined
    const declared = isJsonObject(value) ? value : undefined
    const chains = this.stages.listChains(desired)
    const ending = chains.filter((chain) => {
      const { name } = this.run({ chain, declared }, desired, [])
      const isNamed =
        name.name === desired.id.name ||
        (step !== undefined && desired.id.name.startsWith(`${name.name}-`))
      return isNamed && (name.namespace === desired.id.namespace || desired.id.namespace === '')
    })
    const known = {
      declared,
      document,
      at,
      chain: ending.length === 1 ? ending[0] : chains.length === 1 ? chains[0] : undefined,
    }
    this.known.set(key, known)
    return known
  }

  private findEntry(
    { id, location }: DesiredResource,
    document: SourceDocument | undefined,
  ): FieldPath {
    const { step } = location
    const entry =
      step === undefined || document === undefined
        ? undefined
        : findGeneratedBy(document, step, id.name)
    return step === undefined || entry === undefined ? [] : [...makePath(step), index(entry.index)]
  }

  private readonly getPatches = (kustomization: SourceDocument): readonly Patch[] => {
    const before = this.patches.get(kustomization) ?? listPatches(kustomization, this.input.files)
    this.patches.set(kustomization, before)
    return before
  }

  private readDocuments(path: string): readonly SourceDocument[] {
    const before =
      this.read.get(path) ??
      (this.input.files.has(path) ? readSourceDocuments(path, this.input.files) : [])
    this.read.set(path, before)
    return before
  }

  /** References follow the name from kustomize (kustomize `api/filters/nameref`). */
  private describeReference(
    { id }: DesiredResource,
    part: FieldPath,
    [given, rendered]: readonly [given: FieldValue, rendered: Json | undefined],
  ): string | undefined {
    if (typeof given !== 'string' || typeof rendered !== 'string') return undefined
    const named = this.input.resources.find((each) => {
      if (each.id.name !== rendered || getResourceKey(each.id) === getResourceKey(id)) return false
      const { declared, chain } = this.findKnownObject(each)
      return chain !== undefined && this.findDeclaredName(each, declared, chain).name === given
    })
    if (named === undefined) return undefined
    const { path, line } = named.location
    return `${part.length === 0 ? '' : `${formatRedactedPath(part, undefined)} `}written by kustomize, which puts the whole name of ${describeResourceId(named.id)} there (${path}:${line})`
  }
}

/**
 * For a folder without a kustomization.
 * @throws Failure if it builds nothing
 */
function findGeneratedBySyncer({
  folder,
  files,
  synced,
}: BuiltOriginInput): SourceDocument | undefined {
  const way = synced?.builder.way
  if (
    synced === undefined ||
    way === undefined ||
    !('kustomization' in way) ||
    findKustomizationPath(folder, files) !== undefined
  )
    return undefined
  const { path, text } = way.kustomization(readSyncerObject(synced, files), folder, files)
  const resources = getPartAt(parseJson(text), 'resources') ?? []
  const [root] = readYamlNodes(formatJson({ resources }), path)
  return root === undefined
    ? undefined
    : new SourceDocument(path, 0, root, { getPosition: () => ({ line: 1, column: 1 }) })
}

const UNEXPLAINED = 'kustomize changes the value that is written there'

function producesValue(
  { value }: FieldHistory,
  { id, location, object }: DesiredResource,
  path: FieldPath,
): boolean {
  if (value === UNKNOWN || isJsonEqual(value ?? undefined, findValueAt(object, path) ?? undefined))
    return true
  return (
    location.step !== undefined &&
    isAt(path, 'metadata', 'name') &&
    typeof value === 'string' &&
    id.name.startsWith(`${value}-`)
  )
}

import { isKustomizationFile } from '@backporch/kpt/package'
import { createFieldStep, type FieldPath } from '@backporch/kyaml/field'
import { formatJson, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { LineIndex, readYamlNodes } from '@backporch/kyaml/read-yaml'
import {
  convertYamlToJson,
  findEntry,
  findNodeAtPath,
  listItemsAt,
  resolveAlias,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import type { FileEdit } from '../../edits/resolution-edits.ts'
import { getParentFolder, joinFolderPath } from '../../kustomize/files/kustomization-walk.ts'
import { readSourceText, type SourceFiles } from '../../kustomize/files/kustomize-build.ts'
import { createEditAt } from '../../locate/candidate.ts'
import type { SyncerBuild } from '../built-source.ts'
import { readSyncerObject } from '../syncer-object.ts'

/** Counts from 1; 0 if `file` is a cluster object. */
export interface FileLocation {
  readonly file: string
  readonly line: number
  readonly column: number
}

export type TextLocations = Pick<LineIndex, 'getPosition'>

export class SourceDocument {
  readonly path: string
  readonly number: number
  readonly root: YamlNode
  private readonly lines: TextLocations
  private above: FieldPath = []
  private base: string | undefined
  private places: SourceDocument | undefined

  constructor(path: string, number: number, root: YamlNode, lines: TextLocations) {
    this.path = path
    this.number = number
    this.root = root
    this.lines = lines
  }

  /** Undefined without a value. @param base folder of the paths in it */
  readInside(path: FieldPath, base: string): SourceDocument | undefined {
    const node = findNodeAtPath(this.root, path)?.node
    if (node === undefined) return undefined
    const inner = new SourceDocument(this.path, this.number, node, this.lines)
    inner.above = [...this.above, ...path]
    inner.base = base
    return inner
  }

  findPlace(template: SourceDocument): SourceDocument {
    const placed = new SourceDocument(template.path, template.number, this.root, this.lines)
    placed.above = template.above
    placed.base = this.base
    placed.places = template
    return placed
  }

  edit(path: FieldPath, wanted: Json | undefined): FileEdit {
    return { path: this.path, edit: createEditAt(this.number, [...this.above, ...path], wanted) }
  }

  get isPart(): boolean {
    return this.above.length > 0
  }

  get folder(): string {
    return this.base ?? getParentFolder(this.path)
  }

  has(path: FieldPath): boolean {
    return findNodeAtPath(this.root, path) !== undefined
  }

  getValueAt(path: FieldPath): Json | undefined {
    const node = findNodeAtPath(this.root, path)?.node
    return node === undefined ? undefined : convertYamlToJson(node)
  }

  listEntries(
    name: string,
  ): readonly { readonly index: number; readonly value: { readonly [key: string]: Json } }[] {
    return listItemsAt(this.root, name).flatMap((item, index) => {
      const value = convertYamlToJson(item)
      return isJsonObject(value) ? [{ index, value }] : []
    })
  }

  listTexts(
    ...path: readonly string[]
  ): readonly { readonly index: number; readonly text: string }[] {
    return listItemsAt(this.root, ...path).flatMap((item, index) => {
      const value = convertYamlToJson(item)
      return typeof value === 'string' ? [{ index, text: value }] : []
    })
  }

  hasField(name: string): boolean {
    const target = resolveAlias(this.root)
    return target.kind === 'map' && findEntry(target, name) !== undefined
  }

  findLocation(path: FieldPath): FileLocation {
    if (this.places !== undefined) return this.places.findLocation(path)
    for (let steps = path.length; steps >= 0; steps -= 1) {
      const source = findNodeAtPath(this.root, path.slice(0, steps))?.node.source
      if (source !== undefined) return { file: this.path, ...this.lines.getPosition(source.start) }
    }
    return { file: this.path, line: 1, column: 1 }
  }

  formatLocation(path: FieldPath): string {
    const { file, line } = this.findLocation(path)
    return `${file}:${line}`
  }
}

/** @throws Failure BP1110 or BP1111 */
export function readSourceDocuments(path: string, files: SourceFiles): readonly SourceDocument[] {
  const text = readSourceText(path, files).replaceAll('\r\n', '\n')
  const lines = new LineIndex(text)
  return readYamlNodes(text, path).map(
    (root, number) => new SourceDocument(path, number, root, lines),
  )
}

export interface SyncedFolder {
  readonly folder: string
  readonly build: SyncerBuild
}

export function readKustomizations(
  files: SourceFiles,
  synced?: SyncedFolder,
): readonly SourceDocument[] {
  const spec = findSyncerFields(files, synced)
  const paths = [...files.keys()].filter(isKustomizationFile)
  return [
    ...readOverrides(files, synced),
    ...(spec === undefined ? [] : [spec]),
    ...paths.flatMap((path) => readSourceDocuments(path, files).slice(0, 1)),
  ]
}

export function findSyncerFields(
  files: SourceFiles,
  synced: SyncedFolder | undefined,
): SourceDocument | undefined {
  const { declared, builder } = synced?.build ?? {}
  if (declared === undefined || builder === undefined || !files.has(declared.path)) return undefined
  return readSourceDocuments(declared.path, files)[declared.document]?.readInside(
    convertToFieldPath([...(declared.generator?.template ?? []), ...builder.fields]),
    synced?.folder ?? '',
  )
}

export function convertToFieldPath(steps: SyncerBuild['builder']['fields']): FieldPath {
  return steps.map((step) => (typeof step === 'number' ? index(step) : createFieldStep(step)))
}

/** The syncer writes them into the folder's kustomization; later ones override earlier ones. */
export function listSyncerLayers(
  files: SourceFiles,
  synced: SyncedFolder,
): readonly SourceDocument[] {
  const { build } = synced
  const declared = findSyncerFields(files, synced)
  const made =
    declared === undefined || build.declared?.generator !== undefined
      ? createFieldsDocument(synced, readSyncerObject(build, files))
      : undefined
  const resource = declared === undefined ? made : (made?.findPlace(declared) ?? declared)
  return [
    ...(resource === undefined ? [] : [resource]),
    ...readOverrides(files, synced).toReversed(),
  ]
}

function createFieldsDocument(
  { folder, build: { title, builder } }: SyncedFolder,
  object: JsonObject,
): SourceDocument | undefined {
  const [root] = readYamlNodes(formatJson(object), title)
  const location = createClusterLocation(title)
  return root === undefined
    ? undefined
    : new SourceDocument(title, 0, root, { getPosition: () => location }).readInside(
        convertToFieldPath(builder.fields),
        folder,
      )
}

export function createClusterLocation(title: string): FileLocation {
  return { file: title, line: 0, column: 0 }
}

function readOverrides(
  files: SourceFiles,
  synced: SyncedFolder | undefined,
): readonly SourceDocument[] {
  if (synced === undefined) return []
  const { names, field: name } = synced.build.builder.overrides
  return names
    .map((each) => joinFolderPath(synced.folder, each))
    .filter((path) => files.has(path))
    .flatMap(
      (path) =>
        readSourceDocuments(path, files)[0]?.readInside(makePath(name), synced.folder) ?? [],
    )
    .reverse()
}

export function index(position: number): FieldPath[number] {
  return { kind: 'index', index: position }
}

export function makePath(...names: readonly string[]): FieldPath {
  return names.map(createFieldStep)
}

export function isAt(path: FieldPath, ...names: readonly string[]): boolean {
  return (
    path.length === names.length &&
    path.every((step, at) => step.kind === 'field' && step.name === names[at])
  )
}

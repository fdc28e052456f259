import { isKustomizationFile } from '@backporch/kpt/package'
import { type FieldPath, field } from '@backporch/kyaml/field'
import { formatJson, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { LineIndex, readYamlNodes } from '@backporch/kyaml/read-yaml'
import {
  entryOf,
  itemsAt,
  jsonOf,
  nodeAtPath,
  resolved,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import type { FileEdit } from '../../edits/resolution-edits.ts'
import { folderOf, joined } from '../../kustomize/files/kustomization-walk.ts'
import { type SourceFiles, textOf } from '../../kustomize/files/kustomize-build.ts'
import { editAt } from '../../locate/candidate.ts'
import type { SyncerBuild } from '../built-source.ts'
import { syncerObject } from '../syncer-object.ts'

/** Counts from 1; 0 if `file` is a cluster object. */
export interface FileLocation {
  readonly file: string
  readonly line: number
  readonly column: number
}

export type TextLocations = Pick<LineIndex, 'position'>

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
  inside(path: FieldPath, base: string): SourceDocument | undefined {
    const node = nodeAtPath(this.root, path)?.node
    if (node === undefined) return undefined
    const inner = new SourceDocument(this.path, this.number, node, this.lines)
    inner.above = [...this.above, ...path]
    inner.base = base
    return inner
  }

  placedIn(template: SourceDocument): SourceDocument {
    const placed = new SourceDocument(template.path, template.number, this.root, this.lines)
    placed.above = template.above
    placed.base = this.base
    placed.places = template
    return placed
  }

  edit(path: FieldPath, wanted: Json | undefined): FileEdit {
    return { path: this.path, edit: editAt(this.number, [...this.above, ...path], wanted) }
  }

  get isPart(): boolean {
    return this.above.length > 0
  }

  get folder(): string {
    return this.base ?? folderOf(this.path)
  }

  has(path: FieldPath): boolean {
    return nodeAtPath(this.root, path) !== undefined
  }

  valueAt(path: FieldPath): Json | undefined {
    const node = nodeAtPath(this.root, path)?.node
    return node === undefined ? undefined : jsonOf(node)
  }

  entries(
    name: string,
  ): readonly { readonly index: number; readonly value: { readonly [key: string]: Json } }[] {
    return itemsAt(this.root, name).flatMap((item, index) => {
      const value = jsonOf(item)
      return isJsonObject(value) ? [{ index, value }] : []
    })
  }

  texts(...path: readonly string[]): readonly { readonly index: number; readonly text: string }[] {
    return itemsAt(this.root, ...path).flatMap((item, index) => {
      const value = jsonOf(item)
      return typeof value === 'string' ? [{ index, text: value }] : []
    })
  }

  hasField(name: string): boolean {
    const target = resolved(this.root)
    return target.kind === 'map' && entryOf(target, name) !== undefined
  }

  locationOf(path: FieldPath): FileLocation {
    if (this.places !== undefined) return this.places.locationOf(path)
    for (let steps = path.length; steps >= 0; steps -= 1) {
      const source = nodeAtPath(this.root, path.slice(0, steps))?.node.source
      if (source !== undefined) return { file: this.path, ...this.lines.position(source.start) }
    }
    return { file: this.path, line: 1, column: 1 }
  }

  location(path: FieldPath): string {
    const { file, line } = this.locationOf(path)
    return `${file}:${line}`
  }
}

/** @throws Failure BP1110 or BP1111 */
export function documentsOf(path: string, files: SourceFiles): readonly SourceDocument[] {
  const text = textOf(path, files).replaceAll('\r\n', '\n')
  const lines = new LineIndex(text)
  return readYamlNodes(text, path).map(
    (root, number) => new SourceDocument(path, number, root, lines),
  )
}

export interface SyncedFolder {
  readonly folder: string
  readonly build: SyncerBuild
}

export function kustomizationsOf(
  files: SourceFiles,
  synced?: SyncedFolder,
): readonly SourceDocument[] {
  const spec = syncerFields(files, synced)
  const paths = [...files.keys()].filter(isKustomizationFile)
  return [
    ...overridesOf(files, synced),
    ...(spec === undefined ? [] : [spec]),
    ...paths.flatMap((path) => documentsOf(path, files).slice(0, 1)),
  ]
}

export function syncerFields(
  files: SourceFiles,
  synced: SyncedFolder | undefined,
): SourceDocument | undefined {
  const { declared, builder } = synced?.build ?? {}
  if (declared === undefined || builder === undefined || !files.has(declared.path)) return undefined
  return documentsOf(declared.path, files)[declared.document]?.inside(
    pathOf([...(declared.maker?.template ?? []), ...builder.fields]),
    synced?.folder ?? '',
  )
}

export function pathOf(steps: SyncerBuild['builder']['fields']): FieldPath {
  return steps.map((step) => (typeof step === 'number' ? index(step) : field(step)))
}

/** The syncer writes them into the folder's kustomization; later ones override earlier ones. */
export function syncerLayers(files: SourceFiles, synced: SyncedFolder): readonly SourceDocument[] {
  const { build } = synced
  const declared = syncerFields(files, synced)
  const made =
    declared === undefined || build.declared?.maker !== undefined
      ? fieldsOf(synced, syncerObject(build, files))
      : undefined
  const resource = declared === undefined ? made : (made?.placedIn(declared) ?? declared)
  return [...(resource === undefined ? [] : [resource]), ...overridesOf(files, synced).toReversed()]
}

function fieldsOf(
  { folder, build: { title, builder } }: SyncedFolder,
  object: JsonObject,
): SourceDocument | undefined {
  const [root] = readYamlNodes(formatJson(object), title)
  const location = inCluster(title)
  return root === undefined
    ? undefined
    : new SourceDocument(title, 0, root, { position: () => location }).inside(
        pathOf(builder.fields),
        folder,
      )
}

export function inCluster(title: string): FileLocation {
  return { file: title, line: 0, column: 0 }
}

function overridesOf(
  files: SourceFiles,
  synced: SyncedFolder | undefined,
): readonly SourceDocument[] {
  if (synced === undefined) return []
  const { names, field: name } = synced.build.builder.overrides
  return names
    .map((each) => joined(synced.folder, each))
    .filter((path) => files.has(path))
    .flatMap((path) => documentsOf(path, files)[0]?.inside(fields(name), synced.folder) ?? [])
    .reverse()
}

export function index(position: number): FieldPath[number] {
  return { kind: 'index', index: position }
}

export function fields(...names: readonly string[]): FieldPath {
  return names.map(field)
}

export function isAt(path: FieldPath, ...names: readonly string[]): boolean {
  return (
    path.length === names.length &&
    path.every((step, at) => step.kind === 'field' && step.name === names[at])
  )
}

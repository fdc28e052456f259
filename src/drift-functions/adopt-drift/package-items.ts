import {
  clearAnnotation,
  findAnnotation,
  getItemFile,
  ID,
  INDEX,
  LEGACY_ID,
  LEGACY_INDEX,
  LEGACY_PATH,
  MIGRATION_ID,
  PACKAGE_PATH,
  PATH,
  RENDER_ANNOTATIONS,
  RESOURCE_ID,
  setAnnotation,
} from '@backporch/kpt/function'
import { goClean } from '@backporch/kpt/package'
import { writeItems } from '@backporch/kpt/render'
import { patchYamlNode, writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import { emptyObject, getKey, isJsonObject, type Json, setKey } from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import {
  convertYamlToJson,
  copyNode,
  findNodeAt,
  findTextAt,
  isNull,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'

const KPTFILE = 'Kptfile'
/** Resources outside a package can then be read as one. */
const NO_PIPELINE = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: resources\n'

interface PlacedItem {
  readonly item: YamlMap
  readonly path: string
  readonly index: number
}

export class PackageItems {
  /** '' for the folder of the run. */
  readonly folder: string
  readonly hasKptfile: boolean
  private readonly items: readonly YamlMap[]
  private readonly byPath: ReadonlyMap<string, readonly YamlMap[]>
  private readonly texts: ReadonlyMap<string, string>

  /**
   * @param wanted from the repository's root
   * @throws Failure BP1004 where none of several packages can be that one, BP1112 for a document
   * that is no Kubernetes object
   */
  constructor(items: readonly YamlMap[], wanted: string) {
    this.items = items
    const placed = placeItems(items)
    this.folder = chooseFolder(placed, wanted)
    const prefix = this.folder === '' ? '' : `${this.folder}/`
    const own = placed
      .filter(({ path }) => path.startsWith(prefix))
      .map((each) => ({ ...each, path: each.path.slice(prefix.length) }))
    this.byPath = new Map(
      [...Map.groupBy(own, ({ path }) => path)].map(([path, group]) => [path, listInOrder(group)]),
    )
    this.texts = writeItems(own.map(prepareForWriting))
    this.hasKptfile = this.byPath.has(KPTFILE)
  }

  listFiles(): PackageFiles {
    const texts = this.hasKptfile
      ? [...this.texts]
      : [...this.texts, [KPTFILE, NO_PIPELINE] as const]
    return texts
      .map(([path, text]) => ({
        path,
        mode: '100644' as const,
        content: new TextEncoder().encode(text),
      }))
      .sort((one, other) => (one.path < other.path ? -1 : 1))
  }

  /** In place. @param edited texts by path within the package */
  replaceTexts(edited: ReadonlyMap<string, string>): readonly YamlMap[] {
    const removed = new Set<YamlMap>()
    for (const [path, text] of edited) {
      const own = this.byPath.get(path) ?? []
      const before = readYamlNodes(this.texts.get(path) ?? '', path)
      const after = matchDocuments(before, readYamlNodes(text, path))
      for (const [index, item] of own.entries()) {
        const node = after[index]
        if (node === undefined) removed.add(item)
        else if (writeYamlNode(node) !== writeYamlNode(before[index] as YamlNode))
          patchYamlNode(item, addRunAnnotations(node, item))
      }
    }
    return this.items.filter((item) => !removed.has(item))
  }
}

/** A missing index is added, like in kpt. */
function placeItems(items: readonly YamlMap[]): readonly PlacedItem[] {
  const root = items
    .map((item) => findAnnotation(item, PACKAGE_PATH))
    .filter((path) => path !== undefined)
    .reduce<string | undefined>(
      (shortest, path) =>
        shortest === undefined || path.length < shortest.length ? path : shortest,
      undefined,
    )
  const last = new Map<string, number>()
  return items.map((item) => {
    assertMetadata(item)
    const { path, index } = getItemFile(item)
    const own =
      path === ''
        ? `${(findTextAt(item, 'kind') ?? '').toLowerCase()}_${findTextAt(item, 'metadata', 'name') ?? ''}.yaml`
        : path
    const placed = goClean(
      [getFolderWithin(root, findAnnotation(item, PACKAGE_PATH)), own]
        .filter((part) => part !== '')
        .join('/'),
    )
    const number = /^[0-9]{1,9}$/.test(index) ? Number(index) : (last.get(placed) ?? -1) + 1
    last.set(placed, Math.max(number, last.get(placed) ?? -1))
    return { item, path: placed, index: number }
  })
}

/**
 * During a render kpt names packages by absolute paths, and files relative to their package;
 * otherwise neither.
 */
function getFolderWithin(root: string | undefined, path: string | undefined): string {
  if (root === undefined || path === undefined || !path.startsWith(root)) return ''
  return path.slice(root.length).replace(/^\/+/, '')
}

function assertMetadata(item: YamlMap): void {
  for (const node of [findNodeAt(item, 'metadata'), findNodeAt(item, 'metadata', 'annotations')]) {
    if (node === undefined || node.kind === 'map' || isNull(node)) continue
    throw new Failure({
      code: 'BP1112',
      what: 'a document is not a Kubernetes object',
      where: getItemFile(item).path,
      why: 'its metadata or annotations are not a map',
      remedy: 'complete it, or name the file in .krmignore',
    })
  }
}

function chooseFolder(placed: readonly PlacedItem[], wanted: string): string {
  const folders = placed
    .filter(({ path }) => path === KPTFILE || path.endsWith(`/${KPTFILE}`))
    .map(({ path }) => path.slice(0, Math.max(0, path.length - KPTFILE.length - 1)))
  if (folders.includes(wanted)) return wanted
  if (folders.includes('') || folders.length === 0) return ''
  const ends = folders
    .filter((folder) => wanted.endsWith(`/${folder}`))
    .sort((one, other) => other.length - one.length)
  const [longest] = ends
  if (longest !== undefined) return longest
  throw new Failure({
    code: 'BP1004',
    what: 'there is no package',
    why: `the drift is in ${JSON.stringify(wanted.slice(0, 200))}, and no package among the resources is that one`,
    remedy: 'run the function on the folder of the package',
  })
}

function listInOrder(group: readonly PlacedItem[]): readonly YamlMap[] {
  return group.toSorted((one, other) => one.index - other.index).map(({ item }) => item)
}

function prepareForWriting({ item, path, index }: PlacedItem): YamlMap {
  const copy = copyNode(item)
  for (const name of [PACKAGE_PATH, ID, LEGACY_ID, RESOURCE_ID, MIGRATION_ID])
    clearAnnotation(copy, name)
  for (const name of [PATH, LEGACY_PATH]) setAnnotation(copy, name, path)
  for (const name of [INDEX, LEGACY_INDEX]) setAnnotation(copy, name, String(index))
  return copy
}

/** Undefined for a removed document. */
function matchDocuments(
  before: readonly YamlNode[],
  after: readonly YamlNode[],
): readonly (YamlNode | undefined)[] {
  if (before.length === after.length) return after
  let next = 0
  return before.map((node) => {
    const candidate = after[next]
    if (candidate === undefined || getName(candidate) !== getName(node)) return undefined
    next += 1
    return candidate
  })
}

function getName(node: YamlNode): string {
  return JSON.stringify([
    findTextAt(node, 'apiVersion'),
    findTextAt(node, 'kind'),
    findTextAt(node, 'metadata', 'namespace'),
    findTextAt(node, 'metadata', 'name'),
  ])
}

function addRunAnnotations(node: YamlNode, item: YamlMap): Json {
  const value = convertYamlToJson(node)
  const put = [...RENDER_ANNOTATIONS].flatMap((name) => {
    const text = findAnnotation(item, name)
    return text === undefined ? [] : [[name, text] as const]
  })
  if (!isJsonObject(value) || put.length === 0) return value
  const metadata = makeCopy(getKey(value, 'metadata'))
  const annotations = makeCopy(getKey(metadata, 'annotations'))
  for (const [name, text] of put) setKey(annotations, name, text)
  setKey(metadata, 'annotations', annotations)
  const whole = makeCopy(value)
  setKey(whole, 'metadata', metadata)
  return whole
}

function makeCopy(value: Json | undefined): { [key: string]: Json } {
  const copy = emptyObject()
  if (isJsonObject(value))
    for (const [key, below] of Object.entries(value)) setKey(copy, key, below)
  return copy
}

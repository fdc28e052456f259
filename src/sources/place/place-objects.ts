import type { FileChange } from '@backporch/git-store/package-repository'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { editYaml, writeDocument } from '@backporch/kyaml/edit-yaml'
import { catchFailure, Failure } from '@backporch/kyaml/failure'
import type { PackageFile, PackageFiles } from '@backporch/kyaml/files'
import { getKey, getPartAt, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { getMetadataText } from '@backporch/kyaml/resource'
import { convertYamlToJson } from '@backporch/kyaml/yaml'
import { isEncrypted } from '../../drift/detect/encrypted-fields.ts'
import { AuthoredFiles } from '../edits/authored-files.ts'
import { createCannotFailure, type ResolvedChange } from '../edits/resolution-edits.ts'
import { movesOn } from '../kpt/adopt/prove-renders.ts'
import { MOST_RENDERS, RepeatedRenders } from '../kpt/adopt/repeated-renders.ts'
import type { RenderedPackage } from '../kpt/render/render-package.ts'
import { choosePlace, listSiblingFiles } from './layout.ts'
import {
  explainNotAsLive,
  findRenderedName,
  type NewObject,
  type NotAsLive,
} from './prove-placed.ts'

/** Objects per proposal: each costs the server's dry runs. */
const MOST_OBJECTS = 50

export interface WholeChange extends ResolvedChange {
  readonly whole: NonNullable<ResolvedChange['whole']>
}

/** @throws Failure BP2001 if there are too many */
export function selectWholeChanges(changes: readonly ResolvedChange[]): readonly WholeChange[] {
  const found = changes.flatMap((change): WholeChange[] => {
    const { whole, resolution } = change
    return whole === undefined || resolution !== 'Adopt' ? [] : [{ ...change, whole }]
  })
  const [first] = found
  if (first === undefined || found.length <= MOST_OBJECTS) return found
  throw createCannotFailure(first, {
    why: `${found.length} objects would be written at once, and ${MOST_OBJECTS} is the limit`,
    remedy: 'adopt fewer objects at a time',
  })
}

interface PlacingInput {
  readonly packagePath: string
  readonly files: PackageFiles
  readonly changes: readonly WholeChange[]
  /** @throws Failure of the package */
  readonly render: (files: PackageFiles) => RenderedPackage
}

/** Later ones override earlier ones; null removes a file. */
export function joinFiles(
  before: ReadonlyMap<string, Uint8Array | null>,
  more: ReadonlyMap<string, Uint8Array | null>,
): readonly FileChange[] {
  return [...new Map([...before, ...more])].map(([path, content]) => ({ path, content }))
}

/**
 * By path from the repository root.
 * @throws Failure BP2001, or that of the package
 */
export function placeInPackage({
  packagePath,
  files,
  changes,
  render,
}: PlacingInput): ReadonlyMap<string, string> {
  const authored = new AuthoredFiles(packagePath, files)
  const first = render(files)
  const unedited = new RepeatedRenders(files, first, render)
  const writeAll = (objects: readonly NewObject[]) => {
    const texts = writeObjects(objects, {
      folder: packagePath,
      resources: first.desired.resources,
      isSibling: () => true,
      textOf: (path) => (authored.has(path) ? authored.getText(path) : undefined),
    })
    const edited = replaceTexts(
      files,
      new Map([...texts].map(([path, text]) => [authored.getRelativePath(path), text])),
    )
    return { texts, edited: new RepeatedRenders(edited, render(edited), render) }
  }
  const { objects, texts, edited } = restoreAuthoredNames(
    changes,
    writeAll,
    ({ edited: { first: after } }) => [unedited.first.objects, after.objects],
  )
  for (let number = 1; number <= MOST_RENDERS; number += 1) {
    assertAsLive(changes, objects, (some) =>
      explainNotAsLive(unedited.renderAt(number).objects, edited.renderAt(number).objects, some),
    )
    if (unedited.isSettledAt(number) && edited.isSettledAt(number)) break
  }
  const moving = movesOn(edited)
  if (moving !== undefined && changes[0] !== undefined)
    throw createCannotFailure(changes[0], {
      why: `with its manifest the pipeline is not idempotent: ${moving} changes with each render`,
      remedy: BY_HAND,
    })
  if (first.run === undefined || !unedited.isSettledAt(1)) return texts
  // The package is stored rendered, and so are its new files.
  const rendered = new Map(
    edited.renderAt(2).files.map(({ path, content }) => [authored.resolveLocation(path), content]),
  )
  return new Map(
    [...texts].map(([path, text]) => [path, decodeContent(rendered.get(path)) ?? text]),
  )
}

export const BY_HAND = 'write its manifest by hand and commit it, or choose restore or release'

interface Authoring {
  /** For files without siblings, from the repository root. */
  readonly folder: string
  readonly resources: readonly DesiredResource[]
  readonly isSibling: (path: string) => boolean
  /** Undefined if the file does not exist. */
  readonly textOf: (path: string) => string | undefined
}

export function writeObjects(
  objects: readonly NewObject[],
  { folder, resources, isSibling, textOf }: Authoring,
): Map<string, string> {
  const encrypted = new Set(
    resources.flatMap(({ object, location }) => (isEncrypted(object) ? [location.path] : [])),
  )
  const own = resources.filter(
    ({ location: { path, step } }) => step === undefined && isSibling(path) && !encrypted.has(path),
  )
  let siblings = listSiblingFiles(restoreAuthoredIds(own, textOf))
  const texts = new Map<string, string>()
  for (const { id: live, manifest } of objects) {
    const id = { ...live, name: getMetadataText(manifest, 'name') }
    const place = choosePlace(
      id,
      siblings,
      folder,
      (path) => texts.has(path) || textOf(path) !== undefined,
    )
    if (place === undefined) continue
    const before = texts.get(place.path) ?? textOf(place.path) ?? ''
    const written =
      place.kind === 'new'
        ? writeDocument(manifest)
        : catchFailure(() =>
            editYaml(before, [{ kind: 'append-object', object: manifest }], place.path),
          )
    if (written instanceof Failure) {
      siblings = siblings.filter(({ path }) => path !== place.path)
      const other = choosePlace(
        id,
        siblings,
        folder,
        (path) => texts.has(path) || textOf(path) !== undefined,
      )
      if (other !== undefined) texts.set(other.path, writeDocument(manifest))
    } else texts.set(place.path, written)
  }
  return texts
}

function restoreAuthoredIds(
  resources: readonly DesiredResource[],
  textOf: Authoring['textOf'],
): readonly DesiredResource[] {
  const known = new Map<string, readonly Json[]>()
  return resources.map((resource) => {
    const { path, document, item } = resource.location
    const values = known.get(path) ?? parseValues(textOf(path) ?? '', path)
    known.set(path, values)
    const name = item === undefined ? getPartAt(values[document], 'metadata', 'name') : undefined
    return typeof name === 'string' && name !== ''
      ? { ...resource, id: { ...resource.id, name } }
      : resource
  })
}

function parseValues(text: string, path: string): readonly Json[] {
  const nodes = catchFailure(() => readYamlNodes(text.replaceAll('\r\n', '\n'), path))
  return nodes instanceof Failure ? [] : nodes.map(convertYamlToJson)
}

/**
 * A name transformation creates the live name from another one, which the manifest must then have.
 * @param write a trial with these manifests
 * @param rendered before and after it
 */
export function restoreAuthoredNames<Trial>(
  changes: readonly WholeChange[],
  write: (objects: readonly NewObject[]) => Trial,
  rendered: (
    trial: Trial,
  ) => readonly [Parameters<typeof findRenderedName>[0], Parameters<typeof findRenderedName>[1]],
): Trial & { readonly objects: readonly NewObject[] } {
  const objects = changes.map(
    ({ drift, whole }): NewObject => ({
      id: drift.id,
      manifest: whole.manifest,
      live: isJsonObject(drift.live) ? drift.live : {},
    }),
  )
  const trial = write(objects)
  const [before, after] = rendered(trial)
  const renamed = objects.map((object) => {
    const name = findRenderedName(before, after, object.id)
    return name === undefined
      ? object
      : { ...object, manifest: setName(object.manifest, deriveAuthoredName(object.id.name, name)) }
  })
  if (renamed.every((object, index) => object === objects[index])) return { ...trial, objects }
  return { ...write(renamed), objects: renamed }
}

/** `web` from the live name `prod-web` and its rendered name `prod-prod-web`. */
function deriveAuthoredName(live: string, rendered: string): string {
  const at = rendered.indexOf(live)
  const [prefix, suffix] = [rendered.slice(0, at), rendered.slice(at + live.length)]
  const fits =
    live.length > prefix.length + suffix.length && live.startsWith(prefix) && live.endsWith(suffix)
  return fits ? live.slice(prefix.length, live.length - suffix.length) : live
}

function setName(manifest: JsonObject, name: string): JsonObject {
  const metadata = getKey(manifest, 'metadata')
  if (!isJsonObject(metadata) || getMetadataText(manifest, 'name') === name) return manifest
  return { ...manifest, metadata: { ...metadata, name } as { readonly [key: string]: Json } }
}

/** @throws Failure BP2001 of the object that is not as live */
export function assertAsLive(
  changes: readonly WholeChange[],
  objects: readonly NewObject[],
  notAsLive: (objects: readonly NewObject[]) => NotAsLive | undefined,
): void {
  const found = notAsLive(objects)
  const change = changes[found?.object === undefined ? 0 : objects.indexOf(found.object)]
  if (found !== undefined && change !== undefined)
    throw createCannotFailure(change, { why: found.why, remedy: BY_HAND })
}

function replaceTexts(files: PackageFiles, texts: ReadonlyMap<string, string>): PackageFiles {
  const left = new Map(texts)
  const edited = files.map((file): PackageFile => {
    const text = left.get(file.path)
    left.delete(file.path)
    return text === undefined ? file : { ...file, content: encodeText(text) }
  })
  const created = [...left].map(([path, text]) => ({
    path,
    mode: '100644' as const,
    content: encodeText(text),
  }))
  return created.length === 0
    ? edited
    : [...edited, ...created].sort((one, other) => (one.path < other.path ? -1 : 1))
}

function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** With a byte order mark, which an edit retains. */
export function decodeContent(content: Uint8Array | undefined): string | undefined {
  return content === undefined
    ? undefined
    : new TextDecoder('utf-8', { ignoreBOM: true }).decode(content)
}

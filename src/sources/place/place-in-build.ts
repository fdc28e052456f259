/**
 * Places an object in a file next to the kustomization, with an entry in it; a build proves the
 * edit.
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { filterTexts, getKey, isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import { assertBuilt, findSharingUnits, getBuiltObjects } from '../build/adopt/shared-builds.ts'
import { collectChangedFiles } from '../build/adopt/source-edits.ts'
import type { BuiltSource, SyncerBuild } from '../build/built-source.ts'
import type { BuiltUnit } from '../build/built-unit.ts'
import { WAYS_FOR_SECRETS } from '../edits/not-adopted.ts'
import { createCannotFailure } from '../edits/resolution-edits.ts'
import {
  findKustomizationPath,
  readKustomizationAt,
  type SourceFiles,
} from '../kustomize/files/kustomize-build.ts'
import { updateListedFiles } from '../kustomize/files/listed-files.ts'
import {
  createNotLocatedFailure,
  createSharedObstacle,
  describeSharedRemedy,
} from '../locate/adoption-failures.ts'
import {
  assertAsLive,
  BY_HAND,
  decodeContent,
  restoreAuthoredNames,
  type WholeChange,
  writeObjects,
} from './place-objects.ts'
import { explainNotAsLive, type NewObject } from './prove-placed.ts'

type Contents = ReadonlyMap<string, Uint8Array | null>

/**
 * @param edited files that are edited for other changes, by path from the root of the repository
 * @returns these, and the changed ones
 * @throws Failure BP2001, or that of the build; Unanswered where kustomize has to run first
 */
export function placeInBuild(
  unit: BuiltUnit,
  edited: Contents,
  changes: readonly WholeChange[],
): Contents {
  const { source, library } = unit
  const [first] = changes
  if (first === undefined) return edited
  const { locator } = source.tool
  if ('refusal' in locator) throw createNotLocatedFailure(first, locator.refusal(source))
  const telling = changes.find(({ whole }) => holdsSecret(whole.manifest, source.synced))
  if (telling !== undefined)
    throw createCannotFailure(telling, {
      code: 'BP2002',
      why: 'it holds a value that the syncer substitutes from a Secret',
      remedy: WAYS_FOR_SECRETS,
    })
  const files = applyContents(source.files, edited)
  const before = getBuiltObjects(library, { ...source, files })
  const write = (objects: readonly NewObject[]): SourceFiles => {
    const after = writeNewObjects(source, files, [...before.values()], objects)
    const hidden = [...after.keys()].find(
      (path) => !files.has(path) && source.isPacked?.(path) === false,
    )
    if (hidden !== undefined)
      throw createCannotFailure(first, {
        why: `the syncer would not get the new file ${hidden}: its source leaves it out`,
        remedy: BY_HAND,
      })
    assertBuilt(library, [{ ...source, files: after }])
    return after
  }
  const { objects, after } = restoreAuthoredNames(
    changes,
    (wanted) => ({ after: write(wanted) }),
    (trial) => [before, getBuiltObjects(library, { ...source, files: trial.after })],
  )
  assertAsLive(changes, objects, (wanted) =>
    explainNotAsLive(before, getBuiltObjects(library, { ...source, files: after }), wanted),
  )
  const added = [...collectChangedFiles(files, after).keys()]
  const [by] = findSharingUnits(unit, after)
  if (by !== undefined) {
    const { unit: other, moved } = by
    const remedy = describeSharedRemedy(locator.ownPlace(source))
    throw createSharedObstacle(
      first,
      { what: added.join(' and ') },
      { name: other.name, moved },
      remedy,
    )
  }
  if (added.length === 0)
    throw createCannotFailure(first, {
      why: `${source.folder || 'the repository'} has no place for a new file`,
      remedy: BY_HAND,
    })
  return collectChangedFiles(source.files, after)
}

/** Characters; a shorter value is in many texts. */
const SHORTEST_SECRET = 4

function holdsSecret(value: Json, synced: SyncerBuild | undefined): boolean {
  const secrets = [...(synced?.variableSources ?? [])].flatMap(([name, { kind }]) =>
    kind === 'Secret' ? (synced?.variables.get(name) ?? '') : [],
  )
  const long = secrets.filter((secret) => secret.length >= SHORTEST_SECRET)
  const within = (each: Json): boolean => {
    if (isJsonArray(each)) return each.some(within)
    if (isJsonObject(each)) return Object.values(each).some(within)
    return long.some((secret) => String(each).includes(secret))
  }
  return long.length > 0 && within(value)
}

function writeNewObjects(
  { folder, isTaken = () => false }: Pick<BuiltSource, 'folder' | 'isTaken'>,
  files: SourceFiles,
  resources: readonly DesiredResource[],
  objects: readonly NewObject[],
): SourceFiles {
  const kustomization = findKustomizationPath(folder, files)
  const prefix = folder === '' ? '' : `${folder}/`
  const listed =
    kustomization === undefined
      ? undefined
      : filterTexts(getKey(readKustomizationAt(kustomization, files), 'resources'))
  const own = new Set(listed?.map((entry) => prefix + entry.replace(/^\.\//, '')))
  const texts = writeObjects(objects, {
    folder,
    resources,
    isSibling: (path) => (listed === undefined ? path.startsWith(prefix) : own.has(path)),
    // A file that the unit does not read stays unchanged.
    textOf: (path) => decodeContent(files.get(path)?.content) ?? (isTaken(path) ? '' : undefined),
  })
  const after = new Map(files)
  const put = (path: string, text: string): void => {
    after.set(path, {
      path,
      mode: files.get(path)?.mode ?? '100644',
      content: new TextEncoder().encode(text),
    })
  }
  for (const [path, text] of texts) put(path, text)
  const created = [...texts.keys()]
    .filter((path) => !files.has(path))
    .map((path) => path.slice(prefix.length))
  if (kustomization !== undefined && created.length > 0)
    put(kustomization, updateListedFiles(kustomization, files, created))
  return after
}

function applyContents(files: SourceFiles, edited: Contents): SourceFiles {
  const after = new Map(files)
  for (const [path, content] of edited) {
    if (content === null) after.delete(path)
    else after.set(path, { path, mode: files.get(path)?.mode ?? '100644', content })
  }
  return after
}

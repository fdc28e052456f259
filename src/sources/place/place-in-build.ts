/** A file next to the kustomization, with an entry in it, proven by a build. */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { getKey, isJsonArray, isJsonObject, type Json, textsIn } from '@backporch/kyaml/json'
import { assertBuilt, builtObjects, sharingUnits } from '../build/adopt/shared-builds.ts'
import { changedFiles } from '../build/adopt/source-edits.ts'
import type { BuiltSource, SyncerBuild } from '../build/built-source.ts'
import type { BuiltUnit } from '../build/built-unit.ts'
import { WAYS_FOR_SECRETS } from '../edits/not-adopted.ts'
import { cannot } from '../edits/resolution-edits.ts'
import {
  kustomizationAt,
  kustomizationOf,
  type SourceFiles,
} from '../kustomize/files/kustomize-build.ts'
import { withListed } from '../kustomize/files/listed-files.ts'
import { notLocated, remedyOfShared, shared } from '../locate/adoption-failures.ts'
import {
  assertAsLive,
  BY_HAND,
  decoded,
  type WholeChange,
  withAuthoredNames,
  writeObjects,
} from './place-objects.ts'
import { type NewObject, whyNotAsLive } from './prove-placed.ts'

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
  if ('refusal' in locator) throw notLocated(first, locator.refusal(source))
  const telling = changes.find(({ whole }) => holdsSecret(whole.manifest, source.synced))
  if (telling !== undefined)
    throw cannot(telling, {
      code: 'BP2002',
      why: 'it holds a value that the syncer substitutes from a Secret',
      remedy: WAYS_FOR_SECRETS,
    })
  const files = withContents(source.files, edited)
  const before = builtObjects(library, { ...source, files })
  const write = (objects: readonly NewObject[]): SourceFiles => {
    const after = written(source, files, [...before.values()], objects)
    const hidden = [...after.keys()].find(
      (path) => !files.has(path) && source.isPacked?.(path) === false,
    )
    if (hidden !== undefined)
      throw cannot(first, {
        why: `the syncer would not get the new file ${hidden}: its source leaves it out`,
        remedy: BY_HAND,
      })
    assertBuilt(library, [{ ...source, files: after }])
    return after
  }
  const { objects, after } = withAuthoredNames(
    changes,
    (wanted) => ({ after: write(wanted) }),
    (trial) => [before, builtObjects(library, { ...source, files: trial.after })],
  )
  assertAsLive(changes, objects, (wanted) =>
    whyNotAsLive(before, builtObjects(library, { ...source, files: after }), wanted),
  )
  const added = [...changedFiles(files, after).keys()]
  const [by] = sharingUnits(unit, after)
  if (by !== undefined) {
    const { unit: other, moved } = by
    const remedy = remedyOfShared(locator.ownPlace(source))
    throw shared(first, { what: added.join(' and ') }, { name: other.name, moved }, remedy)
  }
  if (added.length === 0)
    throw cannot(first, {
      why: `${source.folder || 'the repository'} has no place for a new file`,
      remedy: BY_HAND,
    })
  return changedFiles(source.files, after)
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

function written(
  { folder, isTaken = () => false }: Pick<BuiltSource, 'folder' | 'isTaken'>,
  files: SourceFiles,
  resources: readonly DesiredResource[],
  objects: readonly NewObject[],
): SourceFiles {
  const kustomization = kustomizationOf(folder, files)
  const prefix = folder === '' ? '' : `${folder}/`
  const listed =
    kustomization === undefined
      ? undefined
      : textsIn(getKey(kustomizationAt(kustomization, files), 'resources'))
  const own = new Set(listed?.map((entry) => prefix + entry.replace(/^\.\//, '')))
  const texts = writeObjects(objects, {
    folder,
    resources,
    isSibling: (path) => (listed === undefined ? path.startsWith(prefix) : own.has(path)),
    // A file that the unit does not read stays unchanged.
    textOf: (path) => decoded(files.get(path)?.content) ?? (isTaken(path) ? '' : undefined),
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
    put(kustomization, withListed(kustomization, files, created))
  return after
}

function withContents(files: SourceFiles, edited: Contents): SourceFiles {
  const after = new Map(files)
  for (const [path, content] of edited) {
    if (content === null) after.delete(path)
    else after.set(path, { path, mode: files.get(path)?.mode ?? '100644', content })
  }
  return after
}

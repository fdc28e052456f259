/** Builds a folder as Config Sync does (docs/facts/config-sync-sources.md). */
import { isKustomizationFile } from '@backporch/kpt/package'
import { getTextAt, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { getMetadataText } from '@backporch/kyaml/resource'
import type { SyncerBuilder } from '../build/built-source.ts'
import { PLAIN_BUILDER } from '../build/plain-builder.ts'
import { printFiles } from '../build/print-files.ts'
import {
  findKustomizationPath,
  ORIGIN,
  readKustomizationAt,
  requestOrigins,
  type SourceFiles,
} from '../kustomize/files/kustomize-build.ts'
import { readOrigin } from '../kustomize/files/resource-origins.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'
import { inheritObjects, isInHierarchy, placeInHierarchy } from './hierarchy.ts'
import { selectForCluster, selectInNamespaces } from './selection.ts'
import {
  createRefusedFolderFailure,
  describe,
  findObjectAnnotation,
  getName,
  getObjectNamespace,
  isNamespace,
  isOwnKind,
  type SourceObject,
} from './source-object.ts'

const MANAGED = 'configmanagement.gke.io/managed'

export interface ConfigSyncSource {
  readonly format: 'unstructured' | 'hierarchy'
  readonly isKustomized: boolean
  readonly clusterName: string | undefined
}

/** A RepoSync puts every object into its namespace. */
export function createConfigSyncBuilder({
  format,
  isKustomized,
  clusterName,
}: ConfigSyncSource): SyncerBuilder {
  const isHierarchy = format === 'hierarchy'
  return {
    ...PLAIN_BUILDER,
    tool: KUSTOMIZE_TOOL,
    way: isKustomized
      ? { kustomization: (_own, folder, files) => readAuthored(folder, files) }
      : { print: (_own, folder, files) => printFolder(folder, files, isHierarchy) },
    namespace: (own) => findRepoSyncNamespace(own) ?? 'default',
    documents: (_build, own, text) => {
      const objects = parseObjects(text)
      for (const each of objects) checkManagement(each)
      const applied = isHierarchy
        ? inheritObjects(selectForCluster(placeInHierarchy(objects), clusterName))
        : prepareUnstructured(selectForCluster(objects, clusterName), own)
      return selectManaged(applied).map((each) => ({ text: each.text }))
    },
  }
}

function readAuthored(folder: string, files: SourceFiles) {
  const path = findKustomizationPath(folder, files) ?? ''
  return { path, ...requestOrigins(readKustomizationAt(path, files)) }
}

/** @throws Failure BP1210, BP111x of a file */
function printFolder(folder: string, files: SourceFiles, isHierarchy: boolean): string {
  return printFiles(files, folder, {
    chosen: ({ path, isLink }) => {
      const isRead = !path.endsWith('.jsonnet') && !isLink && (!isHierarchy || isInHierarchy(path))
      if (isRead && isKustomizationFile(path))
        throw createRefusedFolderFailure(
          `${path} is below a folder that has no kustomization itself, and Config Sync then applies nothing (KNV1068)`,
        )
      return isRead
    },
    reads: () => true,
  })
}

function parseObjects(text: string): readonly SourceObject[] {
  return text.split(/^---\n/m).flatMap((document) => {
    const object =
      document.trim() === '' ? undefined : parseGoYaml(document, 'the output').documents[0]?.value
    return isJsonObject(object)
      ? [
          {
            object,
            path: readOrigin(getTextAt(object, 'metadata', 'annotations', ORIGIN))['path'] ?? '',
            text: document,
          },
        ]
      : []
  })
}

/** @throws Failure BP1210 if Config Sync applies nothing */
function prepareUnstructured(
  objects: readonly SourceObject[],
  own: JsonObject,
): readonly SourceObject[] {
  const namespace = findRepoSyncNamespace(own)
  for (const each of objects) {
    if (isOwnKind(each, 'Repo') || isOwnKind(each, 'HierarchyConfig'))
      throw createRefusedFolderFailure(
        `${describe(each)} is of the hierarchical format, and Config Sync then applies nothing (KNV1032)`,
      )
    if (namespace !== undefined && !['', namespace].includes(getObjectNamespace(each)))
      throw createRefusedFolderFailure(
        `${describe(each)} is in another namespace than the RepoSync, which then applies nothing (KNV1058)`,
      )
  }
  return selectInNamespaces(objects)
}

function checkManagement(each: SourceObject): void {
  const state = findObjectAnnotation(each, MANAGED)
  if (![undefined, 'disabled'].includes(state))
    throw createRefusedFolderFailure(
      `${describe(each)} has ${MANAGED} with another value than "disabled", and Config Sync then applies nothing (KNV1005)`,
    )
}

/** @throws Failure BP1210 if a namespace is not managed but an object in it is */
function selectManaged(objects: readonly SourceObject[]): readonly SourceObject[] {
  const isManaged = (each: SourceObject): boolean =>
    findObjectAnnotation(each, MANAGED) !== 'disabled'
  const left = new Set(objects.filter((each) => isNamespace(each) && !isManaged(each)).map(getName))
  const kept = objects.filter(isManaged)
  const stray = kept.find((each) => left.has(getObjectNamespace(each)))
  if (stray !== undefined)
    throw createRefusedFolderFailure(
      `${describe(stray)} is in a namespace that is not managed, and Config Sync then applies nothing (KNV1056)`,
    )
  return kept
}

function findRepoSyncNamespace(own: JsonObject): string | undefined {
  return getTextAt(own, 'kind') === 'RepoSync' ? getMetadataText(own, 'namespace') : undefined
}

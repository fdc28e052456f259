/** See docs/facts/config-sync-sources.md. */
import { isKustomizationFile } from '@backporch/kpt/package'
import { isJsonObject, type JsonObject, textOf } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { metadataText } from '@backporch/kyaml/resource'
import type { SyncerBuilder } from '../build/built-source.ts'
import { PLAIN_BUILDER } from '../build/plain-builder.ts'
import { printFiles } from '../build/print-files.ts'
import {
  kustomizationAt,
  kustomizationOf,
  ORIGIN,
  type SourceFiles,
  withOrigins,
} from '../kustomize/files/kustomize-build.ts'
import { readOrigin } from '../kustomize/files/resource-origins.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'
import { inherited, isInHierarchy, placed } from './hierarchy.ts'
import { forCluster, inSelectedNamespaces } from './selection.ts'
import {
  annotationOf,
  describe,
  isNamespace,
  isOwnKind,
  nameOf,
  namespaceOf,
  refused,
  type SourceObject,
} from './source-object.ts'

const MANAGED = 'configmanagement.gke.io/managed'

export interface ConfigSyncSource {
  readonly format: 'unstructured' | 'hierarchy'
  readonly isKustomized: boolean
  readonly clusterName: string | undefined
}

/** A RepoSync puts every object into its namespace. */
export function configSyncFolder({
  format,
  isKustomized,
  clusterName,
}: ConfigSyncSource): SyncerBuilder {
  const isHierarchy = format === 'hierarchy'
  return {
    ...PLAIN_BUILDER,
    tool: KUSTOMIZE_TOOL,
    way: isKustomized
      ? { kustomization: (_own, folder, files) => asAuthored(folder, files) }
      : { print: (_own, folder, files) => printed(folder, files, isHierarchy) },
    namespace: (own) => repoSyncNamespace(own) ?? 'default',
    documents: (_build, own, text) => {
      const objects = objectsOf(text)
      for (const each of objects) checkManagement(each)
      const applied = isHierarchy
        ? inherited(forCluster(placed(objects), clusterName))
        : unstructured(forCluster(objects, clusterName), own)
      return managed(applied).map((each) => ({ text: each.text }))
    },
  }
}

function asAuthored(folder: string, files: SourceFiles) {
  const path = kustomizationOf(folder, files) ?? ''
  return { path, ...withOrigins(kustomizationAt(path, files)) }
}

/** @throws Failure BP1210, BP111x of a file */
function printed(folder: string, files: SourceFiles, isHierarchy: boolean): string {
  return printFiles(files, folder, {
    chosen: ({ path, isLink }) => {
      const isRead = !path.endsWith('.jsonnet') && !isLink && (!isHierarchy || isInHierarchy(path))
      if (isRead && isKustomizationFile(path))
        throw refused(
          `${path} is below a folder that has no kustomization itself, and Config Sync then applies nothing (KNV1068)`,
        )
      return isRead
    },
    reads: () => true,
  })
}

function objectsOf(text: string): readonly SourceObject[] {
  return text.split(/^---\n/m).flatMap((document) => {
    const object =
      document.trim() === '' ? undefined : parseGoYaml(document, 'the output').documents[0]?.value
    return isJsonObject(object)
      ? [
          {
            object,
            path: readOrigin(textOf(object, 'metadata', 'annotations', ORIGIN))['path'] ?? '',
            text: document,
          },
        ]
      : []
  })
}

/** @throws Failure BP1210 if Config Sync applies nothing */
function unstructured(objects: readonly SourceObject[], own: JsonObject): readonly SourceObject[] {
  const namespace = repoSyncNamespace(own)
  for (const each of objects) {
    if (isOwnKind(each, 'Repo') || isOwnKind(each, 'HierarchyConfig'))
      throw refused(
        `${describe(each)} is of the hierarchical format, and Config Sync then applies nothing (KNV1032)`,
      )
    if (namespace !== undefined && !['', namespace].includes(namespaceOf(each)))
      throw refused(
        `${describe(each)} is in another namespace than the RepoSync, which then applies nothing (KNV1058)`,
      )
  }
  return inSelectedNamespaces(objects)
}

function checkManagement(each: SourceObject): void {
  const state = annotationOf(each, MANAGED)
  if (![undefined, 'disabled'].includes(state))
    throw refused(
      `${describe(each)} has ${MANAGED} with another value than "disabled", and Config Sync then applies nothing (KNV1005)`,
    )
}

/** @throws Failure BP1210 if a namespace is not managed but an object in it is */
function managed(objects: readonly SourceObject[]): readonly SourceObject[] {
  const isManaged = (each: SourceObject): boolean => annotationOf(each, MANAGED) !== 'disabled'
  const left = new Set(objects.filter((each) => isNamespace(each) && !isManaged(each)).map(nameOf))
  const kept = objects.filter(isManaged)
  const stray = kept.find((each) => left.has(namespaceOf(each)))
  if (stray !== undefined)
    throw refused(
      `${describe(stray)} is in a namespace that is not managed, and Config Sync then applies nothing (KNV1056)`,
    )
  return kept
}

function repoSyncNamespace(own: JsonObject): string | undefined {
  return textOf(own, 'kind') === 'RepoSync' ? metadataText(own, 'namespace') : undefined
}

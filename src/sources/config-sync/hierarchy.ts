/**
 * Builds a hierarchical repository: folders below `namespaces` inherit objects (kpt-config-sync
 * v1.22.1 `pkg/validate/{raw,tree}`).
 */
import { filterObjects, filterTexts, getPartAt, getTextAt } from '@backporch/kyaml/json'
import { getLabels } from '@backporch/kyaml/resource'
import { getParentFolder } from '../kustomize/files/kustomization-walk.ts'
import { findNamespaceSelector, selects } from './selection.ts'
import {
  createRefusedFolderFailure,
  describe,
  findObjectAnnotation,
  getName,
  getObjectNamespace,
  isNamespace,
  isOwnKind,
  NAMESPACE_SELECTOR,
  readGroup,
  type SourceObject,
  setMetadata,
} from './source-object.ts'

const NAMESPACES = 'namespaces'
const FOLDERS = ['system', 'cluster', 'clusterregistry', NAMESPACES]
const DEPTH = '.tree.hnc.x-k8s.io/depth'

export function isInHierarchy(path: string): boolean {
  return path.includes('/') && FOLDERS.includes(getTopFolder(path))
}

/**
 * With namespace and labels from the folder.
 * @throws Failure BP1210
 */
export function placeInHierarchy(objects: readonly SourceObject[]): readonly SourceObject[] {
  const repos = objects.filter((each) => isOwnKind(each, 'Repo')).length
  if (repos !== 1)
    throw createRefusedFolderFailure(
      repos === 0
        ? 'there is no Repo object in system/, and Config Sync then applies nothing (KNV1017)'
        : 'it has several Repo objects, and Config Sync then applies nothing (KNV2012)',
    )
  for (const each of objects) checkPlace(each)
  const namespaces = new Set(objects.filter(isNamespace).map(({ path }) => getParentFolder(path)))
  return objects.map((each) => {
    const folder = getParentFolder(each.path)
    if (isNamespace(each)) return addDepthLabels(each, folder.split('/').slice(1))
    const isBare =
      getTopFolder(each.path) === NAMESPACES &&
      getObjectNamespace(each) === '' &&
      !isOwnKind(each, 'NamespaceSelector')
    return isBare && namespaces.has(folder)
      ? setMetadata(each, { namespace: findName(folder) })
      : each
  })
}

/**
 * Copies each folder's objects into the namespaces below it.
 * @param objects those of `placed`, for the cluster
 * @throws Failure BP1210
 */
export function inheritObjects(objects: readonly SourceObject[]): readonly SourceObject[] {
  const below = objects.filter(({ path }) => getTopFolder(path) === NAMESPACES)
  const selectors = below.filter((each) => isOwnKind(each, 'NamespaceSelector'))
  const namespaces = below.filter(isNamespace)
  const others = below.filter((each) => !isNamespace(each) && !isOwnKind(each, 'NamespaceSelector'))
  const folders = new Set(namespaces.map(({ path }) => getParentFolder(path)))
  if (folders.size < namespaces.length)
    throw createRefusedFolderFailure(
      'a folder has two Namespaces, and Config Sync then applies nothing (KNV2012)',
    )
  const kept = collectKeptKinds(objects)
  for (const each of below) checkInherited(each, folders, kept)
  for (const each of others) checkSelector(each, selectors)
  const copies = namespaces.flatMap((namespace) => {
    const folder = getParentFolder(namespace.path)
    const labels = getLabels(namespace.object)
    const mine = others.filter(({ path }) => isWithin(folder, getParentFolder(path)))
    const selected = mine.filter((each) => {
      const selector = findNamespaceSelector(each, selectors)
      return selector === undefined || selects(selector, labels)
    })
    return [
      namespace,
      ...selected.map((each) => setMetadata(each, { namespace: getName(namespace) })),
    ]
  })
  return [...objects.filter(({ path }) => getTopFolder(path) === 'cluster'), ...copies]
}

function checkPlace(each: SourceObject): void {
  const folder = getParentFolder(each.path)
  const name = findName(folder)
  const stops = 'and Config Sync then applies nothing'
  if (
    getTopFolder(each.path) === 'cluster' &&
    findObjectAnnotation(each, NAMESPACE_SELECTOR) !== undefined
  )
    throw createRefusedFolderFailure(
      `${describe(each)} is of no namespace and has ${NAMESPACE_SELECTOR}, ${stops} (KNV1004)`,
    )
  if (!isNamespace(each)) {
    if (!['', name].includes(getObjectNamespace(each)))
      throw createRefusedFolderFailure(
        `${describe(each)} is in the folder ${folder}, ${stops} (KNV1009)`,
      )
  } else if (getTopFolder(each.path) !== NAMESPACES)
    throw createRefusedFolderFailure(
      `${describe(each)} is not below ${NAMESPACES}, ${stops} (KNV1039)`,
    )
  else if (folder === NAMESPACES)
    throw createRefusedFolderFailure(
      `${describe(each)} has no folder of its own, ${stops} (KNV1019)`,
    )
  else if (getName(each) !== name)
    throw createRefusedFolderFailure(
      `${describe(each)} is in the folder ${folder}, ${stops} (KNV1020)`,
    )
}

function collectKeptKinds(objects: readonly SourceObject[]): ReadonlySet<string> {
  const modes = new Map<string, string>()
  for (const { object } of objects.filter((each) => isOwnKind(each, 'HierarchyConfig')))
    for (const resource of filterObjects(getPartAt(object, 'spec', 'resources')))
      for (const kind of filterTexts(getPartAt(resource, 'kinds')))
        modes.set(`${getTextAt(resource, 'group')}/${kind}`, getTextAt(resource, 'hierarchyMode'))
  return new Set([...modes].flatMap(([kind, mode]) => (mode === 'none' ? [kind] : [])))
}

function checkInherited(
  each: SourceObject,
  folders: ReadonlySet<string>,
  kept: ReadonlySet<string>,
): void {
  const folder = getParentFolder(each.path)
  const stops = 'and Config Sync then applies nothing'
  const above = [...folders].find(
    (namespace) => folder !== namespace && isWithin(folder, namespace),
  )
  if (above !== undefined)
    throw createRefusedFolderFailure(
      `${folder} is below the folder of the namespace ${findName(above)}, ${stops} (KNV1003)`,
    )
  if (isOwnKind(each, 'NamespaceSelector')) {
    if (folders.has(folder))
      throw createRefusedFolderFailure(
        `${describe(each)} is in the folder of a namespace, ${stops} (KNV1038)`,
      )
  } else if (!folders.has(folder)) {
    if (kept.has(`${readGroup(each.object)}/${getTextAt(each.object, 'kind')}`))
      throw createRefusedFolderFailure(
        `${describe(each)} is in ${folder}, and a HierarchyConfig lets no folder inherit its kind, ${stops} (KNV1007)`,
      )
    if (![...folders].some((namespace) => isWithin(namespace, folder)))
      throw createRefusedFolderFailure(
        `${describe(each)} is in ${folder}, which has no namespace below it, ${stops} (KNV1044)`,
      )
  }
}

function checkSelector(each: SourceObject, selectors: readonly SourceObject[]): void {
  const selector = findNamespaceSelector(each, selectors)
  if (
    selector !== undefined &&
    !isWithin(getParentFolder(each.path), getParentFolder(selector.path))
  )
    throw createRefusedFolderFailure(
      `${describe(each)} names ${describe(selector)}, which is not in a folder above it, and Config Sync then applies nothing (KNV1013)`,
    )
}

function addDepthLabels(namespace: SourceObject, folders: readonly string[]): SourceObject {
  const depths = folders.map(
    (folder, index) => [`${folder}${DEPTH}`, String(folders.length - index - 1)] as const,
  )
  return setMetadata(namespace, {
    labels: { ...Object.fromEntries(getLabels(namespace.object)), ...Object.fromEntries(depths) },
  })
}

function getTopFolder(path: string): string {
  return path.slice(0, path.indexOf('/'))
}

function findName(folder: string): string {
  return folder.slice(folder.lastIndexOf('/') + 1)
}

function isWithin(folder: string, other: string): boolean {
  return `${folder}/`.startsWith(`${other}/`)
}

/**
 * Folders below `namespaces` inherit objects (kpt-config-sync v1.22.1 `pkg/validate/{raw,tree}`).
 */
import { objectsIn, partOf, textOf, textsIn } from '@backporch/kyaml/json'
import { labelsOf } from '@backporch/kyaml/resource'
import { folderOf } from '../kustomize/files/kustomization-walk.ts'
import { namespaceSelectorOf, selects } from './selection.ts'
import {
  annotationOf,
  describe,
  groupOf,
  isNamespace,
  isOwnKind,
  NAMESPACE_SELECTOR,
  nameOf,
  namespaceOf,
  refused,
  type SourceObject,
  withMetadata,
} from './source-object.ts'

const NAMESPACES = 'namespaces'
const FOLDERS = ['system', 'cluster', 'clusterregistry', NAMESPACES]
const DEPTH = '.tree.hnc.x-k8s.io/depth'

export function isInHierarchy(path: string): boolean {
  return path.includes('/') && FOLDERS.includes(topOf(path))
}

/**
 * With namespace and labels from the folder.
 * @throws Failure BP1210
 */
export function placed(objects: readonly SourceObject[]): readonly SourceObject[] {
  const repos = objects.filter((each) => isOwnKind(each, 'Repo')).length
  if (repos !== 1)
    throw refused(
      repos === 0
        ? 'there is no Repo object in system/, and Config Sync then applies nothing (KNV1017)'
        : 'it has several Repo objects, and Config Sync then applies nothing (KNV2012)',
    )
  for (const each of objects) checkPlace(each)
  const namespaces = new Set(objects.filter(isNamespace).map(({ path }) => folderOf(path)))
  return objects.map((each) => {
    const folder = folderOf(each.path)
    if (isNamespace(each)) return withDepth(each, folder.split('/').slice(1))
    const isBare =
      topOf(each.path) === NAMESPACES &&
      namespaceOf(each) === '' &&
      !isOwnKind(each, 'NamespaceSelector')
    return isBare && namespaces.has(folder)
      ? withMetadata(each, { namespace: nameIn(folder) })
      : each
  })
}

/**
 * Copies each folder's objects into the namespaces below it.
 * @param objects those of `placed`, for the cluster
 * @throws Failure BP1210
 */
export function inherited(objects: readonly SourceObject[]): readonly SourceObject[] {
  const below = objects.filter(({ path }) => topOf(path) === NAMESPACES)
  const selectors = below.filter((each) => isOwnKind(each, 'NamespaceSelector'))
  const namespaces = below.filter(isNamespace)
  const others = below.filter((each) => !isNamespace(each) && !isOwnKind(each, 'NamespaceSelector'))
  const folders = new Set(namespaces.map(({ path }) => folderOf(path)))
  if (folders.size < namespaces.length)
    throw refused('a folder has two Namespaces, and Config Sync then applies nothing (KNV2012)')
  const kept = keptKinds(objects)
  for (const each of below) checkInherited(each, folders, kept)
  for (const each of others) checkSelector(each, selectors)
  const copies = namespaces.flatMap((namespace) => {
    const folder = folderOf(namespace.path)
    const labels = labelsOf(namespace.object)
    const mine = others.filter(({ path }) => isWithin(folder, folderOf(path)))
    const selected = mine.filter((each) => {
      const selector = namespaceSelectorOf(each, selectors)
      return selector === undefined || selects(selector, labels)
    })
    return [
      namespace,
      ...selected.map((each) => withMetadata(each, { namespace: nameOf(namespace) })),
    ]
  })
  return [...objects.filter(({ path }) => topOf(path) === 'cluster'), ...copies]
}

function checkPlace(each: SourceObject): void {
  const folder = folderOf(each.path)
  const name = nameIn(folder)
  const stops = 'and Config Sync then applies nothing'
  if (topOf(each.path) === 'cluster' && annotationOf(each, NAMESPACE_SELECTOR) !== undefined)
    throw refused(
      `${describe(each)} is of no namespace and has ${NAMESPACE_SELECTOR}, ${stops} (KNV1004)`,
    )
  if (!isNamespace(each)) {
    if (!['', name].includes(namespaceOf(each)))
      throw refused(`${describe(each)} is in the folder ${folder}, ${stops} (KNV1009)`)
  } else if (topOf(each.path) !== NAMESPACES)
    throw refused(`${describe(each)} is not below ${NAMESPACES}, ${stops} (KNV1039)`)
  else if (folder === NAMESPACES)
    throw refused(`${describe(each)} has no folder of its own, ${stops} (KNV1019)`)
  else if (nameOf(each) !== name)
    throw refused(`${describe(each)} is in the folder ${folder}, ${stops} (KNV1020)`)
}

function keptKinds(objects: readonly SourceObject[]): ReadonlySet<string> {
  const modes = new Map<string, string>()
  for (const { object } of objects.filter((each) => isOwnKind(each, 'HierarchyConfig')))
    for (const resource of objectsIn(partOf(object, 'spec', 'resources')))
      for (const kind of textsIn(partOf(resource, 'kinds')))
        modes.set(`${textOf(resource, 'group')}/${kind}`, textOf(resource, 'hierarchyMode'))
  return new Set([...modes].flatMap(([kind, mode]) => (mode === 'none' ? [kind] : [])))
}

function checkInherited(
  each: SourceObject,
  folders: ReadonlySet<string>,
  kept: ReadonlySet<string>,
): void {
  const folder = folderOf(each.path)
  const stops = 'and Config Sync then applies nothing'
  const above = [...folders].find(
    (namespace) => folder !== namespace && isWithin(folder, namespace),
  )
  if (above !== undefined)
    throw refused(
      `${folder} is below the folder of the namespace ${nameIn(above)}, ${stops} (KNV1003)`,
    )
  if (isOwnKind(each, 'NamespaceSelector')) {
    if (folders.has(folder))
      throw refused(`${describe(each)} is in the folder of a namespace, ${stops} (KNV1038)`)
  } else if (!folders.has(folder)) {
    if (kept.has(`${groupOf(each.object)}/${textOf(each.object, 'kind')}`))
      throw refused(
        `${describe(each)} is in ${folder}, and a HierarchyConfig lets no folder inherit its kind, ${stops} (KNV1007)`,
      )
    if (![...folders].some((namespace) => isWithin(namespace, folder)))
      throw refused(
        `${describe(each)} is in ${folder}, which has no namespace below it, ${stops} (KNV1044)`,
      )
  }
}

function checkSelector(each: SourceObject, selectors: readonly SourceObject[]): void {
  const selector = namespaceSelectorOf(each, selectors)
  if (selector !== undefined && !isWithin(folderOf(each.path), folderOf(selector.path)))
    throw refused(
      `${describe(each)} names ${describe(selector)}, which is not in a folder above it, and Config Sync then applies nothing (KNV1013)`,
    )
}

function withDepth(namespace: SourceObject, folders: readonly string[]): SourceObject {
  const depths = folders.map(
    (folder, index) => [`${folder}${DEPTH}`, String(folders.length - index - 1)] as const,
  )
  return withMetadata(namespace, {
    labels: { ...Object.fromEntries(labelsOf(namespace.object)), ...Object.fromEntries(depths) },
  })
}

function topOf(path: string): string {
  return path.slice(0, path.indexOf('/'))
}

function nameIn(folder: string): string {
  return folder.slice(folder.lastIndexOf('/') + 1)
}

function isWithin(folder: string, other: string): boolean {
  return `${folder}/`.startsWith(`${other}/`)
}

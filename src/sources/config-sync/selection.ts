/**
 * Selects objects by cluster and namespace, as kpt-config-sync v1.22.1
 * `pkg/validate/{raw,scoped}/hydrate`.
 */
import {
  filterObjects,
  filterTexts,
  getPartAt,
  getTextAt,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import { getAnnotations, getLabels } from '@backporch/kyaml/resource'
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

const CLUSTER_NAMES = 'configsync.gke.io/cluster-name-selector'
const CLUSTER_SELECTOR = 'configmanagement.gke.io/cluster-selector'

/**
 * Omits objects that describe clusters, and those of a namespace that is not for the cluster.
 * @param name undefined if unknown
 * @throws Failure BP1210
 */
export function selectForCluster(
  objects: readonly SourceObject[],
  name: string | undefined,
): readonly SourceObject[] {
  const isCluster = ({ object }: SourceObject): boolean =>
    readGroup(object) === 'clusterregistry.k8s.io' && getTextAt(object, 'kind') === 'Cluster'
  const selectors = objects.filter((each) => isOwnKind(each, 'ClusterSelector'))
  const labels = getLabels(
    objects.find((each) => isCluster(each) && getName(each) === name)?.object ?? {},
  )
  const isActive = (each: SourceObject): boolean => {
    const [names, selectorName] = [
      findObjectAnnotation(each, CLUSTER_NAMES),
      findObjectAnnotation(each, CLUSTER_SELECTOR),
    ]
    if (names === undefined && selectorName === undefined) return true
    if (names !== undefined && selectorName !== undefined)
      throw createRefusedFolderFailure(
        `${describe(each)} has ${CLUSTER_NAMES} and ${CLUSTER_SELECTOR}, and Config Sync then applies nothing (KNV1066)`,
      )
    if (name === undefined)
      throw createRefusedFolderFailure(
        `${describe(each)} has ${names === undefined ? CLUSTER_SELECTOR : CLUSTER_NAMES}, and the name of the cluster in Config Sync is not known`,
      )
    if (names !== undefined)
      return names.split(',').some((one) => one.trim().toLowerCase() === name.toLowerCase())
    const selector = selectors.find((one) => getName(one) === selectorName)
    if (selector === undefined) throw createUnknownSelectorFailure(each, selectorName ?? '')
    return selects(selector, labels)
  }
  const rest = objects.filter((each) => !isCluster(each) && !isOwnKind(each, 'ClusterSelector'))
  const states = new Map<string, boolean>()
  for (const each of rest)
    if (isNamespace(each))
      states.set(getName(each), isActive(each) || states.get(getName(each)) === true)
  return rest.filter(
    (each) =>
      (isNamespace(each) || states.get(getObjectNamespace(each)) !== false) && isActive(each),
  )
}

/**
 * With a copy for every namespace that a NamespaceSelector selects.
 * @throws Failure BP1210
 */
export function selectInNamespaces(objects: readonly SourceObject[]): readonly SourceObject[] {
  const selectors = objects.filter((each) => isOwnKind(each, 'NamespaceSelector'))
  const namespaces = objects.filter(isNamespace)
  return objects.flatMap((each) => {
    if (isOwnKind(each, 'NamespaceSelector')) return []
    const selector = findNamespaceSelector(each, selectors)
    if (selector === undefined) return [each]
    return namespaces
      .filter((namespace) => selects(selector, getLabels(namespace.object)))
      .map((namespace) => setMetadata(each, { namespace: getName(namespace) }))
  })
}

/**
 * Undefined without one.
 * @throws Failure BP1210
 */
export function findNamespaceSelector(
  each: SourceObject,
  selectors: readonly SourceObject[],
): SourceObject | undefined {
  const name = getAnnotations(each.object).get(NAMESPACE_SELECTOR)
  if (name === undefined) return undefined
  const selector = selectors.find((one) => getName(one) === name)
  if (selector === undefined) throw createUnknownSelectorFailure(each, name)
  if (getObjectNamespace(each) !== '')
    throw createRefusedFolderFailure(
      `${describe(each)} has a namespace and ${NAMESPACE_SELECTOR}, and Config Sync then applies nothing (KNV1053)`,
    )
  if (getTextAt(selector.object, 'spec', 'mode') === 'dynamic')
    throw createRefusedFolderFailure(
      `${describe(selector)} selects namespaces that are in the cluster alone (spec.mode: dynamic), which are not read here`,
    )
  return selector
}

function createUnknownSelectorFailure(each: SourceObject, name: string) {
  return createRefusedFolderFailure(
    `${describe(each)} names the selector ${name}, which the source does not have (KNV1013)`,
  )
}

/**
 * By the LabelSelector in `spec.selector`.
 * @throws Failure BP1210 if it is empty or has an unknown operator
 */
export function selects(selector: SourceObject, labels: ReadonlyMap<string, string>): boolean {
  const spec = getPartAt(selector.object, 'spec', 'selector')
  const exact = getPartAt(spec, 'matchLabels')
  const pairs = isJsonObject(exact) ? Object.entries(exact) : []
  const expressions = filterObjects(getPartAt(spec, 'matchExpressions'))
  if (pairs.length === 0 && expressions.length === 0)
    throw createRefusedFolderFailure(
      `${describe(selector)} has an empty selector, and Config Sync then applies nothing (KNV1014)`,
    )
  return (
    pairs.every(([key, value]) => labels.get(key) === value) &&
    expressions.every((each) => holds(each, selector, labels))
  )
}

function holds(
  expression: JsonObject,
  selector: SourceObject,
  labels: ReadonlyMap<string, string>,
): boolean {
  const found = labels.get(getTextAt(expression, 'key'))
  const isListed =
    found !== undefined && filterTexts(getPartAt(expression, 'values')).includes(found)
  const operator = getTextAt(expression, 'operator')
  if (operator === 'In') return isListed
  // As in Kubernetes, an object without the label is selected.
  if (operator === 'NotIn') return !isListed
  if (operator === 'Exists') return found !== undefined
  if (operator === 'DoesNotExist') return found === undefined
  throw createRefusedFolderFailure(
    `${describe(selector)} has the operator ${JSON.stringify(operator)}, and Config Sync then applies nothing (KNV1014)`,
  )
}

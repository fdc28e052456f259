/** As kpt-config-sync v1.22.1 `pkg/validate/{raw,scoped}/hydrate`. */
import {
  isJsonObject,
  type JsonObject,
  objectsIn,
  partOf,
  textOf,
  textsIn,
} from '@backporch/kyaml/json'
import { annotationsOf, labelsOf } from '@backporch/kyaml/resource'
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

const CLUSTER_NAMES = 'configsync.gke.io/cluster-name-selector'
const CLUSTER_SELECTOR = 'configmanagement.gke.io/cluster-selector'

/**
 * Omits objects that describe clusters, and those of a namespace that is not for the cluster.
 * @param name undefined if unknown
 * @throws Failure BP1210
 */
export function forCluster(
  objects: readonly SourceObject[],
  name: string | undefined,
): readonly SourceObject[] {
  const isCluster = ({ object }: SourceObject): boolean =>
    groupOf(object) === 'clusterregistry.k8s.io' && textOf(object, 'kind') === 'Cluster'
  const selectors = objects.filter((each) => isOwnKind(each, 'ClusterSelector'))
  const labels = labelsOf(
    objects.find((each) => isCluster(each) && nameOf(each) === name)?.object ?? {},
  )
  const isActive = (each: SourceObject): boolean => {
    const [names, selectorName] = [
      annotationOf(each, CLUSTER_NAMES),
      annotationOf(each, CLUSTER_SELECTOR),
    ]
    if (names === undefined && selectorName === undefined) return true
    if (names !== undefined && selectorName !== undefined)
      throw refused(
        `${describe(each)} has ${CLUSTER_NAMES} and ${CLUSTER_SELECTOR}, and Config Sync then applies nothing (KNV1066)`,
      )
    if (name === undefined)
      throw refused(
        `${describe(each)} has ${names === undefined ? CLUSTER_SELECTOR : CLUSTER_NAMES}, and the name of the cluster in Config Sync is not known`,
      )
    if (names !== undefined)
      return names.split(',').some((one) => one.trim().toLowerCase() === name.toLowerCase())
    const selector = selectors.find((one) => nameOf(one) === selectorName)
    if (selector === undefined) throw unknownSelector(each, selectorName ?? '')
    return selects(selector, labels)
  }
  const rest = objects.filter((each) => !isCluster(each) && !isOwnKind(each, 'ClusterSelector'))
  const states = new Map<string, boolean>()
  for (const each of rest)
    if (isNamespace(each))
      states.set(nameOf(each), isActive(each) || states.get(nameOf(each)) === true)
  return rest.filter(
    (each) => (isNamespace(each) || states.get(namespaceOf(each)) !== false) && isActive(each),
  )
}

/**
 * With a copy for every namespace that a NamespaceSelector selects.
 * @throws Failure BP1210
 */
export function inSelectedNamespaces(objects: readonly SourceObject[]): readonly SourceObject[] {
  const selectors = objects.filter((each) => isOwnKind(each, 'NamespaceSelector'))
  const namespaces = objects.filter(isNamespace)
  return objects.flatMap((each) => {
    if (isOwnKind(each, 'NamespaceSelector')) return []
    const selector = namespaceSelectorOf(each, selectors)
    if (selector === undefined) return [each]
    return namespaces
      .filter((namespace) => selects(selector, labelsOf(namespace.object)))
      .map((namespace) => withMetadata(each, { namespace: nameOf(namespace) }))
  })
}

/**
 * Undefined without one.
 * @throws Failure BP1210
 */
export function namespaceSelectorOf(
  each: SourceObject,
  selectors: readonly SourceObject[],
): SourceObject | undefined {
  const name = annotationsOf(each.object).get(NAMESPACE_SELECTOR)
  if (name === undefined) return undefined
  const selector = selectors.find((one) => nameOf(one) === name)
  if (selector === undefined) throw unknownSelector(each, name)
  if (namespaceOf(each) !== '')
    throw refused(
      `${describe(each)} has a namespace and ${NAMESPACE_SELECTOR}, and Config Sync then applies nothing (KNV1053)`,
    )
  if (textOf(selector.object, 'spec', 'mode') === 'dynamic')
    throw refused(
      `${describe(selector)} selects namespaces that are in the cluster alone (spec.mode: dynamic), which are not read here`,
    )
  return selector
}

function unknownSelector(each: SourceObject, name: string) {
  return refused(
    `${describe(each)} names the selector ${name}, which the source does not have (KNV1013)`,
  )
}

/**
 * By the LabelSelector in `spec.selector`.
 * @throws Failure BP1210 if it is empty or has an unknown operator
 */
export function selects(selector: SourceObject, labels: ReadonlyMap<string, string>): boolean {
  const spec = partOf(selector.object, 'spec', 'selector')
  const exact = partOf(spec, 'matchLabels')
  const pairs = isJsonObject(exact) ? Object.entries(exact) : []
  const expressions = objectsIn(partOf(spec, 'matchExpressions'))
  if (pairs.length === 0 && expressions.length === 0)
    throw refused(
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
  const found = labels.get(textOf(expression, 'key'))
  const isListed = found !== undefined && textsIn(partOf(expression, 'values')).includes(found)
  const operator = textOf(expression, 'operator')
  if (operator === 'In') return isListed
  // As in Kubernetes, an object without the label is selected.
  if (operator === 'NotIn') return !isListed
  if (operator === 'Exists') return found !== undefined
  if (operator === 'DoesNotExist') return found === undefined
  throw refused(
    `${describe(selector)} has the operator ${JSON.stringify(operator)}, and Config Sync then applies nothing (KNV1014)`,
  )
}

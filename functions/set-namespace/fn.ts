/**
 * kptdev/krm-functions-catalog `functions/go/set-namespace/transformer/namespace.go`, per release
 */
import { getTextOrEmpty, isLocalToSdk, sortInSdkOrder } from '@backporch/kpt/field'
import {
  createFailedOutput,
  createSuccess,
  type FunctionOutput,
  type FunctionResult,
  type KrmFunction,
} from '@backporch/kpt/function'
import { goQuote } from '@backporch/kyaml/text'
import type { YamlMap } from '@backporch/kyaml/yaml'
import {
  type Scoped,
  updateDependencies,
  type VisitedNamespace,
  visitNamespaces,
  visitProblem,
} from './every-namespace.ts'
import { matchProblem, NamespaceChanger } from './matching-namespaces.ts'
import { type NamespaceConfig, readNamespaceConfig, readOldConfig } from './namespace-config.ts'
import { hasNamespace, isNamespaced } from './namespace-location.ts'
import { findOldNamespace } from './old-namespace.ts'
import { findAlias } from './sdk-problems.ts'

/** v0.4.6. */
export const setNamespace: KrmFunction = ({ items, config }) => {
  const read = readNamespaceConfig(config)
  if ('problem' in read) return { items, results: [read.problem], exitCode: 1, stderr: '' }
  const objects = items.filter((item) => !isLocalToSdk(item))
  const problem = findAlias(items) ?? findFirstProblem(objects, matchProblem)
  if (problem !== undefined) return createFailedOutput(items, problem)
  return createSortedOutput(items, new NamespaceChanger(read).change(objects))
}

/** v0.4.1. */
export const setEveryNamespace: KrmFunction = createEveryNamespaceSetter({
  isScoped: isNamespaced,
  badConfigExit: 1,
  replace: replaceAll,
})
/** v0.4.0. */
export const setEveryNamespaceIfConfigured: KrmFunction = createEveryNamespaceSetter({
  isScoped: isNamespaced,
  badConfigExit: 0,
  replace: replaceAll,
})
/** v0.3.3 and v0.3.4. */
export const setOldNamespace: KrmFunction = createEveryNamespaceSetter({
  isScoped: hasNamespace,
  badConfigExit: 0,
  replace: replaceOld,
})
/** v0.3.2. */
export const setOldNamespaceOrFail: KrmFunction = createEveryNamespaceSetter({
  isScoped: hasNamespace,
  badConfigExit: 0,
  replace: (items, objects, read) => replaceOld(items, objects, read, true),
})

type Replace = (
  items: readonly YamlMap[],
  objects: readonly YamlMap[],
  read: NamespaceConfig,
) => readonly FunctionResult[] | string

interface EveryNamespaceRules {
  readonly isScoped: Scoped
  /**
   * For a config without a namespace. With 0, kpt reports the error and continues with unchanged
   * objects.
   */
  readonly badConfigExit: 0 | 1
  readonly replace: Replace
}

function createEveryNamespaceSetter({
  isScoped,
  badConfigExit,
  replace,
}: EveryNamespaceRules): KrmFunction {
  return ({ items, config }) => {
    const read = readOldConfig(config)
    if ('problem' in read) {
      const exitCode = read.isFatal ? 1 : badConfigExit
      return { items: sortInSdkOrder(items), results: [read.problem], exitCode, stderr: '' }
    }
    const objects = items.filter((item) => !isLocalToSdk(item))
    const problem =
      findAlias(items) ?? findFirstProblem(objects, (item) => visitProblem(item, isScoped))
    if (problem !== undefined) return createFailedOutput(items, problem)
    const results = replace(items, objects, read)
    return typeof results === 'string'
      ? createFailedOutput(items, results)
      : createSortedOutput(items, results)
  }
}

function findFirstProblem(
  objects: readonly YamlMap[],
  problemOf: (item: YamlMap) => string | undefined,
): string | undefined {
  for (const item of objects) {
    const problem = problemOf(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

function createSortedOutput(
  items: readonly YamlMap[],
  results: readonly FunctionResult[],
): FunctionOutput {
  return createSuccess(sortInSdkOrder(items), results)
}

function replaceAll(
  items: readonly YamlMap[],
  objects: readonly YamlMap[],
  { namespace }: NamespaceConfig,
): readonly FunctionResult[] {
  const earlier = new Set<string>()
  let count = 0
  visitNamespaces(objects, isNamespaced, (visited) => {
    if (visited.namespace !== namespace) {
      earlier.add(visited.namespace)
      count += 1
    }
    return namespace
  })
  updateDependencies(objects, { namespace, earlier, isScoped: isNamespaced })
  const duplicate = findDuplicate(items)
  if (duplicate !== undefined) return [{ message: duplicate, severity: 'error' }]
  const to = goQuote(namespace)
  const from = [...earlier].sort().map((each) => `"${each}"`)
  const message =
    count === 0
      ? `all namespaces are already ${to}. no value changed`
      : `namespace ${from.join(',')} updated to ${to}, ${count} value(s) changed`
  return [{ message, severity: 'info' }]
}

/** Two objects with one identity after the change. kpt reports this and continues. */
function findDuplicate(items: readonly YamlMap[]): string | undefined {
  const known = new Set<string>()
  for (const item of items) {
    const [apiVersion, kind] = [getTextOrEmpty(item, 'apiVersion'), getTextOrEmpty(item, 'kind')]
    const [namespace, name] = [
      getTextOrEmpty(item, 'metadata', 'namespace'),
      getTextOrEmpty(item, 'metadata', 'name'),
    ]
    const key = JSON.stringify([apiVersion, kind, namespace, name])
    if (known.has(key))
      return `duplicate Resource(apiVersion=${apiVersion}, kind=${kind}, Namespace=${namespace}, Name=${name})`
    known.add(key)
  }
  return undefined
}

function replaceOld(
  _items: readonly YamlMap[],
  objects: readonly YamlMap[],
  { namespace, matcher }: NamespaceConfig,
  failsWithoutNamespaces = false,
): readonly FunctionResult[] | string {
  const found: VisitedNamespace[] = []
  visitNamespaces(objects, hasNamespace, (visited) => {
    found.push(visited)
    return visited.namespace
  })
  const old = findOldNamespace(found, matcher)
  if (old.is === 'none' && failsWithoutNamespaces) return 'index out of range [0] with length 0'
  if (old.is !== 'found') return [{ message: old.why, severity: 'error' }]
  let count = 0
  if (old.namespace !== namespace)
    visitNamespaces(objects, hasNamespace, (visited) => {
      if (visited.namespace !== old.namespace) return visited.namespace
      count += 1
      return namespace
    })
  updateDependencies(objects, {
    namespace,
    earlier: new Set([old.namespace]),
    isScoped: hasNamespace,
  })
  const message = `namespace ${goQuote(old.namespace)} updated to ${goQuote(namespace)}, ${count} values changed`
  return [{ message, severity: 'info' }]
}

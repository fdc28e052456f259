/**
 * Runs functions of the npm package `kpt-functions` without its reader and writer, which lose
 * objects and rewrite values (docs/facts/kpt-functions-npm.md).
 */
import hostConsole from 'node:console'
import {
  type FunctionInput,
  type FunctionOutput,
  type FunctionResult,
  findAnnotation,
  getItemFile,
  type KrmFunction,
  PACKAGE_PATH,
} from '@backporch/kpt/function'
import { patchYamlNode } from '@backporch/kyaml/edit-yaml'
import {
  emptyObject,
  formatCanonicalJson,
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  setKey,
} from '@backporch/kyaml/json'
import { convertYamlToJson, createYamlMap, findTextAt, type YamlMap } from '@backporch/kyaml/yaml'
import type { KptFunc, KubernetesObject, Result } from 'kpt-functions'
import { Configs } from 'kpt-functions/dist/src/types.js'
import { Printed } from './printed.ts'

// A function that loads the whole package has replaced the global console. Its entries, which are loaded here, do not.
globalThis.console = hostConsole

const RESULT_ERROR = 1
const EXCEPTION = 2
const FUNCTION_CONFIG_ERROR = 3
const DEEPEST = 200

/**
 * Calls run sequentially, because text printed through `console` becomes the standard error of the
 * call.
 *
 * `Configs` keeps only the last of several objects with equal apiVersion, kind, namespace and name.
 * Such objects are passed in several calls: one per package, and more while equal objects remain.
 * Equal inserted objects and results of these calls count once.
 *
 * Never rejects: an exception of the function becomes a failed output.
 */
export function fromKptFunc(fn: KptFunc): (input: FunctionInput) => Promise<FunctionOutput> {
  return (input) => runInTurn(() => callFunction(fn, input))
}

/** The same of a function that waits for nothing and prints nothing, as functions that are built in are. Never throws. */
export function convertPlainFunc(fn: (configs: Configs) => void): KrmFunction {
  return (input) => {
    const calls = iterateCalls(input, () => '')
    let call = calls.next()
    while (call.done !== true) call = attempt(calls, () => fn(call.value as Configs))
    return call.value
  }
}

let lastTurn: Promise<unknown> = Promise.resolve()

function runInTurn<T>(run: () => Promise<T>): Promise<T> {
  const turn = lastTurn.then(run)
  lastTurn = turn.catch(() => undefined)
  return turn
}

async function callFunction(fn: KptFunc, input: FunctionInput): Promise<FunctionOutput> {
  const printed = new Printed()
  const calls = iterateCalls(input, () => printed.getText())
  let call = calls.next()
  try {
    globalThis.console = printed.console
    while (call.done !== true) {
      const thrown = await fn(call.value).then(
        () => undefined,
        (reason: unknown) => ({ reason }),
      )
      call = thrown === undefined ? calls.next() : calls.throw(thrown.reason)
    }
    return call.value
  } finally {
    globalThis.console = hostConsole
  }
}

type Calls = Generator<Configs, FunctionOutput, void>

function attempt(calls: Calls, run: () => void): IteratorResult<Configs, FunctionOutput> {
  try {
    run()
  } catch (thrown) {
    return calls.throw(thrown)
  }
  return calls.next()
}

/** Yields what the function is called with, one call after the other. @param printed what the function has printed so far */
function* iterateCalls({ items, config }: FunctionInput, printed: () => string): Calls {
  const results: FunctionResult[] = []
  const stop = (exitCode: number, message: string): FunctionOutput => {
    const all = [...results, { message, severity: 'error' } as const]
    return { items, results: all, exitCode, stderr: printed() }
  }
  try {
    const given = items.map(readObject)
    const parameter =
      config === undefined
        ? undefined
        : checkObject(convertForFunction(convertYamlToJson(config)), 'functionConfig')
    const after: ObjectAfter[] = []
    for (const call of splitIntoCalls(given)) {
      const configs = new Configs(
        call.map(({ object }) => object),
        structuredClone(parameter),
      )
      yield configs
      results.push(...configs.getResults().map(convertToResult))
      after.push(...matchObjectsAfter(call, configs.getAll()))
    }
    const patches = createPatches(given, after)
    const distinct = [
      ...new Map(results.map((result) => [JSON.stringify(result), result])).values(),
    ]
    const failed = distinct.some(({ severity }) => severity === 'error')
    return {
      items: failed ? items : patches.map((patch) => patch()),
      results: distinct,
      exitCode: failed ? RESULT_ERROR : 0,
      stderr: printed(),
    }
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    const isConfigError =
      thrown instanceof Error && thrown.constructor.name === 'FunctionConfigError'
    return stop(isConfigError ? FUNCTION_CONFIG_ERROR : EXCEPTION, message)
  }
}

interface GivenObject {
  readonly item: YamlMap
  readonly before: Json
  readonly object: KubernetesObject
  readonly key: string
}

interface ObjectAfter {
  /** Undefined for an object that the function inserted. */
  readonly given: GivenObject | undefined
  readonly value: JsonObject
}

function readObject(item: YamlMap): GivenObject {
  const before = getItemValue(item)
  const object = checkObject(convertForFunction(before), getItemFile(item).path)
  return { item, before, object, key: getObjectKey(before) }
}

function getItemValue(item: YamlMap): Json {
  try {
    return convertYamlToJson(item)
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown
    throw new TypeError(`${getItemFile(item).path}: ${thrown.message}`)
  }
}

/** The package requires only `metadata`. */
function checkObject(value: unknown, where: string): KubernetesObject {
  const object = value as KubernetesObject
  if (typeof object?.metadata !== 'object' || object.metadata === null)
    throw new TypeError(`${where}: an object has no metadata`)
  return object
}

/** Same as `kubernetesKey` of the package. */
function getObjectKey(value: Json): string {
  const metadata = isJsonObject(value) ? getKey(value, 'metadata') : undefined
  const part = (from: Json | undefined, name: string): string =>
    String((isJsonObject(from) ? getKey(from, name) : '') || '')
  return `${part(value, 'apiVersion')}/${part(value, 'kind')}/${part(metadata, 'namespace')}/${part(metadata, 'name')}`
}

/** Bigints break functions that use JSON themselves. */
function convertForFunction(value: Json): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (isJsonArray(value)) return value.map(convertForFunction)
  if (!isJsonObject(value)) return value
  const copy = emptyObject()
  for (const [key, below] of Object.entries(value))
    setKey(copy, key, convertForFunction(below) as Json)
  return copy
}

function splitIntoCalls(given: readonly GivenObject[]): readonly (readonly GivenObject[])[] {
  if (new Set(given.map(({ key }) => key)).size === given.length) return [given]
  const packages = Map.groupBy(given, createPackageLookup(given))
  return [...packages.values()].flatMap((group) => {
    const calls: GivenObject[][] = []
    const observed = new Map<string, number>()
    for (const each of group) {
      const index = observed.get(each.key) ?? 0
      observed.set(each.key, index + 1)
      calls[index] = [...(calls[index] ?? []), each]
    }
    return calls
  })
}

/** During a render by kpt's annotations, otherwise by the nearest Kptfile. */
function createPackageLookup(given: readonly GivenObject[]): (each: GivenObject) => string {
  const folderOf = ({ item }: GivenObject): string => getItemFile(item).path.replace(/[^/]*$/, '')
  const folders = new Set(
    given.filter(({ item }) => findTextAt(item, 'kind') === 'Kptfile').map(folderOf),
  )
  return (each) => {
    const message = findAnnotation(each.item, PACKAGE_PATH)
    if (message !== undefined) return message
    let folder = folderOf(each)
    while (folder !== '' && !folders.has(folder)) folder = folder.replace(/[^/]*\/$/, '')
    return folder
  }
}

function matchObjectsAfter(
  call: readonly GivenObject[],
  objects: readonly KubernetesObject[],
): readonly ObjectAfter[] {
  const same = new Map(call.map((given) => [given.object, given]))
  const left = new Map(
    call.filter(({ object }) => !objects.includes(object)).map((given) => [given.key, given]),
  )
  return objects.map((object) => {
    const value = convertToJson(object, 0)
    if (!isJsonObject(value))
      throw new TypeError('the function inserted something that is not an object')
    const key = getObjectKey(value)
    const given = same.get(object) ?? left.get(key)
    if (!same.has(object)) left.delete(key)
    return { given, value }
  })
}

/** In input order, new objects last. Nothing changes before the plan is complete. */
function createPatches(
  given: readonly GivenObject[],
  after: readonly ObjectAfter[],
): readonly (() => YamlMap)[] {
  const values = new Map(after.map((each) => [each.given, each.value]))
  const retained = given.flatMap((each) => {
    const value = values.get(each)
    return value === undefined ? [] : [() => patchItem(each, value)]
  })
  const inserted = new Map(
    after
      .filter((each) => each.given === undefined)
      .map(({ value }) => [formatCanonicalJson(value), value]),
  )
  return [
    ...retained,
    ...[...inserted.values()].map((value) => () => patchMap(createYamlMap(), value)),
  ]
}

function patchItem({ item, before }: GivenObject, value: JsonObject): YamlMap {
  const exact = restoreBigInts(value, collectBigInts(before, new Map()))
  return isJsonEqual(before, exact) ? item : patchMap(item, exact)
}

function patchMap(map: YamlMap, value: Json): YamlMap {
  const patched = patchYamlNode(map, value)
  if (patched.kind !== 'map')
    throw new TypeError('the function replaced an object with something that is not an object')
  return patched
}

/** Integers that a double cannot represent, keyed by the double that the function received. */
function collectBigInts(value: Json, found: Map<number, bigint>): ReadonlyMap<number, bigint> {
  if (typeof value === 'bigint') found.set(Number(value), value)
  else if (isJsonArray(value)) for (const each of value) collectBigInts(each, found)
  else if (isJsonObject(value)) for (const each of Object.values(value)) collectBigInts(each, found)
  return found
}

function restoreBigInts(value: Json, exact: ReadonlyMap<number, bigint>): Json {
  if (exact.size === 0) return value
  if (typeof value === 'bigint') return exact.get(Number(value)) ?? value
  if (isJsonArray(value)) return value.map((each) => restoreBigInts(each, exact))
  if (!isJsonObject(value)) return value
  const copy = emptyObject()
  for (const [key, below] of Object.entries(value)) setKey(copy, key, restoreBigInts(below, exact))
  return copy
}

/**
 * Undefined fields are omitted, a Date becomes text, large integers become bigints.
 * @throws TypeError for a value without a JSON form, or a depth over 200
 */
function convertToJson(value: unknown, depth: number): Json {
  if (depth > DEEPEST)
    throw new TypeError(
      `the function made an object that is deeper than ${DEEPEST}, or contains itself`,
    )
  if (
    value === null ||
    value === undefined ||
    typeof value === 'boolean' ||
    typeof value === 'string'
  )
    return value ?? null
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      throw new TypeError(`the function made an object with the number ${value}`)
    return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21
      ? BigInt(String(value))
      : value
  }
  if (typeof value !== 'object')
    throw new TypeError(`the function made an object with a ${typeof value} in it`)
  if (Array.isArray(value)) return value.map((each) => convertToJson(each, depth + 1))
  if (value instanceof Date) return value.toISOString()
  const object = emptyObject()
  for (const [key, below] of Object.entries(value))
    if (below !== undefined) setKey(object, key, convertToJson(below, depth + 1))
  return object
}

function convertToResult(result: Result): FunctionResult {
  const given = convertToJson(result, 0)
  const json: JsonObject = isJsonObject(given) ? given : {}
  const [reference, field, file] = ['resourceRef', 'field', 'file'].map((name) =>
    findObject(json, name),
  )
  const severity = getKey(json, 'severity')
  const path = findText(file, 'path')
  const index = getKey(file ?? {}, 'index')
  const refers = omitUndefined({
    apiVersion: findText(reference, 'apiVersion'),
    kind: findText(reference, 'kind'),
    name: findText(reference, 'name'),
    namespace: findText(reference, 'namespace'),
  })
  const tags = Object.entries(findObject(json, 'tags') ?? {}).filter(
    ([, tag]) => typeof tag === 'string',
  ) as [string, string][]
  return {
    message: String(getKey(json, 'message') ?? ''),
    severity:
      severity === 'warn' || severity === 'warning'
        ? 'warning'
        : severity === 'info'
          ? 'info'
          : 'error',
    ...(Object.keys(refers).length === 0 ? {} : { resourceRef: refers }),
    ...(field === undefined ? {} : { field: convertToField(field) }),
    ...(path === undefined
      ? {}
      : { file: { path, ...(typeof index === 'number' ? { index } : {}) } }),
    ...(tags.length === 0 ? {} : { tags: Object.fromEntries(tags) }),
  }
}

function convertToField(field: JsonObject): NonNullable<FunctionResult['field']> {
  const [currentValue, proposedValue] = [
    getKey(field, 'currentValue'),
    getKey(field, 'proposedValue') ?? getKey(field, 'suggestedValue'),
  ]
  return { path: findText(field, 'path') ?? '', ...omitUndefined({ currentValue, proposedValue }) }
}

function findObject(json: JsonObject, name: string): JsonObject | undefined {
  const value = getKey(json, name)
  return isJsonObject(value) ? value : undefined
}

function findText(json: JsonObject | undefined, name: string): string | undefined {
  const value = json === undefined ? undefined : getKey(json, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function omitUndefined<T extends object>(
  value: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, below]) => below !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>
  }
}

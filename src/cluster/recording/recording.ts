/**
 * Live objects from `kubectl get -o yaml --show-managed-fields`, plus what Backporch's recorder
 * adds:
 *   recording.yaml      what was recorded, when, and which objects were looked for and absent
 *   objects/…           live objects; in a manual recording, any files at any place
 *   predictions/…       `RecordedPrediction`, one for each dry run
 *   schemas/…           OpenAPI v3 documents, trimmed
 * Files are read by the kinds in them, whatever their names, except in `schemas/`.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import {
  filterObjects,
  formatCanonicalJson,
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { decodeYaml, listDocumentObjects, parseGoYaml } from '@backporch/kyaml/read-yaml'
import {
  getResourceKey,
  parseApiVersion,
  type Resource,
  type ResourceId,
  readResource,
} from '@backporch/kyaml/resource'
import { buildAppliedObject } from '../apply/applied-object.ts'

export const RECORDING = {
  apiVersion: 'backporch.dev/v1alpha1',
  kind: 'Recording',
  prediction: 'RecordedPrediction',
} as const

/** Undefined: all namespaces. */
interface RecordedScope {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string | undefined
}

interface RecordedKind {
  readonly apiVersion: string
  readonly kind: string
  readonly namespaced: boolean
}

export interface Recording {
  readonly cluster: string
  readonly serverVersion: string
  readonly uid: string | undefined
  /** RFC 3339 UTC; empty if not recorded. */
  readonly observedAt: string
  readonly namespace: string
  readonly complete: readonly RecordedScope[]
  readonly absent: ReadonlySet<string>
  readonly kinds: readonly RecordedKind[]
  readonly objects: ReadonlyMap<string, Resource>
  readonly predictions: ReadonlyMap<string, JsonObject>
  readonly schemas: readonly Json[]
}

const EXTENSIONS = new Set(['.yaml', '.yml', '.json'])
const MOST_FILES = 100_000

interface Found {
  readonly resource: Resource
  readonly where: string
}

/**
 * @throws Failure BP1010 (nothing there, unreadable, two versions of one object), BP1110–BP1112 for
 * an invalid file
 */
export function readRecording(path: string): Recording {
  const files = listRecordedFiles(path)
  const objects = new Map<string, Found>()
  const predictions = new Map<string, JsonObject>()
  const schemas: Json[] = []
  let header: JsonObject = {}
  for (const { file, isSchema } of files) {
    if (isSchema) {
      schemas.push(readJson(file))
      continue
    }
    for (const { object, where } of readObjects(file)) {
      const kind =
        getTextAt(object, 'apiVersion') === RECORDING.apiVersion ? getTextAt(object, 'kind') : ''
      const spec = getPartAt(object, 'spec')
      if (kind === RECORDING.kind) header = isJsonObject(spec) ? spec : {}
      else if (kind === RECORDING.prediction)
        predictions.set(getTextAt(spec, 'key'), isJsonObject(spec) ? spec : {})
      else addObject(objects, object, where)
    }
  }
  return {
    cluster: getTextAt(header, 'cluster'),
    serverVersion: getTextAt(header, 'serverVersion'),
    uid: getTextAt(header, 'uid') || undefined,
    observedAt: getTextAt(header, 'observedAt'),
    namespace: getTextAt(header, 'namespace') || 'default',
    complete: filterObjects(getKey(header, 'complete')).map(readScope),
    absent: new Set(
      filterObjects(getKey(header, 'absent')).map((entry) => getResourceKey(readId(entry))),
    ),
    kinds: filterObjects(getKey(header, 'kinds')).map((entry) => ({
      ...readScope(entry),
      namespaced: getKey(entry, 'namespaced') === true,
    })),
    objects: new Map([...objects].map(([key, { resource }]) => [key, resource])),
    predictions,
    schemas,
  }
}

/** Equal in any recording for the same desired object and field manager. */
export function computePredictionKey(resource: Resource, fieldManager: string): string {
  const hash = createHash('sha256')
    .update(`${resource.apiVersion}\0${fieldManager}\0`)
    .update(formatCanonicalJson(buildAppliedObject(resource.object)))
  return `${getResourceKey(resource.id)}#${hash.digest('hex').slice(0, 32)}`
}

function listRecordedFiles(
  path: string,
): readonly { readonly file: string; readonly isSchema: boolean }[] {
  try {
    if (!statSync(path).isDirectory()) return [{ file: path, isSchema: false }]
    const files = readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && EXTENSIONS.has(extname(entry.name)))
      .map((entry) => ({
        file: join(entry.parentPath, entry.name),
        isSchema: basename(entry.parentPath) === 'schemas',
      }))
      .sort((left, right) => (left.file < right.file ? -1 : 1))
    if (files.length > 0 && files.length <= MOST_FILES) return files
    const why =
      files.length === 0
        ? 'it holds no .yaml, .yml or .json file'
        : `it holds more than ${MOST_FILES} files`
    throw createUnreadableFailure(
      path,
      why,
      'name the folder or file that the live objects were saved to',
    )
  } catch (thrown) {
    throw translate(thrown, path)
  }
}

function readObjects(file: string): readonly { readonly object: Json; readonly where: string }[] {
  if (extname(file) === '.json') {
    const value = readJson(file)
    const items = getTextAt(value, 'kind').endsWith('List') ? getPartAt(value, 'items') : undefined
    return (isJsonArray(items) ? items : [value]).map((object) => ({ object, where: file }))
  }
  const source = decodeYaml(readBytes(file), file)
  return parseGoYaml(source, file).documents.flatMap((document) =>
    listDocumentObjects(document, source, file).map(({ object, line }) => ({
      object,
      where: `${file}:${line}`,
    })),
  )
}

function addObject(objects: Map<string, Found>, object: Json, where: string): void {
  const resource = readResource(object)
  if ('problem' in resource) {
    throw new Failure({
      code: 'BP1112',
      what: 'a recorded document is not a Kubernetes object',
      where,
      why: resource.problem,
      remedy: 'record it again with kubectl get -o yaml --show-managed-fields',
    })
  }
  const key = getResourceKey(resource.id)
  const before = objects.get(key)
  if (before !== undefined && !isJsonEqual(before.resource.object, resource.object)) {
    throw createUnreadableFailure(
      where,
      `it holds another state of ${key}, which ${before.where} holds too`,
      'keep one of the two files',
    )
  }
  objects.set(key, { resource, where })
}

function readJson(file: string): Json {
  const source = Buffer.from(readBytes(file)).toString('utf8')
  try {
    return parseJson(source)
  } catch {
    throw createUnreadableFailure(file, 'it is not valid JSON', 'record it again')
  }
}

function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (thrown) {
    throw translate(thrown, file)
  }
}

function translate(thrown: unknown, path: string): unknown {
  if (!(thrown instanceof Error) || !('code' in thrown)) return thrown
  if (thrown instanceof Failure) return thrown
  const why =
    thrown.code === 'ENOENT' ? 'it does not exist' : `it cannot be read (${String(thrown.code)})`
  return createUnreadableFailure(
    path,
    why,
    'name the folder or file that the live objects were saved to',
  )
}

function readScope(entry: JsonObject): RecordedScope {
  const namespace = getKey(entry, 'namespace')
  return {
    apiVersion: getTextAt(entry, 'apiVersion'),
    kind: getTextAt(entry, 'kind'),
    namespace: typeof namespace === 'string' ? namespace : undefined,
  }
}

function readId(entry: JsonObject): ResourceId {
  const { group } = parseApiVersion(getTextAt(entry, 'apiVersion'))
  return {
    group,
    kind: getTextAt(entry, 'kind'),
    namespace: getTextAt(entry, 'namespace'),
    name: getTextAt(entry, 'name'),
  }
}

function createUnreadableFailure(where: string, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP1010',
    what: 'the recorded cluster cannot be read',
    where,
    why,
    remedy,
  })
}

/** `live.json` and `predicted.json` of a case, and what all cases share: the kinds that the server serves, and their schemas. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  formatJson,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { CORPUS, type DriftCase } from './case.ts'

/** Beside the cases; no case is called so. */
export const SHARED = join(CORPUS, '_server')

export interface RecordedLive {
  readonly version: string
  readonly observedAt: string
  readonly appliedAt: string
  readonly movedAt: string
  /** Every object of the namespace, but what controllers make for themselves, and the cluster's objects that the case names. */
  readonly objects: readonly JsonObject[]
}

export interface RecordedAnswer {
  /** `computePredictionKey` of src/cluster/recording/recording.ts. */
  readonly key: string
  readonly fieldManager: string
  /** What the server would store. */
  readonly object?: JsonObject
  /** Why the server refuses. */
  readonly refused?: string
}

/** A kind as discovery lists it. */
export interface RecordedKind {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  /** The preferred one first. */
  readonly versions: readonly string[]
}

export interface CaseRecording {
  readonly live: RecordedLive
  readonly answers: readonly RecordedAnswer[]
}

/** @throws Error where the case was not recorded */
export function readRecordingOf({
  folder,
  name,
}: Pick<DriftCase, 'folder' | 'name'>): CaseRecording {
  if (!existsSync(join(folder, 'live.json')))
    throw new Error(`${name} has no live.json: node test/corpus/drift/record.ts ${name}`)
  const live = objectAt(readJson(join(folder, 'live.json')))
  const answers = readJson(join(folder, 'predicted.json'))
  const text = (object: JsonObject, key: string): string => String(getKey(object, key) ?? '')
  return {
    live: {
      version: text(live, 'version'),
      observedAt: text(live, 'observedAt'),
      appliedAt: text(live, 'appliedAt'),
      movedAt: text(live, 'movedAt'),
      objects: listAt(getKey(live, 'objects')),
    },
    answers: listAt(answers).map((answer) => {
      const object = getKey(answer, 'object')
      const refused = getKey(answer, 'refused')
      return {
        key: text(answer, 'key'),
        fieldManager: text(answer, 'fieldManager'),
        ...(isJsonObject(object) ? { object } : {}),
        ...(typeof refused === 'string' ? { refused } : {}),
      }
    }),
  }
}

/**
 * Writes a recording, and leaves one alone that says the same but for uids, versions, times and the addresses that the server
 * chose: recording again what did not change changes no file.
 */
export function writeRecordingOf(
  { folder }: Pick<DriftCase, 'folder'>,
  { live, answers }: CaseRecording,
): 'written' | 'same' {
  const files: readonly [string, Json][] = [
    ['live.json', { ...live }],
    ['predicted.json', answers.map((answer): JsonObject => ({ ...answer }))],
  ]
  const texts = files.map(([name, value]) => [join(folder, name), formatRecording(value)] as const)
  const same = texts.every(
    ([file, text]) => existsSync(file) && lasting(readFileSync(file, 'utf8')) === lasting(text),
  )
  if (!same) for (const [file, text] of texts) writeFileSync(file, text)
  return same ? 'same' : 'written'
}

/** A text with the values in it that are others each time set to one. */
function lasting(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uid')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, 'time')
    .replaceAll(/"(resourceVersion|nodePort|healthCheckNodePort)": ?"?\d+"?/g, '"$1": "n"')
    .replaceAll(/\b10\.96\.\d+\.\d+\b/g, 'address')
    .replaceAll(/-[0-9a-f]{8,10}\\?"/g, '-hash"')
}

/** Two spaces deep, and ownership on one line, so that a person reads the object and not its bookkeeping. */
function formatRecording(value: Json): string {
  const retained: string[] = []
  const text = formatJson(withMarks(value, retained), 2)
  return `${text.replaceAll(/"@@(\d+)"/g, (_all, location) => retained[Number(location)] ?? '')}\n`
}

function withMarks(value: Json, retained: string[]): Json {
  if (isJsonArray(value)) return value.map((item) => withMarks(item, retained))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, below]) => [
      key,
      key === 'fieldsV1' || key === 'conditions'
        ? `@@${retained.push(formatJson(below)) - 1}`
        : withMarks(below, retained),
    ]),
  )
}

/** The kinds of the server that was recorded last. */
export function readKinds(): RecordedKind[] {
  const file = join(SHARED, 'kinds.json')
  if (!existsSync(file)) return []
  return listAt(readJson(file)).map((kind) => ({
    group: String(getKey(kind, 'group')),
    kind: String(getKey(kind, 'kind')),
    plural: String(getKey(kind, 'plural')),
    namespaced: getKey(kind, 'namespaced') === true,
    versions: list(getKey(kind, 'versions')).map(String),
  }))
}

export function writeKinds(kinds: readonly RecordedKind[]): void {
  const lines = [...kinds]
    .sort((left, right) => (`${left.group}/${left.kind}` < `${right.group}/${right.kind}` ? -1 : 1))
    .map((kind) => `  ${JSON.stringify(kind)}`)
  writeFileSync(join(SHARED, 'kinds.json'), `[\n${lines.join(',\n')}\n]\n`)
}

/** OpenAPI documents, trimmed to the kinds of the cases, by API version. */
export function readSchemas(): Map<string, Json> {
  const folder = join(SHARED, 'schemas')
  if (!existsSync(folder)) return new Map()
  return new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => [basename(name, '.json').replaceAll('__', '/'), readJson(join(folder, name))]),
  )
}

export function writeSchema(apiVersion: string, document: Json): void {
  const definitions = getKey(objectAt(getKey(objectAt(document), 'components') ?? {}), 'schemas')
  const lines = Object.entries(isJsonObject(definitions) ? definitions : {}).map(
    ([name, value]) => `    ${JSON.stringify(name)}: ${formatJson(value)}`,
  )
  const text = `{"openapi": "3.0.0", "components": {"schemas": {\n${lines.join(',\n')}\n}}}\n`
  writeFileSync(join(SHARED, 'schemas', `${apiVersion.replaceAll('/', '__')}.json`), text)
}

function readJson(file: string): Json {
  return parseJson(readFileSync(file, 'utf8'))
}

function objectAt(value: Json): JsonObject {
  if (!isJsonObject(value)) throw new Error('a recording has something else where an object is')
  return value
}

function list(value: Json | undefined): readonly Json[] {
  return isJsonArray(value) ? value : []
}

function listAt(value: Json | undefined): JsonObject[] {
  return list(value).filter(isJsonObject)
}

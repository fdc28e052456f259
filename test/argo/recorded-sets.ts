/** What Argo CD made of the ApplicationSets: `recorded/application-sets.json`, by name the Applications, or `error`. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  filterObjects,
  formatCanonicalJson,
  getPartAt,
  getTextAt,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { SET_FILES, SETS } from './cases/application-sets.ts'

export type RecordedSet =
  | { readonly applications: readonly JsonObject[] }
  | { readonly error: string }

export const APPLICATION_SETS = new URL('./recorded/application-sets.json', import.meta.url)

export function digestOfSets(): string {
  return createHash('sha256')
    .update(formatCanonicalJson([SET_FILES, SETS] as unknown as Json))
    .digest('hex')
    .slice(0, 16)
}

export function readRecordedSets(): {
  readonly inputs: string
  readonly cases: { readonly [name: string]: RecordedSet }
} {
  return parseJson(readFileSync(APPLICATION_SETS, 'utf8')) as never
}

/** What counts of an answer: name, namespace and specification. */
export function madeOf(answer: Json): RecordedSet {
  const error = getTextAt(answer, 'error')
  if (error !== '') return { error: error.split(':')[0] ?? '' }
  return { applications: filterObjects(getPartAt(answer, 'applications')).map(essence) }
}

export function essence(application: JsonObject): JsonObject {
  const spec = getPartAt(application, 'spec')
  const [name, namespace] = [
    getTextAt(application, 'metadata', 'name'),
    getTextAt(application, 'metadata', 'namespace'),
  ]
  return { name, namespace, spec: isJsonObject(spec) ? spec : {} }
}

/**
 * What `nomos hydrate` of Config Sync made of the cases (`recorded.json`): by name, the objects in the order of their identity, or the codes of its errors.
 * Marks of Config Sync, which `nomos hydrate` does not print, are not in it. A recording of other inputs says nothing: `inputs` is their digest.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  formatCanonicalJson,
  getTextAt,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { CASES } from './cases.ts'

export interface Recording {
  readonly made: { readonly 'config-sync': string; readonly command: string }
  readonly inputs: string
  readonly cases: {
    readonly [name: string]:
      | { readonly objects: readonly JsonObject[] }
      | { readonly errors: readonly string[] }
  }
}

export const RECORDING = new URL('./recorded.json', import.meta.url)

export function digestOfCases(): string {
  return createHash('sha256')
    .update(formatCanonicalJson(CASES as unknown as Json))
    .digest('hex')
    .slice(0, 16)
}

export function readRecording(): Recording {
  return parseJson(readFileSync(RECORDING, 'utf8')) as unknown as Recording
}

export function inOrder(objects: readonly JsonObject[]): readonly JsonObject[] {
  const key = (each: JsonObject): string =>
    ['apiVersion', 'kind']
      .map((name) => getTextAt(each, name))
      .concat(getTextAt(each, 'metadata', 'namespace'), getTextAt(each, 'metadata', 'name'))
      .join('\n')
  return objects.toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
}

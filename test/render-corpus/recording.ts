/** What kpt made of each case, so that our render can be held against it where there is no kpt. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import type { RenderCase } from './render-case.ts'
import type { KptRender } from './run-kpt-render.ts'

export const RECORDING = fileURLToPath(new URL('recorded.json', import.meta.url))

export interface RecordedRender {
  readonly ok: boolean
  /** Files that are not as they are both set, by path: their text afterwards, or null for one that is gone. */
  readonly changed: { readonly [path: string]: string | null }
  /** As `KptRender`. */
  readonly text: string
  readonly results: string
}

export type Recording = { readonly [name: string]: RecordedRender }

export function readRecording(): Recording {
  return JSON.parse(readFileSync(RECORDING, 'utf8')) as Recording
}

export function recorded(
  { files }: RenderCase,
  { ok, text, results, files: after }: KptRender,
): RecordedRender {
  const changed: Record<string, string | null> = {}
  for (const path of [...new Set([...Object.keys(files), ...Object.keys(after)])].sort())
    if (files[path] !== after[path]) changed[path] = after[path] ?? null
  return { ok, changed, text, results }
}

/** All files of the package after the recorded render, by path, in order. */
export function filesAfter(
  { files }: RenderCase,
  { changed }: RecordedRender,
): { readonly [path: string]: string } {
  const all = Object.entries<string | null>({ ...files, ...changed })
  return Object.fromEntries(
    all
      .filter((entry): entry is [string, string] => entry[1] !== null)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  )
}

/** What each function reported, of the text of results.yaml. */
export function resultsIn(
  text: string,
): readonly { readonly exec: string; readonly results: Json }[] {
  const value = text === '' ? null : (parseGoYaml(text, 'results.yaml').documents[0]?.value ?? null)
  const items = isJsonObject(value) ? value['items'] : undefined
  if (!isJsonArray(items ?? null)) return []
  return (items as readonly Json[]).map((item) => {
    const { exec, results } = item as { readonly exec: string; readonly results?: Json }
    return { exec, results: results ?? [] }
  })
}

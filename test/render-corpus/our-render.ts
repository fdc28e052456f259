/** Our render of a package tree, with the functions that kpt runs as programs. */
import { answerCalls, type FunctionLibrary } from '@backporch/kpt/function'
import { passThroughText, renderFiles } from '@backporch/kpt/render'
import type { Failure } from '@backporch/kyaml/failure'
import type { Json } from '@backporch/kyaml/json'
import { builtInFunctions } from '../../functions/built-in-functions.ts'
import { CORPUS_FUNCTIONS } from './corpus-functions.ts'

export interface OurRender {
  /** All files of the package afterwards, by path, in order. */
  readonly files: { readonly [path: string]: string }
  /** Empty where the package is rendered. */
  readonly failures: readonly Failure[]
  /** Of each function, in the order in which they ran: what it reported. */
  readonly results: readonly { readonly exec: string; readonly results: Json }[]
}

/** The built-in functions and those of the corpus. */
export const LIBRARY: FunctionLibrary = {
  answer: (call) => {
    const own = CORPUS_FUNCTIONS[call.step.function.exec ?? '']
    return own === undefined ? builtInFunctions.answer(call) : own(call.input)
  },
}

export function renderOurs(
  tree: { readonly [path: string]: string },
  unattributed = false,
): OurRender {
  const given = Object.entries(tree)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, text]) => ({
      path,
      content: new TextEncoder().encode(text),
      mode: '100644' as const,
    }))
  const rendering = answerCalls(renderFiles('', given, !unattributed), passThroughText(LIBRARY))
  if ('failures' in rendering) return { files: tree, failures: rendering.failures, results: [] }
  const files = new Map([...Object.entries(tree), ...rendering.written])
  for (const path of rendering.removed) files.delete(path)
  return {
    files: Object.fromEntries([...files].sort(([one], [other]) => (one < other ? -1 : 1))),
    failures: [],
    results: rendering.runs.map(({ step, results }) => ({
      exec: step.function.exec ?? '',
      results: results as unknown as Json,
    })),
  }
}

/** A package after one function: with a built-in one, or with an original, a program that reads a ResourceList and writes one. */
import { spawnSync } from 'node:child_process'
import { failuresOf, formatFailure } from '../../src/failure.ts'
import { answerCalls, type FunctionLibrary } from '../../src/render/answer-calls.ts'
import type { KrmFunction } from '../../src/render/kpt/krm-function.ts'
import { renderFiles, throughText } from '../../src/render/kpt/render-files.ts'
import { FUNCTION_TEXT, formatFunctionInput, readFunctionOutput } from '../../src/render/kpt/resource-list.ts'
import type { YamlMap } from '../../src/yaml/yaml-node.ts'
import { withoutDocumentComments } from '../../src/yaml/yaml-resource-list.ts'
import type { OddPackage } from './odd-packages.ts'
import { digestOf } from './original-inputs.ts'

export type Outcome = { readonly files: OddPackage } | { readonly refused: string }

/** @param attributed as kpt does without `KPT_DISABLE_ATTRIBUTION` */
export function outcomeOf(files: OddPackage, library: FunctionLibrary, attributed = true): Outcome {
  const given = Object.entries(files)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, text]) => ({ path, content: new TextEncoder().encode(text), mode: '100644' as const }))
  const rendering = answerCalls(renderFiles('', given, attributed), library)
  if ('failures' in rendering) return { refused: rendering.failures.map(formatFailure).join('\n') }
  const after = new Map([...Object.entries(files), ...rendering.written])
  for (const path of rendering.removed) after.delete(path)
  return { files: Object.fromEntries([...after].sort(([one], [other]) => (one < other ? -1 : 1))) }
}

export function builtInLibrary(run: KrmFunction): FunctionLibrary {
  return throughText({ answer: ({ input }) => run(input) })
}

/**
 * Runs the program with exactly the text that kpt gives it (docs/facts/kpt-render.md). An output that is no ResourceList is a failure of the
 * function, as it is with kpt.
 * @param program an absolute path
 */
export function programLibrary(program: string): FunctionLibrary {
  const given = new WeakSet<YamlMap>()
  return {
    answer: ({ input }) => {
      const items = input.items.map((item) => (given.has(item) ? item : withoutDocumentComments(item)))
      const { status, stdout, stderr } = spawnSync(program, [], {
        input: formatFunctionInput({ ...input, items }),
        encoding: 'utf8',
        maxBuffer: 1 << 26,
        timeout: 60_000,
        killSignal: 'SIGKILL',
      })
      const exitCode = status ?? 1
      if (exitCode !== 0) return { items: [], results: [], exitCode, stderr: `${stderr}\n${resultsOf(stdout)}` }
      try {
        const output = readFunctionOutput(stdout, FUNCTION_TEXT)
        for (const item of output.items) given.add(item)
        return { ...output, exitCode, stderr }
      } catch (thrown) {
        return { items: [], results: [], exitCode: 1, stderr: failuresOf(thrown).map(formatFailure).join('\n') }
      }
    },
  }
}

function resultsOf(stdout: string): string {
  return stdout.slice(Math.max(0, stdout.lastIndexOf('\nresults:')))
}

/** Twelve hexadecimal digits of the files, or `refused`. */
export function digestOfOutcome(outcome: Outcome): string {
  return 'refused' in outcome ? 'refused' : digestOf(Object.entries(outcome.files))
}

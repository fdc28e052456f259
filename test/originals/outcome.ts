/** A package after one function: with a built-in one, or with an original, a program that reads a ResourceList and writes one. */
import {
  answerCalls,
  FUNCTION_TEXT,
  type FunctionAnswer,
  type FunctionCall,
  type FunctionLibrary,
  formatFunctionInput,
  type KrmFunction,
  type RenderProcess,
  readFunctionOutput,
} from '@backporch/kpt/function'
import { passThroughText, renderFiles } from '@backporch/kpt/render'
import { formatFailure, listFailures } from '@backporch/kyaml/failure'
import { removeDocumentComments, type YamlMap } from '@backporch/kyaml/yaml'
import type { OddPackage } from './odd-packages.ts'
import { digestOf } from './original-inputs.ts'
import { type ProgramRun, runOnce, runOnEach } from './run-program.ts'

export type Outcome = { readonly files: OddPackage } | { readonly refused: string }

/** @param attributed as kpt does without `KPT_DISABLE_ATTRIBUTION` */
export function outcomeOf(files: OddPackage, library: FunctionLibrary, attributed = true): Outcome {
  return answerCalls(renderOne(files, attributed), library)
}

function* renderOne(files: OddPackage, attributed: boolean): RenderProcess<Outcome> {
  const given = Object.entries(files)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, text]) => ({
      path,
      content: new TextEncoder().encode(text),
      mode: '100644' as const,
    }))
  const rendering = yield* renderFiles('', given, attributed)
  if ('failures' in rendering) return { refused: rendering.failures.map(formatFailure).join('\n') }
  const after = new Map([...Object.entries(files), ...rendering.written])
  for (const path of rendering.removed) after.delete(path)
  return { files: Object.fromEntries([...after].sort(([one], [other]) => (one < other ? -1 : 1))) }
}

export function builtInLibrary(run: KrmFunction): FunctionLibrary {
  return passThroughText({ answer: ({ input }) => run(input) })
}

/** Runs the program, a process for each call. @param program an absolute path */
export function programLibrary(program: string): FunctionLibrary {
  const { inputOf, answerOf } = programTexts()
  return { answer: (call) => answerOf(runOnce(program, inputOf(call))) }
}

/**
 * What `outcomeOf` makes of each package with the `programLibrary`. The calls of all packages go to the program together.
 * @param program an absolute path; built with `batch.go`
 */
export function outcomesOf(packages: readonly OddPackage[], program: string): readonly Outcome[] {
  const { inputOf, answerOf } = programTexts()
  const renders = packages.map((files) => {
    const process = renderOne(files, true)
    return { process, state: process.next() }
  })
  for (;;) {
    const waiting = renders.flatMap((each) =>
      each.state.done === true ? [] : [{ each, input: inputOf(each.state.value) }],
    )
    if (waiting.length === 0) return renders.map(({ state }) => state.value as Outcome)
    const runs = runOnEach(
      program,
      waiting.map(({ input }) => input),
    )
    for (const [index, { each }] of waiting.entries())
      each.state = each.process.next(answerOf(runs[index] as ProgramRun))
  }
}

/**
 * Exactly the text that kpt gives a program (docs/facts/kpt-render.md), and the answer in what it writes. An output that is no ResourceList is a
 * failure of the function, as it is with kpt.
 */
function programTexts(): {
  inputOf: (call: FunctionCall) => string
  answerOf: (run: ProgramRun) => FunctionAnswer
} {
  const given = new WeakSet<YamlMap>()
  return {
    inputOf: ({ input }) => {
      const items = input.items.map((item) =>
        given.has(item) ? item : removeDocumentComments(item),
      )
      return formatFunctionInput({ ...input, items })
    },
    answerOf: ({ exitCode, stdout, stderr }) => {
      if (exitCode !== 0)
        return { items: [], results: [], exitCode, stderr: `${stderr}\n${resultsOf(stdout)}` }
      try {
        const output = readFunctionOutput(stdout, FUNCTION_TEXT)
        for (const item of output.items) given.add(item)
        return { ...output, exitCode, stderr }
      } catch (thrown) {
        return {
          items: [],
          results: [],
          exitCode: 1,
          stderr: listFailures(thrown).map(formatFailure).join('\n'),
        }
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

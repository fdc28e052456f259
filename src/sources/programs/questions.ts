/**
 * A pure, synchronous computation that lacks an answer throws a question. The caller answers it and
 * repeats the computation (docs/adr/0084-one-question-mechanism.md). No other code catches a
 * question.
 */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { FunctionCall } from '@backporch/kpt/function'
import type { ObjectId } from '@backporch/kyaml/files'
import type { Build } from './package-builder.ts'

export type Question =
  /** Programs to run, all in one round. */
  | { readonly kind: 'builds'; readonly builds: readonly Build[] }
  /** A function to run. */
  | { readonly kind: 'function'; readonly call: FunctionCall }
  /** A request to an API server. */
  | { readonly kind: 'server'; readonly ask: (signal: AbortSignal) => Promise<void> }
  /** Whether the branch changes exactly these files compared with its base. */
  | {
      readonly kind: 'content'
      readonly branch: { readonly base: ObjectId; readonly commit: ObjectId }
      readonly changes: readonly FileChange[]
    }

/** Not a Failure: code that computes must not catch it. */
export class Unanswered extends Error {
  readonly question: Question

  constructor(question: Question) {
    super(`an answer is missing (${question.kind})`)
    this.name = 'Unanswered'
    this.question = question
  }
}

/** @returns the value, or the question to answer first @throws any other error of `compute` */
export function attempt<T>(
  compute: () => T,
): { readonly value: T } | { readonly question: Question } {
  try {
    return { value: compute() }
  } catch (thrown) {
    if (thrown instanceof Unanswered) return { question: thrown.question }
    throw thrown
  }
}

/**
 * @param compute pure: it is called again after each answer
 * @param answer must throw if there is no answer, or the question would be repeated forever
 * @throws what `compute` and `answer` throw
 */
export async function computeAnswered<T>(
  compute: () => T,
  answer: (question: Question) => Promise<void>,
): Promise<T> {
  for (;;) {
    const tried = attempt(compute)
    if ('value' in tried) return tried.value
    await answer(tried.question)
  }
}

/** @throws Unanswered with all builds that the computations need, so that they run in one round */
export function computeEach<T, R>(all: readonly T[], compute: (each: T) => R): readonly R[] {
  const missing: Build[] = []
  const results = all.flatMap((each): readonly R[] => {
    const tried = attempt(() => compute(each))
    if ('value' in tried) return [tried.value]
    if (tried.question.kind !== 'builds') throw new Unanswered(tried.question)
    missing.push(...tried.question.builds)
    return []
  })
  if (missing.length > 0) throw new Unanswered({ kind: 'builds', builds: missing })
  return results
}

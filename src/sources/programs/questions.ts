/**
 * Questions of a computation: a synchronous one that lacks an answer ends with the question, and is repeated once it is answered
 * (docs/adr/0084-one-question-mechanism.md). Nothing else catches a question.
 */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { FunctionCall } from '@backporch/kpt/function'
import type { ObjectId } from '@backporch/kyaml/files'
import type { Build } from './package-builder.ts'

export type Question =
  /** Programs that have to run, in one round. */
  | { readonly kind: 'builds'; readonly builds: readonly Build[] }
  /** A function that has to run. */
  | { readonly kind: 'function'; readonly call: FunctionCall }
  /** Something that an API server has to say. */
  | { readonly kind: 'server'; readonly ask: (signal: AbortSignal) => Promise<void> }
  /** Whether a branch changes exactly this against its base. */
  | {
      readonly kind: 'content'
      readonly branch: { readonly base: ObjectId; readonly commit: ObjectId }
      readonly changes: readonly FileChange[]
    }

/** No failure: code that computes does not catch it. */
export class Unanswered extends Error {
  readonly question: Question

  constructor(question: Question) {
    super(`an answer is missing (${question.kind})`)
    this.name = 'Unanswered'
    this.question = question
  }
}

/** The value, or the question that has to be answered first. @throws what else `compute` throws */
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
 * @param answer throws where there is no answer: the question would be asked without end
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

/** What is computed of each. @throws Unanswered with the builds that any of them needs first, so that they run in one round */
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

/** Answers commands last in the turn, so that an answer is true when it is read. */
import type { RequestedActionSource } from '@backporch/forge/check-run'
import type { HostedForge, OpenedProposal } from '@backporch/forge/hosted-forge'
import { Failure } from '@backporch/kyaml/failure'
import { formatMarkdownCell, formatMarkdownLink } from '@backporch/kyaml/markdown'
import type { AnswerAction } from '../../../plan/turn/turn-action.ts'
import { mayWait, type PlannedAnswer } from '../../../plan/unit/commands/plan-requests.ts'
import {
  ANSWER_TOPIC,
  answerComment,
  type PostedAnswer,
} from '../../../proposal/text/answer-comment.ts'
import { formatFailureText } from '../../../proposal/text/command-answer.ts'
import type { RepositoryView } from '../../repository/repository-view.ts'
import { proposePolicy } from './propose-policy.ts'

export interface Answer {
  readonly proposal: OpenedProposal
  /** Undefined for a ticked checkbox. */
  readonly by: string | undefined
  readonly line: string
  readonly outcome: 'done' | 'refused' | 'waiting'
  readonly failure?: Failure
}

interface AnswerContext {
  readonly view: RepositoryView
  readonly forge: HostedForge
  readonly requestedActions: RequestedActionSource
}

/**
 * @param refused why the unit was not written; then no request that changes its plan is executed
 */
export async function applyAnswers(
  context: AnswerContext,
  answered: AnswerAction,
  refused: Failure | undefined,
  signal: AbortSignal,
): Promise<readonly Answer[]> {
  const { forge, requestedActions } = context
  const { proposal, comments } = answered
  const waiting = answered.waiting.map(
    ({ failure, ...request }): Answer => ({
      proposal,
      ...request,
      outcome: 'waiting',
      failure: new Failure(failure),
    }),
  )
  const wait = (by: string | undefined, line: string, thrown: unknown): void => {
    signal.throwIfAborted()
    if (!(thrown instanceof Failure)) throw thrown
    waiting.push({ proposal, by, line, outcome: 'waiting', failure: thrown })
  }
  if (refused !== undefined && mayWait(refused)) {
    for (const { by, line } of answered.answers) wait(by, line, refused)
    return waiting
  }
  const results: PostedAnswer[] = []
  try {
    for (const answer of answered.answers)
      results.push(
        await complete(
          context,
          answered,
          refused === undefined ? answer : createRefusal(answer, refused),
          signal,
        ),
      )
    for (const { requestedAction, done } of answered.requestedActions)
      if (done) requestedActions.removeAnswered(requestedAction)
    const reported = results.filter(({ by, done }) => by !== undefined || !done)
    if (reported.length > 0) {
      const body = answerComment(answered.answered, reported, forge.dialect.bodyLimit)
      await forge.ensureComment(proposal.number, ANSWER_TOPIC, body, signal)
    }
    for (const { requestedAction: action } of answered.requestedActions)
      requestedActions.removeAnswered(action)
    for (const comment of comments) {
      const isDone = results.every(
        ({ requested, done }) => done || requested?.comment !== comment.id,
      )
      await forge.react(comment, isDone ? 'done' : 'refused', signal)
    }
  } catch (thrown) {
    wait(undefined, 'the answer to commands', thrown)
  }
  const notified = results.map(
    ({ by, line, done }): Answer => ({ proposal, by, line, outcome: done ? 'done' : 'refused' }),
  )
  return [...notified, ...waiting]
}

function createRefusal(answer: PlannedAnswer, refused: Failure): PlannedAnswer {
  const { by, line, requested } = answer
  return answer.done
    ? {
        by,
        line,
        done: false,
        text: formatFailureText(refused),
        ...(requested === undefined ? {} : { requested }),
      }
    : answer
}

/** The answer is the same if the pull request exists already. */
async function complete(
  { view, forge }: AnswerContext,
  { unit, codeOwners, proposal }: AnswerAction,
  { policy, ...answer }: PlannedAnswer,
  signal: AbortSignal,
): Promise<PostedAnswer> {
  if (policy === undefined) return answer
  const { login, comment, at } = policy.requester
  try {
    const location = { unit, view, forge, codeOwners, signal }
    const { opened, ref } = await proposePolicy(location, policy.change, {
      login,
      resolutionRequest: comment,
      at,
      proposal,
    })
    const link =
      opened === undefined
        ? formatMarkdownCell(ref, 200)
        : formatMarkdownLink(formatMarkdownCell(opened.label, 60), opened.url)
    return { ...answer, text: `${link} proposes it, and it applies when that is merged` }
  } catch (thrown) {
    if (!(thrown instanceof Failure) || mayWait(thrown)) throw thrown
    return { ...answer, done: false, text: formatFailureText(thrown) }
  }
}

import type { RequestedAction } from '@backporch/forge/check-run'
import type { ForgeComment } from '@backporch/forge/hosted-forge'
import { Failure, type FailureCode, orFailure } from '@backporch/kyaml/failure'
import { markdownCell, markdownProse } from '@backporch/kyaml/markdown'
import { oneLine } from '@backporch/kyaml/text'
import type { PolicySet } from '../../../policy/parse-policy.ts'
import type { PostedAnswer } from '../../../proposal/text/answer-comment.ts'
import { commandOfAction } from '../../../proposal/text/check-run-buttons.ts'
import { commandLine, failureText } from '../../../proposal/text/command-answer.ts'
import type { CommentCommand, CommentCommands } from '../../../proposal/text/comment-command.ts'
import type { Tick } from '../../../proposal/text/ticks.ts'
import type {
  CommandContext,
  PlannedCommand,
  PlanUnit,
  PolicyChange,
  RequestState,
} from './command-state.ts'
import { assertMayWrite } from './comment-rights.ts'
import { planChoices, planCommand, planRecheck, RESOLUTIONS } from './plan-command.ts'
import type {
  CommentRequest,
  ProposalRequests,
  RequestedActionRequest,
  Requester,
  WaitingRequest,
} from './proposal-requests.ts'
import type { RequestedChoice } from './resolution-request.ts'

export interface PlannedAnswer extends PostedAnswer {
  readonly policy?: { readonly change: PolicyChange; readonly requester: Requester }
}

export interface AnsweredRequests {
  readonly requests: ProposalRequests
  readonly state: RequestState
  readonly answers: readonly PlannedAnswer[]
  readonly comments: readonly ForgeComment[]
  /** Not repeated, answered or not: their commit may no longer exist because of them. */
  readonly requestedActions: readonly {
    readonly requestedAction: RequestedAction
    readonly done: boolean
  }[]
  readonly waiting: readonly WaitingRequest[]
}

/** @throws never for a single request: its failure is in its answer */
export function planRequests(
  requests: ProposalRequests,
  policies: PolicySet,
  plan: PlanUnit,
  start: RequestState,
): AnsweredRequests {
  const planner = new RequestPlanner({ requests, policies, plan }, start)
  planner.ticks(requests.ticks)
  for (const comment of requests.comments) planner.comment(comment)
  for (const requestedAction of requests.requestedActions) planner.requestedAction(requestedAction)
  return planner.answered()
}

export function requestedActionLine({ button }: RequestedAction): string {
  return `button ${commandOfAction(button)?.label ?? '?'}`
}

function commentLine({ body }: ForgeComment): string {
  return oneLine(body.split('\n').find((each) => each.startsWith('/')) ?? '', 100)
}

/**
 * A failure of git or the forge does not refuse a request, which may be done although the answer
 * was lost. A name that Backporch's own rules refuse stays refused.
 */
export function isOutside(code: FailureCode): boolean {
  return /^BP[45]/.test(code) && code !== 'BP4004'
}

export function mayWait({ code, retry }: Failure): boolean {
  return retry === 'backoff' || isOutside(code)
}

type Work = (state: RequestState) => PlannedCommand

class RequestPlanner {
  private readonly context: CommandContext
  private state: RequestState
  private readonly answers: PlannedAnswer[] = []
  private readonly comments: ForgeComment[] = []
  private readonly requestedActions: { requestedAction: RequestedAction; done: boolean }[] = []
  private readonly waiting: WaitingRequest[] = []

  constructor(context: CommandContext, state: RequestState) {
    this.context = context
    this.state = state
    this.waiting.push(...context.requests.unread)
  }

  answered(): AnsweredRequests {
    const { answers, comments, requestedActions, waiting, state, context } = this
    return { requests: context.requests, state, answers, comments, requestedActions, waiting }
  }

  ticks(ticks: readonly Tick[]): void {
    if (ticks.length === 0) return
    const choices = ticks.flatMap(({ verb, changes }): RequestedChoice[] =>
      verb === 'recheck' ? [] : [{ resolution: RESOLUTIONS[verb], selectors: changes.map(String) }],
    )
    const work: Work = (state) =>
      choices.length > 0
        ? planChoices(this.context, choices, { requester: undefined }, state)
        : planRecheck(this.context, state)
    this.orWait({ by: '', line: 'a ticked box' }, () => {
      this.answers.push(this.answer('', 'a ticked box', work))
    })
  }

  comment({ comment, commands, requester, refusal, mayCommand }: CommentRequest): void {
    const line = commentLine(comment)
    const by = requester.login
    this.orWait({ by, line }, () => {
      const own =
        refusal === undefined
          ? this.inComment(requester, commands)
          : [{ by, line, done: false, text: failureText(refusal) }]
      const { id, at, author } = comment
      this.answers.push(
        ...own.map((result) => ({
          ...result,
          requested: { comment: id, at, author, heard: mayCommand },
        })),
      )
      this.comments.push(comment)
    })
  }

  /** Only for commands on this commit: the person who clicked saw its content. */
  requestedAction({ requestedAction, requester }: RequestedActionRequest): void {
    const { unit, codeOwners, answered } = this.context.requests
    const requested = commandOfAction(requestedAction.button)
    const refusal =
      requested === undefined ? undefined : notAllowed(requester, { ...unit, codeOwners })
    const reported = (results: readonly PlannedAnswer[]): readonly PlannedAnswer[] =>
      results.map((result) => ({
        ...result,
        line: requestedActionLine(requestedAction),
        requested: {
          comment: requestedAction.id,
          at: requestedAction.at,
          heard: refusal === undefined,
        },
      }))
    const refused = (text: string) =>
      reported([{ by: requestedAction.login, line: '', done: false, text }])
    this.orWait({ by: requestedAction.login, line: requestedActionLine(requestedAction) }, () => {
      const answers =
        requested === undefined || isAnswered(requestedAction, answered)
          ? []
          : refusal !== undefined
            ? refused(failureText(refusal))
            : requestedAction.commit !== unit.head
              ? refused(requestedBefore(requestedAction, unit.head))
              : reported(this.inComment(requester, { commands: requested.commands, refused: [] }))
      this.answers.push(...answers)
      this.requestedActions.push({ requestedAction, done: answers.every(({ done }) => done) })
    })
  }

  private inComment(
    requester: Requester,
    { commands, refused }: CommentCommands,
  ): readonly PlannedAnswer[] {
    const by = requester.login
    if (refused.length > 0) {
      const others = commands.map((command) =>
        refusal(
          by,
          commandLine(command),
          'not done, because another line of the comment cannot be',
        ),
      )
      return [...refused.map(({ line, why }) => refusal(by, line, markdownProse(why))), ...others]
    }
    const before = this.state
    try {
      const answers: PlannedAnswer[] = []
      for (const group of inOrder(commands)) {
        const work: Work = (state) => planCommand(this.context, requester, group, state)
        const answer = this.answer(by, group.map(commandLine).join(' '), work, requester)
        answers.push(answer)
      }
      return answers
    } catch (thrown) {
      // The comment is executed as a whole the next time.
      this.state = before
      throw thrown
    }
  }

  /** @throws Failure that is worth a retry: then nothing is answered */
  private answer(by: string, line: string, work: Work, requester?: Requester): PlannedAnswer {
    try {
      const { state, policy, ...text } = work(this.state)
      this.state = state
      return {
        by,
        line,
        done: true,
        ...text,
        ...(policy === undefined || requester === undefined
          ? {}
          : { policy: { change: policy, requester } }),
      }
    } catch (thrown) {
      if (!(thrown instanceof Failure) || mayWait(thrown)) throw thrown
      return refusal(by, line, failureText(thrown))
    }
  }

  private orWait(request: Omit<WaitingRequest, 'failure'>, work: () => void): void {
    const done = orFailure(work)
    if (done instanceof Failure) this.waiting.push({ ...request, failure: done })
  }
}

/**
 * By the request's id in the answer. Bots are never answered, because they could answer each other
 * endlessly.
 */
export function isAnswered({ id, bot, button }: RequestedAction, answered: string): boolean {
  return bot || commandOfAction(button) === undefined || answered.includes(`,${id},`)
}

function requestedBefore({ commit }: RequestedAction, head: string): string {
  const [then, now] = [commit, head].map((each) => markdownCell(each.slice(0, 7)))
  return `it was clicked on ${then}, and the branch is at ${now} now (review it again, and click the button there)`
}

/** A branch is recreated before anything is planned on it. */
function inOrder(commands: readonly CommentCommand[]): readonly (readonly CommentCommand[])[] {
  const plans = commands.filter(({ verb }) => Object.hasOwn(RESOLUTIONS, verb))
  const recreates = commands.filter(({ verb }) => verb === 'recreate').slice(0, 1)
  const rest = commands.filter((command) => !plans.includes(command) && command.verb !== 'recreate')
  return [
    ...recreates.map((one) => [one]),
    ...(plans.length === 0 ? [] : [plans]),
    ...rest.map((one) => [one]),
  ]
}

function refusal(by: string, line: string, text: string): PlannedAnswer {
  return { by, line, done: false, text }
}

export function notAllowed(
  requester: Requester,
  owned: Parameters<typeof assertMayWrite>[1],
): Failure | undefined {
  const refused = orFailure(() => assertMayWrite(requester, owned))
  return refused instanceof Failure ? refused : undefined
}

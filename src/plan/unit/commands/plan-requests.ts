import type { RequestedAction } from '@backporch/forge/check-run'
import type { ForgeComment } from '@backporch/forge/hosted-forge'
import { catchFailure, Failure, type FailureCode } from '@backporch/kyaml/failure'
import { formatMarkdownCell, formatMarkdownProse } from '@backporch/kyaml/markdown'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { PolicySet } from '../../../policy/parse-policy.ts'
import type { PostedAnswer } from '../../../proposal/text/answer-comment.ts'
import { findActionCommands } from '../../../proposal/text/check-run-buttons.ts'
import { formatCommandLine, formatFailureText } from '../../../proposal/text/command-answer.ts'
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
  planner.handleTicks(requests.ticks)
  for (const comment of requests.comments) planner.handleComment(comment)
  for (const requestedAction of requests.requestedActions)
    planner.handleRequestedAction(requestedAction)
  return planner.getAnswered()
}

export function formatRequestedAction({ button }: RequestedAction): string {
  return `button ${findActionCommands(button)?.label ?? '?'}`
}

function getCommentLine({ body }: ForgeComment): string {
  return convertToOneLine(body.split('\n').find((each) => each.startsWith('/')) ?? '', 100)
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

  getAnswered(): AnsweredRequests {
    const { answers, comments, requestedActions, waiting, state, context } = this
    return { requests: context.requests, state, answers, comments, requestedActions, waiting }
  }

  handleTicks(ticks: readonly Tick[]): void {
    if (ticks.length === 0) return
    const choices = ticks.flatMap(({ verb, changes }): RequestedChoice[] =>
      verb === 'recheck' ? [] : [{ resolution: RESOLUTIONS[verb], selectors: changes.map(String) }],
    )
    const work: Work = (state) =>
      choices.length > 0
        ? planChoices(this.context, choices, { requester: undefined }, state)
        : planRecheck(this.context, state)
    this.runOrWait({ by: undefined, line: 'a ticked box' }, () => {
      this.answers.push(this.answer(undefined, 'a ticked box', work))
    })
  }

  handleComment({ comment, commands, requester, refusal, mayCommand }: CommentRequest): void {
    const line = getCommentLine(comment)
    const by = requester.login
    this.runOrWait({ by, line }, () => {
      const own =
        refusal === undefined
          ? this.answerComment(requester, commands)
          : [{ by, line, done: false, text: formatFailureText(refusal) }]
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
  handleRequestedAction({ requestedAction, requester }: RequestedActionRequest): void {
    const { unit, codeOwners, answered } = this.context.requests
    const requested = findActionCommands(requestedAction.button)
    const refusal =
      requested === undefined ? undefined : findNotAllowed(requester, { ...unit, codeOwners })
    const reported = (results: readonly PlannedAnswer[]): readonly PlannedAnswer[] =>
      results.map((result) => ({
        ...result,
        line: formatRequestedAction(requestedAction),
        requested: {
          comment: requestedAction.id,
          at: requestedAction.at,
          heard: refusal === undefined,
        },
      }))
    const refused = (text: string) =>
      reported([{ by: requestedAction.login, line: '', done: false, text }])
    this.runOrWait(
      { by: requestedAction.login, line: formatRequestedAction(requestedAction) },
      () => {
        const answers =
          requested === undefined || isAnswered(requestedAction, answered)
            ? []
            : refusal !== undefined
              ? refused(formatFailureText(refusal))
              : requestedAction.commit !== unit.head
                ? refused(describeRequestedBefore(requestedAction, unit.head))
                : reported(
                    this.answerComment(requester, { commands: requested.commands, refused: [] }),
                  )
        this.answers.push(...answers)
        this.requestedActions.push({ requestedAction, done: answers.every(({ done }) => done) })
      },
    )
  }

  private answerComment(
    requester: Requester,
    { commands, refused }: CommentCommands,
  ): readonly PlannedAnswer[] {
    const by = requester.login
    if (refused.length > 0) {
      const others = commands.map((command) =>
        createRefusal(
          by,
          formatCommandLine(command),
          'not done, because another line of the comment cannot be',
        ),
      )
      return [
        ...refused.map(({ line, why }) => createRefusal(by, line, formatMarkdownProse(why))),
        ...others,
      ]
    }
    const before = this.state
    try {
      const answers: PlannedAnswer[] = []
      for (const group of groupInOrder(commands)) {
        const work: Work = (state) => planCommand(this.context, requester, group, state)
        const answer = this.answer(by, group.map(formatCommandLine).join(' '), work, requester)
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
  private answer(
    by: string | undefined,
    line: string,
    work: Work,
    requester?: Requester,
  ): PlannedAnswer {
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
      return createRefusal(by, line, formatFailureText(thrown))
    }
  }

  private runOrWait(request: Omit<WaitingRequest, 'failure'>, work: () => void): void {
    const done = catchFailure(work)
    if (done instanceof Failure) this.waiting.push({ ...request, failure: done })
  }
}

/**
 * By the request's id in the answer. Bots are never answered, because they could answer each other
 * endlessly.
 */
export function isAnswered({ id, bot, button }: RequestedAction, answered: string): boolean {
  return bot || findActionCommands(button) === undefined || answered.includes(`,${id},`)
}

function describeRequestedBefore({ commit }: RequestedAction, head: string): string {
  const [then, now] = [commit, head].map((each) => formatMarkdownCell(each.slice(0, 7)))
  return `it was clicked on ${then}, and the branch is at ${now} now (review it again, and click the button there)`
}

/** A branch is recreated before anything is planned on it. */
function groupInOrder(commands: readonly CommentCommand[]): readonly (readonly CommentCommand[])[] {
  const plans = commands.filter(({ verb }) => Object.hasOwn(RESOLUTIONS, verb))
  const recreates = commands.filter(({ verb }) => verb === 'recreate').slice(0, 1)
  const rest = commands.filter((command) => !plans.includes(command) && command.verb !== 'recreate')
  return [
    ...recreates.map((one) => [one]),
    ...(plans.length === 0 ? [] : [plans]),
    ...rest.map((one) => [one]),
  ]
}

function createRefusal(by: string | undefined, line: string, text: string): PlannedAnswer {
  return { by, line, done: false, text }
}

export function findNotAllowed(
  requester: Requester,
  owned: Parameters<typeof assertMayWrite>[1],
): Failure | undefined {
  const refused = catchFailure(() => assertMayWrite(requester, owned))
  return refused instanceof Failure ? refused : undefined
}

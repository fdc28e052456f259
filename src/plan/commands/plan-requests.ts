/** Everything that is asked for on one proposal, in order: what it changes in the plan of the unit, and what is answered. */
import { asFailure, Failure, type FailureCode } from '../../failure.ts'
import type { PolicySet } from '../../policy/parse-policy.ts'
import type { ButtonPress } from '../../ports/check-run.ts'
import type { ForgeComment } from '../../ports/hosted-forge.ts'
import type { CommentCommand, CommentCommands } from '../../proposal/comment-command.ts'
import type { ToldAnswer } from '../../proposal/text/answer-comment.ts'
import { pressedCommand } from '../../proposal/text/check-run-buttons.ts'
import { commandLine, failureSaid } from '../../proposal/text/command-answer.ts'
import type { Tick } from '../../proposal/text/ticks.ts'
import { markdownCell, markdownProse } from '../../text/markdown-text.ts'
import { oneLine } from '../../text/one-line.ts'
import { assertMayWrite } from './comment-rights.ts'
import type { RequestedChoice } from './comment-wish.ts'
import {
  type CommandGround,
  type PlannedCommand,
  type PlanUnit,
  type PolicyChange,
  planChoices,
  planCommand,
  planRecheck,
  RESOLUTIONS,
  type RequestState,
} from './plan-command.ts'
import type { CommentRequest, PressRequest, ProposalRequests, Requester, WaitingRequest } from './proposal-requests.ts'

/** An answer whose text is complete once the pull request for its policy change is there. */
export interface PlannedAnswer extends ToldAnswer {
  readonly policy?: { readonly change: PolicyChange; readonly requester: Requester }
}

export interface AnsweredRequests {
  readonly requests: ProposalRequests
  /** The unit with everything that is done. */
  readonly state: RequestState
  readonly answers: readonly PlannedAnswer[]
  /** Comments that are answered. */
  readonly comments: readonly ForgeComment[]
  /** Presses that are done are not done again, answered or not: their commit may be gone by it. */
  readonly presses: readonly { readonly press: ButtonPress; readonly done: boolean }[]
  readonly waiting: readonly WaitingRequest[]
}

/** @throws nothing that is about one request: that is in its answer */
export function planRequests(requests: ProposalRequests, policies: PolicySet, plan: PlanUnit, start: RequestState): AnsweredRequests {
  const planner = new RequestPlanner({ requests, policies, plan }, start)
  planner.ticks(requests.ticks)
  for (const comment of requests.comments) planner.comment(comment)
  for (const press of requests.presses) planner.press(press)
  return planner.answered()
}

/** The name of a press in its answer: `button Snooze 7d`. */
export function pressLine({ button }: ButtonPress): string {
  return `button ${pressedCommand(button)?.label ?? '?'}`
}

/** The first command of a comment, in one line. */
export function commentLine({ body }: ForgeComment): string {
  return oneLine(body.split('\n').find((each) => each.startsWith('/')) ?? '', 100)
}

/**
 * A fault of git or of the forge says nothing about the request, and the request may be done although the answer was lost. It is never
 * refused for that, whatever has to change first. A name that our own rules refuse stays refused.
 */
export function isOutside(code: FailureCode): boolean {
  return /^BP[45]/.test(code) && code !== 'BP4004'
}

/** Whether the request waits for the next turn. */
export function mayWait({ code, retry }: Failure): boolean {
  return retry === 'backoff' || isOutside(code)
}

type Work = (state: RequestState) => PlannedCommand

class RequestPlanner {
  private readonly ground: CommandGround
  private state: RequestState
  private readonly answers: PlannedAnswer[] = []
  private readonly comments: ForgeComment[] = []
  private readonly presses: { press: ButtonPress; done: boolean }[] = []
  private readonly waiting: WaitingRequest[] = []

  constructor(ground: CommandGround, state: RequestState) {
    this.ground = ground
    this.state = state
    this.waiting.push(...ground.requests.unread)
  }

  answered(): AnsweredRequests {
    const { answers, comments, presses, waiting, state, ground } = this
    return { requests: ground.requests, state, answers, comments, presses, waiting }
  }

  ticks(ticks: readonly Tick[]): void {
    if (ticks.length === 0) return
    const choices = ticks.flatMap(({ verb, changes }): RequestedChoice[] =>
      verb === 'recheck' ? [] : [{ resolution: RESOLUTIONS[verb], selectors: changes.map(String) }],
    )
    const work: Work = (state) =>
      choices.length > 0 ? planChoices(this.ground, choices, { requester: undefined }, state) : planRecheck(this.ground, state)
    this.orWait({ by: '', line: 'a ticked box' }, () => {
      this.answers.push(this.answer('', 'a ticked box', work))
    })
  }

  comment({ comment, commands, requester, refusal, mayCommand }: CommentRequest): void {
    const line = commentLine(comment)
    const by = requester.login
    this.orWait({ by, line }, () => {
      const own = refusal === undefined ? this.inComment(requester, commands) : [{ by, line, done: false, text: failureSaid(refusal) }]
      const { id, at, author } = comment
      this.answers.push(...own.map((result) => ({ ...result, asked: { comment: id, at, author, heard: mayCommand } })))
      this.comments.push(comment)
    })
  }

  /** Only commands of this commit: whoever pressed saw what stands there. */
  press({ press, requester }: PressRequest): void {
    const { unit, codeOwners, answered } = this.ground.requests
    const asked = pressedCommand(press.button)
    const refusal = asked === undefined ? undefined : notAllowed(requester, { ...unit, codeOwners })
    const told = (results: readonly PlannedAnswer[]): readonly PlannedAnswer[] =>
      results.map((result) => ({
        ...result,
        line: pressLine(press),
        asked: { comment: press.id, at: press.at, heard: refusal === undefined },
      }))
    const refused = (text: string) => told([{ by: press.login, line: '', done: false, text }])
    this.orWait({ by: press.login, line: pressLine(press) }, () => {
      const answers =
        asked === undefined || isAnswered(press, answered)
          ? []
          : refusal !== undefined
            ? refused(failureSaid(refusal))
            : press.commit !== unit.head
              ? refused(pressedBefore(press, unit.head))
              : told(this.inComment(requester, { commands: asked.commands, refused: [] }))
      this.answers.push(...answers)
      this.presses.push({ press, done: answers.every(({ done }) => done) })
    })
  }

  private inComment(requester: Requester, { commands, refused }: CommentCommands): readonly PlannedAnswer[] {
    const by = requester.login
    if (refused.length > 0) {
      const others = commands.map((command) => refusal(by, commandLine(command), 'not done, because another line of the comment cannot be'))
      return [...refused.map(({ line, why }) => refusal(by, line, markdownProse(why))), ...others]
    }
    const before = this.state
    try {
      const answers: PlannedAnswer[] = []
      for (const group of inOrder(commands)) {
        const work: Work = (state) => planCommand(this.ground, requester, group, state)
        const answer = this.answer(by, group.map(commandLine).join(' '), work, requester)
        answers.push(answer)
      }
      return answers
    } catch (thrown) {
      // A comment that waits is done as a whole the next time.
      this.state = before
      throw thrown
    }
  }

  /** @throws Failure that is worth another try: nothing of it is answered then */
  private answer(by: string, line: string, work: Work, requester?: Requester): PlannedAnswer {
    try {
      const { state, policy, ...said } = work(this.state)
      this.state = state
      return {
        by,
        line,
        done: true,
        ...said,
        ...(policy === undefined || requester === undefined ? {} : { policy: { change: policy, requester } }),
      }
    } catch (thrown) {
      if (!(thrown instanceof Failure) || mayWait(thrown)) throw thrown
      return refusal(by, line, failureSaid(thrown))
    }
  }

  private orWait(request: Omit<WaitingRequest, 'failure'>, work: () => void): void {
    try {
      work()
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      this.waiting.push({ ...request, failure: thrown })
    }
  }
}

/** Every answer has the id of what it answers. Bots answer each other for ever, so they are not even answered. */
export function isAnswered({ id, bot, button }: ButtonPress, answered: string): boolean {
  return bot || pressedCommand(button) === undefined || answered.includes(`,${id},`)
}

function pressedBefore({ commit }: ButtonPress, head: string): string {
  const [then, now] = [commit, head].map((each) => markdownCell(each.slice(0, 7)))
  return `it was pressed on ${then}, and this is at ${now} now (look at it again, and press the button there)`
}

/** A branch is taken back before anything is planned on it, and the plans of one comment are one. */
function inOrder(commands: readonly CommentCommand[]): readonly (readonly CommentCommand[])[] {
  const plans = commands.filter(({ verb }) => Object.hasOwn(RESOLUTIONS, verb))
  const recreates = commands.filter(({ verb }) => verb === 'recreate').slice(0, 1)
  const rest = commands.filter((command) => !plans.includes(command) && command.verb !== 'recreate')
  return [...recreates.map((one) => [one]), ...(plans.length === 0 ? [] : [plans]), ...rest.map((one) => [one])]
}

function refusal(by: string, line: string, text: string): PlannedAnswer {
  return { by, line, done: false, text }
}

/** Why somebody may not command; undefined where it is allowed. */
export function notAllowed(requester: Requester, owned: Parameters<typeof assertMayWrite>[1]): Failure | undefined {
  try {
    assertMayWrite(requester, owned)
    return undefined
  } catch (thrown) {
    return asFailure(thrown)
  }
}

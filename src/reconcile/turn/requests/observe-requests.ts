/**
 * Reads people's requests after the clusters and directly before planning
 * (docs/guides/pull-request-commands.md). The next turn finds requests without the answer `done` or
 * `refused` again.
 */
import type { RequestedAction, RequestedActionSource } from '@backporch/forge/check-run'
import type { HostedForge, Permission } from '@backporch/forge/hosted-forge'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import {
  findNotAllowed,
  formatRequestedAction,
  isAnswered,
} from '../../../plan/unit/commands/plan-requests.ts'
import type {
  CommentRequest,
  ProposalRequests,
  RequestedActionRequest,
  RequestedUnit,
  WaitingRequest,
} from '../../../plan/unit/commands/proposal-requests.ts'
import { ANSWER_TOPIC } from '../../../proposal/text/answer-comment.ts'
import { checkKey } from '../../../proposal/text/check-run-text.ts'
import { COMMANDS, parseCommentCommands } from '../../../proposal/text/comment-command.ts'
import { readTicks } from '../../../proposal/text/ticks.ts'
import { mapConcurrent } from '../../repository/each-of.ts'
import { readCodeOwners } from '../../repository/read-base-text.ts'
import { readPolicyFiles } from '../../repository/read-policies.ts'
import type { RepositoryView } from '../../repository/repository-view.ts'
import { type RequestScope, readRequestedUnits } from './read-requested-units.ts'

/** Comments per proposal and turn; the next turn executes the rest. */
const ACTED = 30
/** Answers per turn to people without command rights. */
const REFUSED = 10
/** People per proposal and turn whose rights are read. */
const ASKED = 30
/** Requested actions per proposal and turn. */
const REQUESTED = 20
const READ_AT_ONCE = 4

export const NO_REQUESTED_ACTIONS: RequestedActionSource = {
  listWaiting: () => [],
  removeAnswered: () => undefined,
}

export interface RequestObstacles {
  /** Comments that changed while their commands were planned. */
  readonly changed: Set<string>
  /** By proposal number: comments that cannot be read or marked. */
  readonly unread: Map<number, Failure>
}

export interface RequestsQuestion extends RequestScope {
  readonly requestedActions: RequestedActionSource
  readonly obstacles?: RequestObstacles | undefined
}

/** @throws Failure when the repository cannot be read; a proposal's failure is in its `unread` */
export async function observeRequests(
  view: RepositoryView,
  forge: HostedForge,
  question: RequestsQuestion,
  signal: AbortSignal,
): Promise<readonly ProposalRequests[]> {
  const { requestedActions, obstacles = { changed: new Set(), unread: new Map() } } = question
  const waiting = requestedActions.listWaiting()
  const units = await readRequestedUnits(view, question, signal)
  // A button without an open proposal belongs to no unit. A turn about some units does not see the
  // others' proposals.
  for (const requestedAction of question.units.only === undefined ? waiting : [])
    if (!units.some((unit) => isAbout(requestedAction, unit)))
      requestedActions.removeAnswered(requestedAction)
  const codeOwners = units.length === 0 ? '' : await readCodeOwners(view, signal)
  const all = await mapConcurrent(units, READ_AT_ONCE, (unit) => {
    const requested = waiting.filter((action) => isAbout(action, unit)).slice(0, REQUESTED)
    return new RequestReader({ view, forge, unit, codeOwners, obstacles }, signal).read(requested)
  })
  return all.filter(
    ({ ticks, comments, requestedActions: own, unread }) =>
      ticks.length + comments.length + own.length + unread.length > 0,
  )
}

function isAbout({ key }: RequestedAction, { proposal }: RequestedUnit): boolean {
  return key === checkKey(proposal.ref)
}

interface RequestSources extends Pick<ProposalRequests, 'unit' | 'codeOwners'> {
  readonly view: RepositoryView
  readonly forge: HostedForge
  readonly obstacles: RequestObstacles
}

class RequestReader {
  private readonly sources: RequestSources
  private readonly signal: AbortSignal
  private readonly unread: WaitingRequest[] = []
  private readonly permissions = new Map<string, Permission>()

  constructor(sources: RequestSources, signal: AbortSignal) {
    this.sources = sources
    this.signal = signal
  }

  async read(requested: readonly RequestedAction[]): Promise<ProposalRequests> {
    const { signal } = this
    const { view, unit, codeOwners, forge } = this.sources
    const comments =
      (await this.readOrSkip('', 'reading the comments', () => this.observeComments())) ?? []
    const ticks = readTicks(unit.proposal.body).filter(({ drift }) => unit.drifts.includes(drift))
    const nothing = comments.length + ticks.length + requested.length === 0
    const answered = nothing
      ? ''
      : await this.readOrSkip(
          '',
          'reading the answers',
          async () =>
            (await forge.readOwnComment(unit.proposal.number, ANSWER_TOPIC, signal)) ?? '',
        )
    // Without the earlier answers it is unknown which requested action was answered.
    const requestedActions =
      answered === undefined ? [] : await this.observeRequestedActions(requested, answered)
    const isPolicy = comments.some(({ commands }) =>
      commands.commands.some(({ verb }) => COMMANDS[verb].readsPolicy === true),
    )
    return {
      unit,
      ticks: answered === undefined ? [] : ticks,
      comments: answered === undefined ? [] : comments,
      requestedActions,
      answered: answered ?? '',
      codeOwners,
      policyFiles: isPolicy ? await readPolicyFiles(view.repository, view.tree, signal) : [],
      unread: this.unread,
    }
  }

  /**
   * Oldest text first, after those of people with command rights, so that a flood delays no
   * command.
   */
  private async observeComments(): Promise<readonly CommentRequest[]> {
    const { unit, codeOwners, forge, obstacles } = this.sources
    const obstacle = obstacles.unread.get(unit.proposal.number)
    if (obstacle !== undefined) throw obstacle
    const open = (await forge.readComments(unit.proposal.number, this.signal)).flatMap(
      (comment) => {
        // They would answer each other forever.
        if (comment.answered || comment.bot) return []
        const commands = parseCommentCommands(comment.body)
        return commands.commands.length + commands.refused.length === 0
          ? []
          : [{ comment, commands }]
      },
    )
    open.sort((left, right) =>
      left.comment.at === right.comment.at ? 0 : left.comment.at < right.comment.at ? -1 : 1,
    )
    const known: CommentRequest[] = []
    for (const { comment, commands } of open) {
      // The text's last editor gives the command. If the forge does not report the editor, the
      // command is refused.
      const login = comment.writer ?? comment.author
      const permission = await this.findPermission(login)
      if (permission === undefined) continue
      const requester = { login, permission, comment: comment.id, at: comment.at }
      const disallowed = findNotAllowed(requester, { ...unit, codeOwners })
      const edited = obstacles.changed.has(comment.id)
        ? createEditedMeanwhileFailure()
        : comment.writer === undefined
          ? createUnknownWriterFailure()
          : undefined
      const refusal = disallowed ?? edited
      known.push({ comment, commands, requester, refusal, mayCommand: disallowed === undefined })
    }
    const acted = known.filter(({ mayCommand }) => mayCommand).slice(0, ACTED)
    return [...acted, ...known.filter(({ mayCommand }) => !mayCommand).slice(0, REFUSED)]
  }

  private async observeRequestedActions(
    requested: readonly RequestedAction[],
    answered: string,
  ): Promise<readonly RequestedActionRequest[]> {
    const requests: RequestedActionRequest[] = []
    for (const requestedAction of requested) {
      const { login, id, at } = requestedAction
      const permission = isAnswered(requestedAction, answered)
        ? 'none'
        : await this.readOrSkip(
            login,
            formatRequestedAction(requestedAction),
            async () => (await this.findPermission(login)) ?? 'none',
          )
      if (permission !== undefined)
        requests.push({ requestedAction, requester: { login, permission, comment: id, at } })
    }
    return requests
  }

  private async findPermission(login: string): Promise<Permission | undefined> {
    const known = this.permissions.get(login)
    if (known !== undefined || this.permissions.size === ASKED) return known
    const permission = await this.sources.forge.permissionOf(login, this.signal)
    this.permissions.set(login, permission)
    return permission
  }

  private async readOrSkip<Answer>(
    by: string,
    line: string,
    work: () => Promise<Answer>,
  ): Promise<Answer | undefined> {
    try {
      return await work()
    } catch (thrown) {
      this.signal.throwIfAborted()
      if (!(thrown instanceof Failure)) throw thrown
      this.unread.push({ by, line, failure: convertToFailure(thrown) })
      return undefined
    }
  }
}

function createUnknownWriterFailure(): Failure {
  return createNotActedOnFailure(
    'the forge does not tell which person wrote the text that it has now',
  )
}

function createEditedMeanwhileFailure(): Failure {
  return createNotActedOnFailure('that happened while its command was about to be done')
}

function createNotActedOnFailure(why: string): Failure {
  const what = 'the comment was edited, and its command is not done'
  return new Failure({
    code: 'BP2013',
    what,
    why,
    remedy: 'write the command in a new comment',
    retry: 'on-change',
  })
}

/**
 * Does what people write on open proposals: commands in comments, ticked boxes (`ux.md` §2.5). Before the turn, which then shows it.
 * What was not answered with `done` or `refused` is found again by the next call, and every command may be done twice: a process
 * that ends anywhere in between loses and doubles nothing.
 */
import { asFailure, Failure } from '../failure.ts'
import { assertMayWrite, type Commenter } from '../plan/comment-rights.ts'
import type { ButtonPress, PressSource } from '../ports/check-run.ts'
import type { ForgeComment, HostedForge, OpenedProposal } from '../ports/hosted-forge.ts'
import { answerComment, type ToldAnswer } from '../proposal/answer-comment.ts'
import { failureSaid } from '../proposal/command-answer.ts'
import { type CommentCommands, parseCommentCommands } from '../proposal/comment-command.ts'
import { readTicks, type Tick } from '../proposal/ticks.ts'
import { oneLine } from '../record/one-line.ts'
import { answerCommands, answerTicks } from './answer-commands.ts'
import type { Asker, Desk } from './answer-desk.ts'
import { answerPress, isAbout, pressLine } from './answer-presses.ts'
import { type AskedUnit, askedUnits } from './answer-unit.ts'
import { eachOf } from './each-of.ts'
import { lookAtRepository } from './observe-units.ts'
import { forgetPolicyBranches } from './propose-policy.ts'
import { readCodeOwners } from './read-base-text.ts'
import type { FleetPorts, TurnPorts, TurnRequest } from './run-turn.ts'
import { isHosted } from './tell-forge.ts'

export interface Answer {
  readonly proposal: OpenedProposal
  /** Login; empty for a ticked box. */
  readonly by: string
  /** What was asked, in one line. */
  readonly line: string
  /** `waiting`: could not be done now, and is tried again. */
  readonly outcome: 'done' | 'refused' | 'waiting'
  /** Why it is waiting; undefined otherwise. */
  readonly failure?: Failure
}

const ANSWER_TOPIC = 'command'
/** Comments of one proposal that are acted on in one call; the rest is for the next. */
const ACTED = 30
/** Comments of people without the right to command that are answered in one call. */
const REFUSED = 10
/** People of whom the forge is asked in one call, for each proposal. */
const ASKED = 30
/** Presses that one call answers for each proposal; the rest is for the next. */
const PRESSED = 20
/** Proposals whose comments are read at once. */
const READ_AT_ONCE = 4
const NO_PRESSES: PressSource = { waiting: () => [], answered: () => undefined }

/** One cluster. @throws Failure when the repository or the forge cannot be read; of one proposal it is in its answer */
export async function answerProposals(ports: TurnPorts, request: TurnRequest, signal: AbortSignal): Promise<readonly Answer[]> {
  return answerFleetProposals({ ...ports, clusters: [ports.cluster] }, request, signal)
}

/** @param presses of buttons on checks; those of no open proposal here are nobody's @throws Failure as `answerProposals` */
export async function answerFleetProposals(
  ports: FleetPorts,
  request: TurnRequest,
  signal: AbortSignal,
  presses: PressSource = NO_PRESSES,
): Promise<readonly Answer[]> {
  const { forge, clusters } = ports
  if (!isHosted(forge) || request.dryRun) return []
  const view = await lookAtRepository(ports, request, signal)
  await forgetPolicyBranches(view, forge, signal)
  // Those that come meanwhile may be of a proposal that was not read.
  const pressed = presses.waiting()
  const units = await askedUnits(view, clusters, request, signal)
  for (const press of pressed) if (!units.some((unit) => isAbout(press, unit))) presses.answered(press)
  if (units.length === 0) return []
  const codeOwners = await readCodeOwners(view, signal)
  const answers: Answer[] = []
  const comments = await eachOf(units, READ_AT_ONCE, ({ proposal }) => forge.readComments(proposal.number, signal).catch(asFailure))
  signal.throwIfAborted()
  for (const [place, unit] of units.entries()) {
    const desk: Desk = { unit, view, forge, comments: comments[place] ?? [], codeOwners, request, ports, signal }
    const own = pressed.filter((press) => isAbout(press, unit)).slice(0, PRESSED)
    answers.push(...(await answerOne(desk, own, (press) => presses.answered(press))))
  }
  return answers
}

/** Proposals with a ticked box that could not be looked after yet: their text must keep it. */
export function waitingTicks(answers: readonly Answer[]): ReadonlySet<number> {
  const waiting = answers.filter(({ by, outcome }) => outcome === 'waiting' && by === '')
  return new Set(waiting.flatMap(({ proposal: { number } }) => (number === undefined ? [] : [number])))
}

async function answerOne(desk: Desk, presses: readonly ButtonPress[], answered: (press: ButtonPress) => void): Promise<readonly Answer[]> {
  const { unit, forge, signal } = desk
  const results: ToldAnswer[] = []
  const reactions: { readonly comment: ForgeComment; readonly done: boolean }[] = []
  const waiting: Answer[] = []
  await orWait(waiting, unit, '', 'a ticked box', signal, async () => {
    results.push(...(await answerTicks(desk, ticksOf(unit))))
  })
  await orWait(waiting, unit, '', 'reading the comments', signal, async () => {
    for (const asked of await commandsAsked(desk)) {
      const { comment, commands, refusal } = asked
      const by = asked.asker.login
      const line = oneLine(comment.body.split('\n').find((each) => each.startsWith('/')) ?? '', 100)
      await orWait(waiting, unit, by, line, signal, async () => {
        const own =
          refusal === undefined
            ? await answerCommands(desk, asked.asker, commands)
            : [{ by, line, done: false, text: failureSaid(refusal) }]
        const { id, at, author } = comment
        const { heard } = asked
        results.push(...own.map((result) => ({ ...result, asked: { comment: id, at, author, heard } })))
        reactions.push({ comment, done: own.every(({ done }) => done) })
      })
    }
  })
  const refusedPresses: ButtonPress[] = []
  const before = await ownAnswers(desk, presses, waiting)
  for (const press of before === undefined ? [] : presses) {
    await orWait(waiting, unit, press.login, pressLine(press), signal, async () => {
      const own = await answerPress(desk, press, before ?? '')
      results.push(...own)
      // What is done is not done again, said or not: the commit that the button was on may be gone by it.
      if (own.every(({ done }) => done)) answered(press)
      else refusedPresses.push(press)
    })
  }
  // Said before it is marked as answered: what was not said is done again.
  await orWait(waiting, unit, '', 'the answer to commands', signal, async () => {
    await say(
      desk,
      results.filter(({ by, done }) => by !== '' || !done),
    )
    for (const press of refusedPresses) answered(press)
    for (const { comment, done } of reactions) await forge.react(comment, done ? 'done' : 'refused', signal)
  })
  const told = results.map(({ by, line, done }): Answer => ({ proposal: unit.proposal, by, line, outcome: done ? 'done' : 'refused' }))
  return [...told, ...waiting]
}

/** What earlier calls said, where somebody pressed a button; undefined where it cannot be read now. */
async function ownAnswers({ unit, forge, signal }: Desk, presses: readonly ButtonPress[], waiting: Answer[]): Promise<string | undefined> {
  let before: string | undefined
  if (presses.length === 0) return before
  await orWait(waiting, unit, '', 'reading the answers', signal, async () => {
    before = (await forge.readOwnComment(unit.proposal.number, ANSWER_TOPIC, signal)) ?? ''
  })
  return before
}

/** Beside what earlier calls said: a command that is done again is said once. */
async function say({ unit, forge, signal }: Desk, results: readonly ToldAnswer[]): Promise<void> {
  if (results.length === 0) return
  const { number } = unit.proposal
  const before = (await forge.readOwnComment(number, ANSWER_TOPIC, signal)) ?? ''
  await forge.ensureComment(number, ANSWER_TOPIC, answerComment(before, results, forge.dialect.bodyLimit), signal)
}

/** What the forge or the cluster cannot give now holds up no other proposal, and is asked for again. */
async function orWait(
  waiting: Answer[],
  { proposal }: AskedUnit,
  by: string,
  line: string,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    if (!(thrown instanceof Failure) || signal.aborted) throw thrown
    waiting.push({ proposal, by, line, outcome: 'waiting', failure: asFailure(thrown) })
  }
}

/** A box that was drawn for another drift is nobody's wish. */
function ticksOf({ proposal, drifts }: AskedUnit): readonly Tick[] {
  return readTicks(proposal.body).filter(({ drift }) => drifts.includes(drift))
}

interface AskedCommands {
  readonly comment: ForgeComment
  readonly commands: CommentCommands
  readonly asker: Asker
  /** Why nothing of it is done. */
  readonly refusal: Failure | undefined
  /** Who asks may command here. */
  readonly heard: boolean
}

/** Oldest text first, and those of people who may command before all others: whoever floods a proposal holds up nobody. */
async function commandsAsked(desk: Desk): Promise<readonly AskedCommands[]> {
  const { unit, forge, comments, codeOwners, signal } = desk
  if (comments instanceof Failure) throw comments
  const open = comments.flatMap((comment) => {
    // Bots answer each other for ever, so they are not even answered.
    if (comment.answered || comment.bot) return []
    const commands = parseCommentCommands(comment.body)
    return commands.commands.length + commands.refused.length === 0 ? [] : [{ comment, commands }]
  })
  // What was said last decides, wherever it stands.
  open.sort((left, right) => (left.comment.at === right.comment.at ? 0 : left.comment.at < right.comment.at ? -1 : 1))
  if (open.length === 0) return []
  const permissions = await permissionsOf(
    forge,
    open.map(({ comment }) => whose(comment)),
    signal,
  )
  const known = open.flatMap((each): AskedCommands[] => {
    const { comment } = each
    const commenter = permissions.get(whose(comment))
    if (commenter === undefined) return []
    const disallowed = notAllowed(commenter, { ...unit, codeOwners })
    const refusal = disallowed ?? (comment.writer === undefined ? unknownWriter() : undefined)
    const asker = { ...commenter, comment: comment.id, at: comment.at }
    return [{ ...each, asker, refusal, heard: disallowed === undefined }]
  })
  const acted = known.filter(({ heard }) => heard).slice(0, ACTED)
  const refused = known.filter(({ heard }) => !heard).slice(0, REFUSED)
  for (const { comment } of acted) await forge.react(comment, 'seen', signal)
  return [...(await unchanged(desk, acted)), ...refused]
}

/** The command is of whoever wrote the text last. Where that is not told it is refused, to the author. */
function whose({ writer, author }: ForgeComment): string {
  return writer ?? author
}

async function permissionsOf(forge: HostedForge, logins: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Commenter>> {
  const permissions = new Map<string, Commenter>()
  for (const login of new Set(logins)) {
    if (permissions.size === ASKED) break
    permissions.set(login, { login, permission: await forge.permissionOf(login, signal) })
  }
  return permissions
}

function notAllowed(commenter: Commenter, owned: Parameters<typeof assertMayWrite>[1]): Failure | undefined {
  try {
    assertMayWrite(commenter, owned)
    return undefined
  } catch (thrown) {
    return asFailure(thrown)
  }
}

/** Read once more right before anything is done: nobody's words are acted on that somebody else changed, or that were taken back. */
async function unchanged({ unit, forge, signal }: Desk, asked: readonly AskedCommands[]): Promise<AskedCommands[]> {
  if (asked.length === 0) return []
  const now = new Map((await forge.readComments(unit.proposal.number, signal)).map((comment) => [comment.id, comment]))
  return asked.flatMap((each) => {
    const comment = now.get(each.comment.id)
    if (comment === undefined || comment.answered) return []
    const same = comment.body === each.comment.body && comment.writer === each.comment.writer
    return [same ? each : { ...each, refusal: editedMeanwhile() }]
  })
}

function unknownWriter(): Failure {
  return notActedOn('the forge does not tell which person wrote the text that it has now')
}

function editedMeanwhile(): Failure {
  return notActedOn('that happened while its command was about to be done')
}

function notActedOn(why: string): Failure {
  const what = 'the comment was edited, and its command is not done'
  return new Failure({ code: 'BP2013', what, why, remedy: 'write the command in a new comment', retry: 'on-change' })
}

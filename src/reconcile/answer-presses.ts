/**
 * Does what people press on the check of a proposal (docs/adr/0017): what the command of the same name would, for whoever pressed, asked
 * of the forge like for a comment. A press that was answered stands in the comment about commands, so one that comes again does nothing.
 */
import { asFailure, type Failure } from '../failure.ts'
import { assertMayWrite, type Commenter } from '../plan/comment-rights.ts'
import type { ButtonPress } from '../ports/check-run.ts'
import type { ToldAnswer } from '../proposal/answer-comment.ts'
import { pressedCommand } from '../proposal/check-run-buttons.ts'
import { checkKey } from '../proposal/check-run-text.ts'
import { type CommandResult, failureSaid } from '../proposal/command-answer.ts'
import { markdownCell } from '../record/markdown-text.ts'
import { answerCommands } from './answer-commands.ts'
import type { Desk } from './answer-desk.ts'
import type { AskedUnit } from './answer-unit.ts'

/** Whether the button is one of this proposal's, at whatever commit. */
export function isAbout({ key }: ButtonPress, { proposal }: AskedUnit): boolean {
  return key === checkKey(proposal.ref)
}

/** As it stands in the answer: `button Snooze 7d`. */
export function pressLine({ button }: ButtonPress): string {
  return `button ${pressedCommand(button)?.label ?? '?'}`
}

/**
 * Nothing for a press that was answered before, for one of a bot (bots answer each other for ever), and for a button that there is not.
 * @param before the comment about commands as it stands; empty where there is none
 * @throws Failure that is worth another try: nothing of it is answered then
 */
export async function answerPress(desk: Desk, press: ButtonPress, before: string): Promise<readonly ToldAnswer[]> {
  const { unit, view, forge, codeOwners, signal } = desk
  const asked = pressedCommand(press.button)
  // Every answer in that comment has the id of what it answers.
  if (asked === undefined || press.bot || before.includes(`,${press.id},`)) return []
  const { login, id, at } = press
  const commenter: Commenter = { login, permission: await forge.permissionOf(login, signal) }
  const refusal = notAllowed(commenter, { ...unit, codeOwners })
  const told = (results: readonly CommandResult[]): readonly ToldAnswer[] =>
    results.map((result) => ({ ...result, line: pressLine(press), asked: { comment: id, at, heard: refusal === undefined } }))
  const refused = (text: string) => told([{ by: login, line: '', done: false, text }])
  if (refusal !== undefined) return refused(failureSaid(refusal))
  const head = view.refs.get(unit.proposal.ref) ?? ''
  if (press.commit !== head) {
    const [then, now] = [press.commit, head].map((commit) => markdownCell(commit.slice(0, 7)))
    return refused(`it was pressed on ${then}, and this is at ${now} now (look at it again, and press the button there)`)
  }
  return told(await answerCommands(desk, { ...commenter, comment: id, at }, { commands: asked.commands, refused: [] }))
}

function notAllowed(commenter: Commenter, owned: Parameters<typeof assertMayWrite>[1]): Failure | undefined {
  try {
    assertMayWrite(commenter, owned)
    return undefined
  } catch (thrown) {
    return asFailure(thrown)
  }
}

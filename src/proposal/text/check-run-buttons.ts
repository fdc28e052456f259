/**
 * The buttons of a check run. Each equals a comment command (docs/adr/0017-check-run-buttons.md).
 */
import type { CheckButton } from '@backporch/forge/check-run'
import { type CommentCommand, parseCommentCommands } from './comment-command.ts'

interface Button extends CheckButton {
  readonly command: string
}

const ADOPT: Button = {
  id: 'adopt',
  label: 'Switch to adopt',
  description: 'git adopts the live values',
  command: '/adopt',
}
const SNOOZE: Button = {
  id: 'snooze-7d',
  label: 'Snooze 7d',
  description: 'no reminders for a week',
  command: '/snooze 7d',
}
const RECHECK: Button = {
  id: 'recheck',
  label: 'Re-check',
  description: 'checks the cluster again now',
  command: '/recheck',
}
const BUTTONS = [ADOPT, SNOOZE, RECHECK]

export function checkButtons(adoptable: boolean): readonly CheckButton[] {
  const shown = adoptable ? BUTTONS : BUTTONS.filter((button) => button !== ADOPT)
  return shown.map(({ id, label, description }) => ({ id, label, description }))
}

/** Undefined for an id that no Backporch version used. */
export function findActionCommands(
  id: string,
): { readonly label: string; readonly commands: readonly CommentCommand[] } | undefined {
  const button = BUTTONS.find((one) => one.id === id)
  return button === undefined
    ? undefined
    : { label: button.label, commands: parseCommentCommands(button.command).commands }
}

/** The only part of any webhook that is trusted (docs/adr/0017). */
import type { RequestedAction } from '../ports/check-run.ts'

export const CHECK_NAME = 'backporch'
/** GitHub's own "Re-run". */
const RERUN = 'recheck'

/** Undefined for anything but a Backporch button. Never throws. */
export function parseRequestedAction(
  value: unknown,
): Pick<RequestedAction, 'key' | 'commit' | 'button' | 'login' | 'bot'> | undefined {
  const run = getOwnKey(value, 'check_run')
  if (getOwnKey(run, 'name') !== CHECK_NAME) return undefined
  const action = getOwnKey(value, 'action')
  const button =
    action === 'rerequested'
      ? RERUN
      : action === 'requested_action'
        ? getOwnKey(getOwnKey(value, 'requested_action'), 'identifier')
        : ''
  const key = convertToText(getOwnKey(run, 'external_id')).split('.')[0] ?? ''
  const commit = convertToText(getOwnKey(run, 'head_sha'))
  const sender = getOwnKey(value, 'sender')
  const login = convertToText(getOwnKey(sender, 'login'))
  if (
    !/^[a-z0-9-]{1,20}$/.test(convertToText(button)) ||
    !/^[0-9a-f]{16}$/.test(key) ||
    !/^[0-9a-f]{40}$/.test(commit)
  )
    return undefined
  if (!/^[A-Za-z0-9_-]{1,100}(\[bot\])?$/.test(login)) return undefined
  return {
    key,
    commit,
    button: convertToText(button),
    login,
    bot: getOwnKey(sender, 'type') !== 'User' || login.endsWith('[bot]'),
  }
}

function convertToText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function getOwnKey(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined
}

import { convertToOneLine } from '@backporch/kyaml/text'
import type { Terminal } from '../context/terminal.ts'

/** Relative on a terminal, RFC 3339 in a pipe. */
export function formatTimeText(
  at: string | undefined,
  view: { readonly now: number },
  terminal: Terminal,
): string {
  if (at === undefined) return '-'
  const time = Date.parse(at)
  return terminal.isTTY && !Number.isNaN(time)
    ? `${formatAge(view.now - time)} ago`
    : convertToOneLine(at, 40)
}

/** Like kubectl. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`
  return `${Math.floor(seconds / 86_400)}d`
}

/** @param since RFC 3339 UTC or an age; undefined if unknown */
export function describeStuckSince(since: string | undefined): string {
  return since === undefined ? 'stuck' : `stuck since ${since}`
}

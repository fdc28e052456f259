import type { Change } from '../../record/documents/change.ts'
import { formatSides, parseHiddenBytes } from '../../record/format-value.ts'
import type { Terminal } from '../context/terminal.ts'

export function formatChangeValues(change: Change, terminal: Terminal, limit: number): string {
  const shown = formatSidesText(change, terminal, limit)
  const [git, live] = [parseHiddenBytes(change.git), parseHiddenBytes(change.live)]
  const sizes = [git, live].every((size) => size === undefined)
    ? ''
    : ` (${formatSizes(change, git, live, terminal)} bytes)`
  return `${shown.git} ${terminal.getGlyph('arrow')} ${shown.live}${sizes}`
}

export function formatSidesText(
  change: Change,
  terminal: Terminal,
  limit = 40,
): { readonly git: string; readonly live: string } {
  const shown = formatSides(change, limit)
  const signs = (side: 'git' | 'live'): string =>
    change[side] === undefined
      ? terminal.getGlyph('nothing')
      : shown[side].replace('••••', terminal.getGlyph('hidden'))
  return { git: signs('git'), live: signs('live') }
}

/** `?` for an unread side. */
function formatSizes(
  change: Change,
  git: number | undefined,
  live: number | undefined,
  terminal: Terminal,
): string {
  if (change.git === undefined) return String(live)
  if (change.live === undefined) return String(git)
  return `${git ?? '?'} ${terminal.getGlyph('arrow')} ${live ?? '?'}`
}

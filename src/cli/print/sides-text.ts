import type { Change } from '../../record/documents/change.ts'
import { formatSides, hiddenBytes } from '../../record/format-value.ts'
import type { Terminal } from '../context/terminal.ts'

export function valuesOf(change: Change, terminal: Terminal, limit: number): string {
  const shown = sidesText(change, terminal, limit)
  const [git, live] = [hiddenBytes(change.git), hiddenBytes(change.live)]
  const sizes = [git, live].every((size) => size === undefined)
    ? ''
    : ` (${sizesOf(change, git, live, terminal)} bytes)`
  return `${shown.git} ${terminal.glyph('arrow')} ${shown.live}${sizes}`
}

export function sidesText(
  change: Change,
  terminal: Terminal,
  limit = 40,
): { readonly git: string; readonly live: string } {
  const shown = formatSides(change, limit)
  const signs = (side: 'git' | 'live'): string =>
    change[side] === undefined
      ? terminal.glyph('nothing')
      : shown[side].replace('••••', terminal.glyph('hidden'))
  return { git: signs('git'), live: signs('live') }
}

/** `?` for an unread side. */
function sizesOf(
  change: Change,
  git: number | undefined,
  live: number | undefined,
  terminal: Terminal,
): string {
  if (change.git === undefined) return String(live)
  if (change.live === undefined) return String(git)
  return `${git ?? '?'} ${terminal.glyph('arrow')} ${live ?? '?'}`
}

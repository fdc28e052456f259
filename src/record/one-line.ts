/**
 * Text from a cluster or from git on its way into a line of a commit message, a terminal or a trailer: it stays one line,
 * shows what it hides (control, bidirectional and zero-width characters as `\u{…}`), and cannot grow without bound.
 * Sources of the list: Unicode TR36 §3.2 and the advisories named in docs/facts/untrusted-text.md.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

export function oneLine(text: string, limit = 120): string {
  const seen = text.replace(UNSAFE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
  // The runner of GitHub Actions takes `##[command]` for a command wherever it stands in a line of a log.
  const safe = seen.replaceAll('##[', '#\\u{23}[')
  const points = Array.from(safe)
  return points.length <= limit ? safe : `${points.slice(0, limit - 1).join('')}…`
}

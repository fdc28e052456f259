/** What src/text/phrase.ts keeps apart, as Markdown: our words as they are, everything else in code. */

import { markdownCell, markdownProse } from '../../text/markdown-text.ts'
import type { Phrase } from '../../text/phrase.ts'

/** Nothing that Markdown or a forge would act on. */
const HARMLESS = /^(?:[A-Za-z0-9 ,;()'-]|(?<=[a-z])\/|[.:](?= |$))*$/

/** For prose and for cells of a table. `limit`: characters of each name. */
export function phraseMarkdown(sentence: Phrase, limit = 300): string {
  const parts: { ours: boolean; text: string }[] = []
  for (const part of sentence) {
    const [ours, text] = typeof part === 'string' ? [true, part] : [false, part.name]
    const last = parts.at(-1)
    // Two pieces of code side by side would be read as one.
    if (last !== undefined && last.ours === ours) last.text += text
    else parts.push({ ours, text })
  }
  return parts
    .map(({ ours, text }) => (ours ? words(text) : markdownCell(text, limit)))
    .reduce((left, right) => (left.endsWith('`') && right.startsWith('`') ? `${left} ${right}` : left + right), '')
}

/** Words that are not harmless after all are treated as anybody's; the blanks around them stay. */
function words(text: string): string {
  if (HARMLESS.test(text)) return text
  const [, before = '', core = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? []
  return `${before === '' ? '' : ' '}${markdownProse(core, 1_000)}${after === '' ? '' : ' '}`
}

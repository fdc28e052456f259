/** Formats a sentence as Markdown, with every name as code. */
import { formatMarkdownCell, formatMarkdownProse } from '@backporch/kyaml/markdown'
import type { Phrase } from '@backporch/kyaml/text'

const HARMLESS = /^(?:[A-Za-z0-9 ,;()'-]|(?<=[a-z])\/|[.:](?= |$))*$/

/** `limit`: characters per name. */
export function phraseMarkdown(sentence: Phrase, limit = 300): string {
  const parts: { ours: boolean; text: string }[] = []
  for (const part of sentence) {
    const [ours, text] = typeof part === 'string' ? [true, part] : [false, part.name]
    const last = parts.at(-1)
    // Adjacent pieces of code read as one.
    if (last !== undefined && last.ours === ours) last.text += text
    else parts.push({ ours, text })
  }
  return parts
    .map(({ ours, text }) => (ours ? formatWords(text) : formatMarkdownCell(text, limit)))
    .reduce(
      (left, right) =>
        left.endsWith('`') && right.startsWith('`') ? `${left} ${right}` : left + right,
      '',
    )
}

/** Words that are not harmless are encoded like foreign text. */
function formatWords(text: string): string {
  if (HARMLESS.test(text)) return text
  const [, before = '', core = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? []
  return `${before === '' ? '' : ' '}${formatMarkdownProse(core, 1_000)}${after === '' ? '' : ' '}`
}

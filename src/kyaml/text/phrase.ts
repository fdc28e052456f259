/** A sentence with separate external texts, which each sink encodes: Markdown as code, a terminal as it is. */
import { cut, visible } from './foreign-text.ts'

/** Constant words as strings; names, durations and reasons from a cluster as `name`. */
type PhrasePart = string | { readonly name: string }
export type Phrase = readonly PhrasePart[]

const LONGEST_NAME = 300

/** Template tag: an interpolated text is a name, and an interpolated phrase a part. */
export function phrase(
  texts: TemplateStringsArray,
  ...values: readonly (string | Phrase)[]
): Phrase {
  return texts.flatMap((text, index) => {
    const value = values[index]
    const parts: Phrase =
      value === undefined ? [] : typeof value === 'string' ? [{ name: printable(value) }] : value
    return text === '' ? parts : [text, ...parts]
  })
}

/** One line of visible characters, which cannot move a cursor, hide or turn anything round. */
export function plain(sentence: Phrase): string {
  return sentence.map((part) => (typeof part === 'string' ? part : part.name)).join('')
}

export function joined(sentences: readonly Phrase[], between: string): Phrase {
  return sentences.flatMap((sentence, index) => (index === 0 ? sentence : [between, ...sentence]))
}

/** `a`, `a and b`, `a, b and 3 more`. */
export function listed(items: readonly Phrase[], most = 4): Phrase {
  const shown = items.slice(0, items.length > most ? most - 1 : most)
  const rest = items.length - shown.length
  if (rest > 0) return [...joined(shown, ', '), ` and ${rest} more`]
  return shown.length < 2
    ? joined(shown, '')
    : [...joined(shown.slice(0, -1), ', '), ' and ', ...(shown.at(-1) ?? [])]
}

function printable(text: string): string {
  return cut(visible(text), LONGEST_NAME)
}

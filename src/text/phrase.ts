/**
 * A sentence in which our words and what came from outside stay apart, so that each sink encodes the latter in its own way:
 * Markdown as code, a terminal as it is.
 */
import { cut, visible } from './foreign-text.ts'

/** Our own words as plain strings; names, durations and reasons from a cluster as `name`. */
export type PhrasePart = string | { readonly name: string }
export type Phrase = readonly PhrasePart[]

const LONGEST_NAME = 300

/** Template: what is interpolated is a name from outside, unless it is itself a phrase. */
export function phrase(texts: TemplateStringsArray, ...values: readonly (string | Phrase)[]): Phrase {
  return texts.flatMap((text, index) => {
    const value = values[index]
    const parts: Phrase = value === undefined ? [] : typeof value === 'string' ? [{ name: printable(value) }] : value
    return text === '' ? parts : [text, ...parts]
  })
}

/** As one line of what can be seen, so that it cannot move a cursor, hide or turn anything round wherever it is printed. */
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
  return shown.length < 2 ? joined(shown, '') : [...joined(shown.slice(0, -1), ', '), ' and ', ...(shown.at(-1) ?? [])]
}

function printable(text: string): string {
  return cut(visible(text), LONGEST_NAME)
}

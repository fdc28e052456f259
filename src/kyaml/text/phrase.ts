/** Each sink encodes external texts: Markdown as code, a terminal as they are. */
import { cut, escapeUnseen } from './foreign-text.ts'

/** External texts are a `name`. */
type PhrasePart = string | { readonly name: string }
export type Phrase = readonly PhrasePart[]

const LONGEST_NAME = 300

export function phrase(
  texts: TemplateStringsArray,
  ...values: readonly (string | Phrase)[]
): Phrase {
  return texts.flatMap((text, index) => {
    const value = values[index]
    const parts: Phrase =
      value === undefined
        ? []
        : typeof value === 'string'
          ? [{ name: formatPrintable(value) }]
          : value
    return text === '' ? parts : [text, ...parts]
  })
}

export function formatPhrase(sentence: Phrase): string {
  return sentence.map((part) => (typeof part === 'string' ? part : part.name)).join('')
}

export function joinPhrases(sentences: readonly Phrase[], between: string): Phrase {
  return sentences.flatMap((sentence, index) => (index === 0 ? sentence : [between, ...sentence]))
}

/** `a, b and 3 more`. */
export function listPhrases(items: readonly Phrase[], most = 4): Phrase {
  const shown = items.slice(0, items.length > most ? most - 1 : most)
  const rest = items.length - shown.length
  if (rest > 0) return [...joinPhrases(shown, ', '), ` and ${rest} more`]
  return shown.length < 2
    ? joinPhrases(shown, '')
    : [...joinPhrases(shown.slice(0, -1), ', '), ' and ', ...(shown.at(-1) ?? [])]
}

function formatPrintable(text: string): string {
  return cut(escapeUnseen(text), LONGEST_NAME)
}

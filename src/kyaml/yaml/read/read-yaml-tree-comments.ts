import type { YamlEntry } from '../yaml-node.ts'
import type { YamlTokens } from './read-yaml-tokens.ts'

export interface Comments {
  readonly headComment: string
  readonly lineComment: string
  readonly footComment: string
}

export const NO_COMMENTS: Comments = { headComment: '', lineComment: '', footComment: '' }

export class TreeComments {
  private readonly tokens: YamlTokens
  /** The comment above a dash, for the map or list of the item. */
  private stem = ''

  constructor(tokens: YamlTokens) {
    this.tokens = tokens
  }

  /** The first comments of a document above their last empty line. */
  takeDocumentHead(): string {
    const { tokens } = this
    const { head } = tokens
    for (let at = head.length - 1; at > 0; at -= 1)
      if (head[at] === '\n' && (at === head.length - 1 || head[at - 1] === '\n')) {
        tokens.head = head.slice(at + 1)
        return head.slice(0, at === head.length - 1 ? at : at - 1)
      }
    return ''
  }

  take(): Comments {
    const { tokens } = this
    this.stem = ''
    const { head, line, foot } = tokens
    if (head === '' && line === '' && foot === '') return NO_COMMENTS
    tokens.head = ''
    tokens.line = ''
    tokens.foot = ''
    return { headComment: head, lineComment: line, footComment: foot }
  }

  takeStem(): Comments {
    const { stem } = this
    this.stem = ''
    return stem === '' ? NO_COMMENTS : { ...NO_COMMENTS, headComment: stem }
  }

  /** A comment above the dash belongs to the whole map or list after it, not to its first entry. */
  splitStem(length: number): void {
    if (length === 0) return
    const { tokens } = this
    const { kind } = tokens.readCurrent()
    if (kind !== 'list-start' && kind !== 'map-start') return
    this.stem = tokens.head.slice(0, length)
    tokens.head = tokens.head.slice(length + 1)
  }
}

export function moveFootToKey(entry: YamlEntry): YamlEntry {
  const { key, value } = entry
  if (key.footComment === '' && value.footComment !== '') {
    key.footComment = value.footComment
    value.footComment = ''
  }
  return entry
}

/** The tokens of a document, as go-yaml's scanner has them. */
import type { ScalarText } from './read-yaml-scalar.ts'

export type TokenKind =
  | 'stream-start'
  | 'stream-end'
  | 'document-start'
  | 'document-end'
  | 'list-start'
  | 'map-start'
  | 'block-end'
  | '['
  | ']'
  | '{'
  | '}'
  | ','
  | '-'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'

export interface YamlToken {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
  /** The name of an anchor or alias, or the short form of a tag. */
  readonly name?: string
  readonly scalar?: ScalarText
}

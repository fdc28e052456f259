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
  readonly name?: string
  readonly scalar?: ScalarText
}

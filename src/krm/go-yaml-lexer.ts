/**
 * Tokens of a YAML text, with one leniency of kubectl's and kpt's parser: inside brackets and quotes indentation means
 * nothing. YAML forbids it, and kpt itself writes such files: `kpt fn source` (1.0.0-beta.56) puts the closing brace of a
 * map with comments at column 0; see docs/facts/kpt-closing-brace.md.
 */
import { type CST, Lexer, Parser } from 'yaml'

type Step = () => Generator<string, unknown>

/** What the override below needs of the library's lexer; the golden table fails if a new version names it otherwise. */
interface LexerInside {
  /** Least indentation of a line that goes on with the current value. */
  indentNext: number
  parseFlowCollection: Step
  parseQuotedScalar: Step
}

export function tokensOf(text: string): readonly CST.Token[] {
  const lexer = new Lexer()
  const inside = lexer as unknown as LexerInside
  inside.parseFlowCollection = withoutIndentation(inside, inside.parseFlowCollection.bind(lexer))
  inside.parseQuotedScalar = withoutIndentation(inside, inside.parseQuotedScalar.bind(lexer))
  const parser = new Parser()
  const tokens: CST.Token[] = []
  for (const lexeme of lexer.lex(text)) tokens.push(...parser.next(lexeme))
  tokens.push(...parser.end())
  return tokens
}

function withoutIndentation(lexer: LexerInside, step: Step): Step {
  return function* () {
    const { indentNext } = lexer
    lexer.indentNext = 0
    const next = yield* step()
    lexer.indentNext = indentNext
    return next
  }
}

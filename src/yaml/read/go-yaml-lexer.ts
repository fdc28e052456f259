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

/** What a token opens and nothing closes: the parser itself notices that only where the text ends. */
export function unclosedIn(token: CST.Token): 'quote' | 'bracket' | undefined {
  if (token.type === 'flow-collection') return token.end.some(({ type }) => CLOSING.has(type)) ? undefined : 'bracket'
  if (token.type === 'double-quoted-scalar') return closes(token.source, '\\', 0) ? undefined : 'quote'
  if (token.type === 'single-quoted-scalar') return closes(token.source, "'", 1) ? undefined : 'quote'
  return undefined
}

const CLOSING: ReadonlySet<string> = new Set(['flow-map-end', 'flow-seq-end'])

/** Whether the last character is the closing quote: before it `mark` stands an even number of times, the opening quote not counted. */
function closes(source: string, mark: string, from: number): boolean {
  const last = source.length - 1
  if (last < 1 || source[last] !== source[0]) return false
  let at = last
  while (at > from && source[at - 1] === mark) at -= 1
  return (last - at) % 2 === 0
}

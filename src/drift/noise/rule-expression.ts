/** Regular expressions of ignore rules, as RE2 has them: they match in linear time, whoever wrote them. */
import { RE2JS } from 're2js'

export const LONGEST_EXPRESSION = 500

/** What is wrong with an expression, as a clause; undefined where nothing is. */
export function expressionProblem(text: string): string | undefined {
  if (text.length > LONGEST_EXPRESSION) return `wanted at most ${LONGEST_EXPRESSION} characters`
  const compiled = compile(text)
  return 'problem' in compiled ? `no RE2 expression: ${compiled.problem}` : undefined
}

/** Whether the expression matches the whole text. One that cannot be read matches nothing. */
export function matchesExpression(expression: string, text: string): boolean {
  const compiled = compile(expression)
  return 'program' in compiled && compiled.program.matches(text)
}

/** Whether the expression matches somewhere in the text. One that cannot be read is found nowhere. */
export function expressionFinds(expression: string, text: string): boolean {
  const compiled = compile(expression)
  return 'program' in compiled && compiled.program.matcher(text).find()
}

/** The expression that matches exactly this text. Invisible signs are written by their numbers. */
export function literalExpression(text: string): string {
  return text
    .replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')
    .replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => `\\x{${sign.codePointAt(0)?.toString(16) ?? ''}}`)
}

type Compiled = { readonly program: RE2JS } | { readonly problem: string }

/** Few, and the same in every turn. */
const known = new Map<string, Compiled>()
const MOST_KNOWN = 1_000

function compile(text: string): Compiled {
  const before = known.get(text)
  if (before !== undefined) return before
  const compiled = compileAnew(text)
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(text, compiled)
  return compiled
}

function compileAnew(text: string): Compiled {
  try {
    return { program: RE2JS.compile(text) }
  } catch (thrown) {
    return { problem: thrown instanceof Error ? thrown.message.replace(/^error parsing regexp: /, '') : String(thrown) }
  }
}

/** RE2 matches in linear time. */
import { RE2JS } from 're2js'

export const LONGEST_EXPRESSION = 500

export function findExpressionProblem(text: string): string | undefined {
  if (text.length > LONGEST_EXPRESSION) return `wanted at most ${LONGEST_EXPRESSION} characters`
  const compiled = compile(text)
  return 'problem' in compiled ? `not an RE2 expression: ${compiled.problem}` : undefined
}

export function matchesExpression(expression: string, text: string): boolean {
  const compiled = compile(expression)
  return 'program' in compiled && compiled.program.matches(text)
}

/** An invalid expression matches nothing. */
export function hasExpressionMatch(expression: string, text: string): boolean {
  const compiled = compile(expression)
  return 'program' in compiled && compiled.program.matcher(text).find()
}

/** Invisible characters are written as numbers. */
export function escapeExpression(text: string): string {
  return text
    .replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')
    .replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => `\\x{${sign.codePointAt(0)?.toString(16) ?? ''}}`)
}

type Compiled = { readonly program: RE2JS } | { readonly problem: string }

/** Each turn uses the same few expressions. */
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
    return {
      problem:
        thrown instanceof Error
          ? thrown.message.replace(/^error parsing regexp: /, '')
          : String(thrown),
    }
  }
}

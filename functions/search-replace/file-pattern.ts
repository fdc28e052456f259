/** Patterns of `github.com/bmatcuk/doublestar/v4`, as regular expressions. */
import { RE2JS } from 're2js'

/** One pattern per combination of alternatives. */
const MAX_COMBINATIONS = 256
const MAX_LENGTH = 4096

/**
 * `*` and `?` stop at a slash, `**` between slashes is zero or more folders.
 * @returns undefined if the pattern is invalid or has too many combinations of alternatives
 */
export function compileFilePattern(pattern: string): ((path: string) => boolean) | undefined {
  if (pattern.length > MAX_LENGTH) return undefined
  const combinations = expandAlternatives(pattern)
  const expressions = combinations?.map(buildExpression)
  if (expressions === undefined || expressions.includes(undefined)) return undefined
  const compiled = RE2JS.compile(`(?s)(?:${expressions.join('|')})`)
  return (path) => compiled.matches(path)
}

function expandAlternatives(pattern: string): string[] | undefined {
  const found: string[] = []
  const open = [pattern]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const alternatives = findFirstAlternatives(next)
    if (alternatives === 'not-closed' || found.length + open.length > MAX_COMBINATIONS)
      return undefined
    if (alternatives === undefined) found.push(next)
    else open.push(...alternatives.toReversed())
  }
  return found
}

function findFirstAlternatives(pattern: string): string[] | 'not-closed' | undefined {
  const start = indexOfOpen(pattern)
  if (start === -1) return undefined
  const parts: string[] = []
  let depth = 0
  let from = start + 1
  for (let at = start; at < pattern.length; at += 1) {
    const sign = pattern.charAt(at)
    if (sign === '\\') at += 1
    else if (sign === '{') depth += 1
    else if (sign === ',' && depth === 1) {
      parts.push(pattern.slice(from, at))
      from = at + 1
    } else if (sign === '}') {
      depth -= 1
      if (depth > 0) continue
      parts.push(pattern.slice(from, at))
      return parts.map((part) => pattern.slice(0, start) + part + pattern.slice(at + 1))
    }
  }
  return 'not-closed'
}

function indexOfOpen(pattern: string): number {
  for (let at = 0; at < pattern.length; at += 1) {
    const sign = pattern.charAt(at)
    if (sign === '{') return at
    if (sign === '\\') at += 1
    if (sign === '[') at = endOfClass(pattern, at)
  }
  return -1
}

function endOfClass(pattern: string, start: number): number {
  for (let at = start + 1; at < pattern.length; at += 1) {
    if (pattern.charAt(at) === '\\') at += 1
    else if (pattern.charAt(at) === ']') return at
  }
  return pattern.length
}

function buildExpression(pattern: string): string | undefined {
  let expression = ''
  for (let at = 0; at < pattern.length; ) {
    const sign = pattern.charAt(at)
    if (sign === '*') {
      const stars = /^\*+/.exec(pattern.slice(at))?.[0].length ?? 1
      const isFolder = stars === 2 && (at === 0 || pattern.charAt(at - 1) === '/')
      const behind = pattern.charAt(at + 2)
      // At the end it matches a folder and everything below it.
      if (isFolder && behind === '') return at === 0 ? '.*' : `${expression.slice(0, -1)}(?:/.*)?`
      if (isFolder && at > 0 && pattern.slice(at) === '**/')
        return `${expression.slice(0, -1)}(?:/(?:.*/)?)?`
      expression += isFolder && behind === '/' ? '(?:[^/]*/)*' : '[^/]*'
      at += isFolder && behind === '/' ? 3 : stars
    } else if (sign === '[') {
      const end = endOfClass(pattern, at)
      const written =
        end === pattern.length ? undefined : buildCharacterClass(pattern.slice(at + 1, end))
      if (written === undefined) return undefined
      expression += written
      at = end + 1
    } else {
      const skipped = sign === '\\' ? 1 : 0
      const literal = String.fromCodePoint(pattern.codePointAt(at + skipped) ?? 0)
      if (at + skipped >= pattern.length) return undefined
      expression += sign === '?' ? '[^/]' : RE2JS.quote(literal)
      at += skipped + literal.length
    }
  }
  return expression
}

/**
 * Undefined if empty. A class may match a slash, also when negated, contrary to the documentation
 * of doublestar.
 */
function buildCharacterClass(inner: string): string | undefined {
  const negated = /^[!^]/.test(inner)
  const signs = parseSigns(negated ? inner.slice(1) : inner)
  if (signs.length === 0) return undefined
  let ranges = ''
  for (let at = 0; at < signs.length; at += 1) {
    const from = signs[at]?.code ?? 0
    const isRange = signs[at + 1]?.text === '-' && signs[at + 2] !== undefined
    const to = isRange ? (signs[at + 2]?.code ?? 0) : from
    if (from <= to) ranges += `\\x{${from.toString(16)}}-\\x{${to.toString(16)}}`
    if (isRange) at += 2
  }
  // RE2 has no empty class.
  if (ranges === '') return negated ? '.' : '[^\\x{0}-\\x{10ffff}]'
  return `[${negated ? '^' : ''}${ranges}]`
}

/** An escaped `-` is not a range: its text includes the backslash. */
function parseSigns(inner: string): { readonly text: string; readonly code: number }[] {
  const signs = [...inner.matchAll(/\\?[\s\S]/gu)].map(([text]) => text)
  return signs.map((text) => ({
    text,
    code: text.codePointAt(text.length > 1 && text.startsWith('\\') ? 1 : 0) ?? 0,
  }))
}

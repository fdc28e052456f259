/** File patterns of search-replace: those of its library `github.com/bmatcuk/doublestar/v4`, as regular expressions. */
import { RE2JS } from 're2js'

/** A pattern with alternatives stands for one pattern for each combination of them. */
const MAX_COMBINATIONS = 256
const MAX_LENGTH = 4096

/**
 * A test for paths: `*` and `?` stop at a slash, `**` between slashes is any number of folders and none, `[a-z]`, `[^a]`
 * and `[!a]` are classes, `{a,b}` alternatives, `\` takes the meaning from the next character.
 * @returns undefined where the pattern is not valid, or has too many combinations of alternatives
 */
export function filePattern(pattern: string): ((path: string) => boolean) | undefined {
  if (pattern.length > MAX_LENGTH) return undefined
  const combinations = withoutAlternatives(pattern)
  const expressions = combinations?.map(expressionOf)
  if (expressions === undefined || expressions.includes(undefined)) return undefined
  const compiled = RE2JS.compile(`(?s)(?:${expressions.join('|')})`)
  return (path) => compiled.matches(path)
}

/** Every pattern that comes of taking one of each alternatives; undefined where a brace is not closed, or there are too many. */
function withoutAlternatives(pattern: string): string[] | undefined {
  const found: string[] = []
  const open = [pattern]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const alternatives = firstAlternatives(next)
    if (alternatives === 'not-closed' || found.length + open.length > MAX_COMBINATIONS)
      return undefined
    if (alternatives === undefined) found.push(next)
    else open.push(...alternatives.toReversed())
  }
  return found
}

/** The pattern once for each of its first alternatives; undefined where it has none. */
function firstAlternatives(pattern: string): string[] | 'not-closed' | undefined {
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

/** The first brace that is neither escaped nor within a class; -1 where there is none. */
function indexOfOpen(pattern: string): number {
  for (let at = 0; at < pattern.length; at += 1) {
    const sign = pattern.charAt(at)
    if (sign === '{') return at
    if (sign === '\\') at += 1
    if (sign === '[') at = endOfClass(pattern, at)
  }
  return -1
}

/** Where the class that begins there ends; the end of the pattern where it does not. */
function endOfClass(pattern: string, start: number): number {
  for (let at = start + 1; at < pattern.length; at += 1) {
    if (pattern.charAt(at) === '\\') at += 1
    else if (pattern.charAt(at) === ']') return at
  }
  return pattern.length
}

function expressionOf(pattern: string): string | undefined {
  let expression = ''
  for (let at = 0; at < pattern.length; ) {
    const sign = pattern.charAt(at)
    if (sign === '*') {
      const stars = /^\*+/.exec(pattern.slice(at))?.[0].length ?? 1
      const isFolder = stars === 2 && (at === 0 || pattern.charAt(at - 1) === '/')
      const behind = pattern.charAt(at + 2)
      // At the end it is everything below a folder, and the folder itself.
      if (isFolder && behind === '') return at === 0 ? '.*' : `${expression.slice(0, -1)}(?:/.*)?`
      if (isFolder && at > 0 && pattern.slice(at) === '**/')
        return `${expression.slice(0, -1)}(?:/(?:.*/)?)?`
      expression += isFolder && behind === '/' ? '(?:[^/]*/)*' : '[^/]*'
      at += isFolder && behind === '/' ? 3 : stars
    } else if (sign === '[') {
      const end = endOfClass(pattern, at)
      const written = end === pattern.length ? undefined : classOf(pattern.slice(at + 1, end))
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

/** The class in RE2's syntax; undefined where it is empty. A class, and a negated one, may match a slash, unlike the documentation of doublestar. */
function classOf(inner: string): string | undefined {
  const negated = /^[!^]/.test(inner)
  const signs = signsOf(negated ? inner.slice(1) : inner)
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

/** An escaped `-` is none: its text has the backslash. */
function signsOf(inner: string): { readonly text: string; readonly code: number }[] {
  const signs = [...inner.matchAll(/\\?[\s\S]/gu)].map(([text]) => text)
  return signs.map((text) => ({
    text,
    code: text.codePointAt(text.length > 1 && text.startsWith('\\') ? 1 : 0) ?? 0,
  }))
}

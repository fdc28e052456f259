import type { TracedRequest } from '@backporch/system/trace'
import type { RequestGovernor } from '../adapter/request-governor.ts'

interface LimitedAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export function getRateResource(path: string): string {
  return path.endsWith('/graphql') ? 'graphql' : 'core'
}

export function learnBudget(
  governor: RequestGovernor,
  path: string,
  headers: ReadonlyMap<string, string>,
): TracedRequest['budget'] {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    parseNumber(headers.get(`x-ratelimit-${name}`)),
  )
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined
  const name = headers.get('x-ratelimit-resource') ?? getRateResource(path)
  governor.learn(name, { limit, remaining, resetAt: reset * 1000 })
  return { name, remaining }
}

/**
 * A 429, or a 403 with `retry-after` or an empty budget. A secondary limit may be a bare 403 that
 * only its body distinguishes (docs/facts/github-secondary-limit.md).
 */
export function isLimit({ status, headers, body }: LimitedAnswer): boolean {
  if (status === 429) return true
  if (status !== 403) return false
  return (
    headers.has('retry-after') ||
    headers.get('x-ratelimit-remaining') === '0' ||
    /#?\b(secondary|abuse)[- ]rate[- ]limit/i.test(body)
  )
}

/** Milliseconds since 1970; undefined if not named. */
export function findNamedEnd(
  headers: ReadonlyMap<string, string>,
  now: number,
): number | undefined {
  const seconds = parseNumber(headers.get('retry-after'))
  if (seconds !== undefined) return now + seconds * 1000
  const reset = parseNumber(headers.get('x-ratelimit-reset'))
  return headers.get('x-ratelimit-remaining') === '0' && reset !== undefined
    ? reset * 1000
    : undefined
}

function parseNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}

/** GitHub's limits from its answers (docs.github.com, "Rate limits for the REST API"). */
import type { TracedRequest } from '@backporch/system/trace'
import type { RequestGovernor } from '../adapter/request-governor.ts'

interface LimitedAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** The budget that a request is taken from. */
export function resourceOf(path: string): string {
  return path.endsWith('/graphql') ? 'graphql' : 'core'
}

/** @returns what is left; undefined where the answer does not say it */
export function learnBudget(
  governor: RequestGovernor,
  path: string,
  headers: ReadonlyMap<string, string>,
): TracedRequest['budget'] {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    numberIn(headers.get(`x-ratelimit-${name}`)),
  )
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined
  const name = headers.get('x-ratelimit-resource') ?? resourceOf(path)
  governor.learn(name, { limit, remaining, resetAt: reset * 1000 })
  return { name, remaining }
}

/**
 * A limit and not a lack of rights: a 429, or a 403 with `retry-after` or with an empty budget. A secondary limit may come as a bare 403, which
 * only its body tells from others (docs/facts/github-secondary-limit.md).
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

/** The end of the limit in milliseconds since 1970; undefined where GitHub does not name it. */
export function namedEnd(headers: ReadonlyMap<string, string>, now: number): number | undefined {
  const seconds = numberIn(headers.get('retry-after'))
  if (seconds !== undefined) return now + seconds * 1000
  const reset = numberIn(headers.get('x-ratelimit-reset'))
  return headers.get('x-ratelimit-remaining') === '0' && reset !== undefined
    ? reset * 1000
    : undefined
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}

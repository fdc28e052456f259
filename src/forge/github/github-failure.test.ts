import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createForgeUnreachable } from '../adapter/forge-failure.ts'
import { findRefusedStatus, mayBeDone, RefusedAnswer } from '../adapter/refused-answer.ts'
import { parseGitHubAddress } from './github-address.ts'
import { createGitHubFailure, extractGitHubMessage } from './github-failure.ts'
import { findNamedEnd, isLimit } from './rate-limits.ts'

const address = parseGitHubAddress('git@github.com:acme/deploy.git')
assert.ok(address !== undefined)
const requested = { address, what: 'open a pull request' }
const answer = (status: number, headers: Record<string, string> = {}, body = '') => ({
  status,
  headers: new Map(Object.entries(headers)),
  body,
})

it('gives each status the code with the right remedy', () => {
  const table = [
    [401, 'BP5002', 'on-change'],
    [403, 'BP5003', 'on-change'],
    [404, 'BP5003', 'on-change'],
    [410, 'BP5006', 'on-change'],
    [422, 'BP5006', 'on-change'],
    [451, 'BP5008', 'on-change'],
    [500, 'BP5005', 'backoff'],
    [503, 'BP5005', 'backoff'],
  ] as const
  for (const [status, code, retry] of table) {
    const failure = createGitHubFailure(requested, new RefusedAnswer(status, 'told'), false)
    assert.deepEqual(
      [failure.code, failure.retry, failure.what, findRefusedStatus(failure)],
      [code, retry, 'cannot open a pull request', status],
    )
    assert.equal(failure.where, 'acme/deploy on github.com')
    assert.notEqual(failure.remedy, '')
  }
  assert.equal(
    createGitHubFailure(requested, new RefusedAnswer(403, undefined), true).code,
    'BP5002',
  )
})

it('names the setting that lets a workflow open pull requests', () => {
  const message = 'GitHub Actions is not permitted to create or approve pull requests.'
  const { code, remedy } = createGitHubFailure(requested, new RefusedAnswer(403, message), false)
  assert.equal(code, 'BP5003')
  assert.match(
    remedy,
    /^turn on "Allow GitHub Actions to create and approve pull requests" \(Settings > Actions > General, /,
  )
})

it('knows which failed requests may have taken effect', () => {
  assert.ok(mayBeDone(createForgeUnreachable(requested, 'cut')))
  assert.ok(mayBeDone(createGitHubFailure(requested, new RefusedAnswer(502, undefined), false)))
  assert.ok(!mayBeDone(createGitHubFailure(requested, new RefusedAnswer(422, undefined), false)))
  assert.ok(!mayBeDone(new Error('other')))
})

it('quotes GitHub on one line of limited length, without anything like a token', () => {
  const body = {
    message: 'No\u001b[31m\n way\u202e',
    errors: [
      { resource: 'Label', field: 'name', code: 'already_exists' },
      'text',
      { message: 'ghp_canary0123456789' },
    ],
  }
  assert.equal(
    extractGitHubMessage(JSON.stringify(body)),
    'No\\u{1b}[31m / way\\u{202e}; Label name already_exists; text; ***',
  )
  assert.ok(
    (extractGitHubMessage(JSON.stringify({ message: 'x'.repeat(5_000) }))?.length ?? 999) <= 301,
  )
  for (const text of ['', 'null', '[]', '"text"', '{"message":1}', '<html>'])
    assert.equal(extractGitHubMessage(text), undefined, text)
})

it('distinguishes rate limits from missing permissions', () => {
  assert.ok(isLimit(answer(429)))
  assert.ok(isLimit(answer(403, { 'retry-after': '1' })))
  assert.ok(isLimit(answer(403, { 'x-ratelimit-remaining': '0' })))
  assert.ok(isLimit(answer(403, {}, '{"message":"You have exceeded a secondary rate limit."}')))
  assert.ok(
    isLimit(
      answer(
        403,
        {},
        '{"documentation_url":"https://docs.github.com/rest/x#about-secondary-rate-limits"}',
      ),
    ),
  )
  assert.ok(
    !isLimit(
      answer(403, { 'x-ratelimit-remaining': '10' }, '{"message":"Resource not accessible"}'),
    ),
  )
  assert.ok(!isLimit(answer(200, { 'x-ratelimit-remaining': '0' })))
})

it('accepts a stated reset time, and ignores anything that is not a number', () => {
  assert.equal(findNamedEnd(answer(429, { 'retry-after': '60' }).headers, 1_000), 61_000)
  assert.equal(
    findNamedEnd(
      answer(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '5' }).headers,
      1_000,
    ),
    5_000,
  )
  assert.equal(
    findNamedEnd(
      answer(403, { 'x-ratelimit-remaining': '9', 'x-ratelimit-reset': '5' }).headers,
      1_000,
    ),
    undefined,
  )
  assert.equal(
    findNamedEnd(answer(429, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }).headers, 1_000),
    undefined,
  )
})

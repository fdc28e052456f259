import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import { BODY_LIMIT, type WebhookAnswer, WebhookIntake, WebhookReading } from './webhook-intake.ts'
import { DeliveryWindow } from './webhook-window.ts'

const SECRET = 'what the forge knows'
const PUSH = JSON.stringify({ ref: 'refs/heads/main', repository: { full_name: 'acme/deploy' } })

function intakeOf(
  repository: string | undefined = 'acme/deploy',
  secrets: readonly string[] = [SECRET],
): WebhookIntake {
  return new WebhookIntake({ secrets, repository, window: new DeliveryWindow() })
}

function headersOf(
  body: string | Buffer,
  more: Record<string, string | undefined> = {},
): Record<string, string> {
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': 'd9f3',
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    ...more,
  }
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

function deliver(
  intake: WebhookIntake,
  body: string | Buffer,
  more: Record<string, string | undefined> = {},
): WebhookAnswer {
  const reading = intake.begin(headersOf(body, more))
  if (!(reading instanceof WebhookReading)) return reading
  const refused = reading.add(Buffer.from(body))
  const answer = refused ?? reading.end(0)
  assert.equal(intake.held, 0, 'nothing is held after the answer')
  return answer
}

test('accepts a push, a pull request and a comment, as GitHub and Gitea name them', () => {
  for (const event of [
    'push',
    'pull_request',
    'pull_request_review',
    'issue_comment',
    'issues',
    'delete',
  ]) {
    assert.equal(deliver(intakeOf(), PUSH, { 'x-github-event': event }).updates, 'look', event)
  }
  for (const event of [
    'push',
    'pull_request',
    'pull_request_approved',
    'pull_request_comment',
    'issue_comment',
  ]) {
    const gitea = {
      'x-github-event': undefined,
      'x-gitea-event': event,
      'x-github-delivery': undefined,
      'x-gitea-delivery': 'd9f3',
    }
    assert.equal(deliver(intakeOf(), PUSH, gitea).updates, 'look', event)
  }
})

test('compares repository names case-insensitively, and accepts any for a remote without a name', () => {
  assert.equal(deliver(intakeOf('Acme/Deploy'), PUSH).updates, 'look')
  assert.equal(deliver(intakeOf('acme/deplo'), PUSH).updates, 'ignored')
  assert.equal(
    deliver(new WebhookIntake({ ...intakeOf().options, repository: undefined }), PUSH).updates,
    'look',
  )
})

/** Bodies that brought other receivers down (reliability.md C53), with a good signature. */
const ODD = [
  'null',
  '[]',
  '"x"',
  '1e999',
  '',
  '{',
  '{"repository":null}',
  '{"repository":[]}',
  '{"repository":"acme/deploy"}',
  '{"repository":{"full_name":null}}',
  '{"repository":{"full_name":["acme/deploy"]}}',
  '{"repository":{"full_name":{"toLowerCase":1}}}',
  '{"__proto__":{"repository":{"full_name":"acme/deploy"}}}',
  '{"repository":{"__proto__":{"full_name":"acme/deploy"}}}',
  '{"repository":{"full_name":"(a+)+$"},"href":["javascript:alert(1)"],"commits":null}',
  `${'['.repeat(200_000)}`,
  `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
]
for (const body of ODD) {
  test(`accepts and ignores a signed but malformed delivery: ${body.slice(0, 60)}`, () => {
    assert.deepEqual(
      [deliver(intakeOf(), body).status, deliver(intakeOf(), body).updates],
      [202, 'ignored'],
    )
  })
}

test('accepts and ignores bytes that are not text', () => {
  assert.equal(deliver(intakeOf(), Buffer.from([0xff, 0xfe, 0x00, 0xc3])).updates, 'ignored')
})

test('a byte order mark or an escape in the name does not affect the comparison', () => {
  assert.equal(
    deliver(intakeOf(), '{"repository":{"full_name":"\\u0061cme/deploy"}}').updates,
    'look',
  )
  assert.equal(
    deliver(intakeOf(), '{"repository":{"full_name":"acme/deploy\\u0000"}}').updates,
    'ignored',
  )
})

const REQUESTED_ACTION = {
  action: 'requested_action',
  check_run: { name: 'backporch', head_sha: 'a'.repeat(40), external_id: '0123456789abcdef.x.y' },
  requested_action: { identifier: 'adopt' },
  repository: { full_name: 'acme/deploy' },
  sender: { login: 'wendy', type: 'User' },
}
const CHECK = { 'x-github-event': 'check_run' }

test('a button press carries the button and the person, with the same id for the same body', () => {
  const body = JSON.stringify(REQUESTED_ACTION)
  const { updates, requestedAction } = deliver(intakeOf(), body, CHECK)
  assert.equal(updates, 'look')
  const { id = '', ...rest } = requestedAction ?? {}
  assert.match(id, /^press-[0-9a-f]{16}$/)
  const expected = {
    key: '0123456789abcdef',
    commit: 'a'.repeat(40),
    button: 'adopt',
    login: 'wendy',
    bot: false,
  }
  assert.deepEqual(rest, { ...expected, at: '1970-01-01T00:00:00Z' })
  assert.equal(
    deliver(intakeOf(), body, { ...CHECK, 'x-github-delivery': 'another' }).requestedAction?.id,
    id,
    'after a restart',
  )
  assert.notEqual(deliver(intakeOf(), `${body} `, CHECK).requestedAction?.id, id)
})

test('ignores a button press that is forged, repeated, of another repository or of another event', () => {
  const body = JSON.stringify(REQUESTED_ACTION)
  const intake = intakeOf()
  assert.equal(
    deliver(intake, body, { ...CHECK, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` })
      .requestedAction,
    undefined,
  )
  assert.notEqual(deliver(intake, body, CHECK).requestedAction, undefined)
  assert.equal(deliver(intake, body, CHECK).requestedAction, undefined)
  assert.equal(deliver(intakeOf('acme/other'), body, CHECK).requestedAction, undefined)
  for (const event of ['push', 'issue_comment', 'check_suite']) {
    assert.equal(
      deliver(intakeOf(), body, { 'x-github-event': event }).requestedAction,
      undefined,
      event,
    )
  }
})

test('ignores check events, since its own checks would trigger a turn after each turn', () => {
  for (const action of ['created', 'completed']) {
    assert.equal(
      deliver(intakeOf(), JSON.stringify({ ...REQUESTED_ACTION, action }), CHECK).updates,
      'ignored',
    )
  }
})

test('accepts and ignores an unknown event', () => {
  for (const event of ['ping', 'star', 'constructor', '__proto__', 'a_new_event']) {
    assert.deepEqual(
      [
        deliver(intakeOf(), PUSH, { 'x-github-event': event }).status,
        deliver(intakeOf(), PUSH, { 'x-github-event': event }).updates,
      ],
      [202, 'ignored'],
    )
  }
})

test('checks the signature before it reports anything else', () => {
  const answer = deliver(intakeOf(), PUSH, {
    'x-hub-signature-256': undefined,
    'content-type': 'text/html',
    'x-github-event': undefined,
  })
  assert.equal(answer.status, 401)
})

test('rejects a wrong signature for any body, and keeps no trace of the delivery', () => {
  const intake = intakeOf()
  const forged = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }
  assert.equal(deliver(intake, PUSH, forged).status, 401)
  assert.equal(deliver(intake, '{', forged).status, 401)
  assert.equal(intake.options.window.size, 0)
  assert.equal(deliver(intake, PUSH).updates, 'look')
})

test('rejects a missing or invalid header with 400 or 415', () => {
  assert.equal(deliver(intakeOf(), PUSH, { 'x-github-event': undefined }).status, 400)
  assert.equal(deliver(intakeOf(), PUSH, { 'x-github-event': 'a\u0000b' }).status, 400)
  assert.equal(
    deliver(intakeOf(), PUSH, { 'content-type': 'application/x-www-form-urlencoded' }).status,
    415,
  )
  assert.equal(deliver(intakeOf(), PUSH, { 'content-type': undefined }).status, 415)
  assert.equal(deliver(intakeOf(), PUSH, { 'content-encoding': 'gzip' }).status, 415)
  assert.equal(
    deliver(intakeOf(), PUSH, { 'content-type': 'Application/JSON; charset=utf-8' }).status,
    202,
  )
})

test('accepts and ignores a repeated delivery, also under another id or without one', () => {
  const intake = intakeOf()
  assert.equal(deliver(intake, PUSH).updates, 'look')
  assert.equal(deliver(intake, PUSH).updates, 'ignored')
  assert.equal(deliver(intake, PUSH, { 'x-github-delivery': 'another' }).updates, 'ignored')
  assert.equal(deliver(intake, PUSH, { 'x-github-delivery': undefined }).updates, 'ignored')
  assert.equal(deliver(intake, `${PUSH} `, { 'x-github-delivery': 'd9f3' }).updates, 'ignored')
  assert.equal(
    deliver(intake, `${PUSH} `, { 'x-github-delivery': 'third' }).updates,
    'ignored',
    'its body was remembered with the id',
  )
  assert.equal(deliver(intake, `${PUSH}  `, { 'x-github-delivery': 'fourth' }).updates, 'look')
})

test('accepts both secrets during a rotation', () => {
  assert.equal(deliver(intakeOf('acme/deploy', ['new', SECRET]), PUSH).updates, 'look')
  assert.equal(deliver(intakeOf('acme/deploy', ['new']), PUSH).status, 401)
})

test('rejects a declared 25 MB before the first byte, and an undeclared one at the limit', () => {
  const reported = intakeOf().begin(headersOf(PUSH, { 'content-length': String(BODY_LIMIT) }))
  assert.ok(!(reported instanceof WebhookReading) && reported.status === 413)
  const reading = intakeOf().begin(headersOf(PUSH))
  assert.ok(reading instanceof WebhookReading)
  const piece = Buffer.alloc(1_000_000)
  for (let sent = 1; sent < 25; sent += 1) assert.equal(reading.add(piece), undefined)
  assert.equal(reading.add(piece)?.status, 413)
})

test('checks only the signature of a large body, and answers it with "look"', () => {
  const intake = intakeOf('acme/other')
  const body = Buffer.alloc(3_000_000, 'x')
  const reading = intake.begin(headersOf(body))
  assert.ok(reading instanceof WebhookReading)
  let most = 0
  for (let at = 0; at < body.length; at += 65_536) {
    reading.add(body.subarray(at, at + 65_536))
    most = Math.max(most, intake.held)
  }
  assert.ok(most < 1_200_000, `${most} bytes were held`)
  assert.deepEqual(reading.end(0), { status: 202, updates: 'look', why: 'accepted' })
})

test('a body in one-byte pieces counts with the memory that it occupies', () => {
  const body = Buffer.alloc(10_000, 'x')
  const intake = intakeOf()
  const reading = intake.begin(headersOf(body))
  assert.ok(reading instanceof WebhookReading)
  for (const byte of body) reading.add(Buffer.of(byte))
  assert.equal(intake.held, 0)
  assert.equal(reading.end(0).updates, 'look')
})

test('limits the memory of concurrent bodies, counts the overhead of small pieces, and releases it on close', () => {
  const intake = intakeOf()
  const readings = Array.from({ length: 100 }, () => {
    const reading = intake.begin(headersOf(PUSH))
    assert.ok(reading instanceof WebhookReading)
    return reading
  })
  let most = 0
  for (const reading of readings) {
    for (let piece = 0; piece < 1_000; piece += 1)
      reading.add(Buffer.alloc(piece % 2 === 0 ? 1 : 1_000))
    most = Math.max(most, intake.held)
  }
  assert.ok(most <= 17_000_000 && most > 10_000_000, `${most} bytes were held`)
  for (const reading of readings) reading.close()
  for (const reading of readings) reading.close()
  assert.equal(intake.held, 0)
})

test('throws for no body or headers, and never accepts an unsigned delivery', () => {
  const header = fc.oneof(
    fc.string(),
    fc.constantFrom('application/json', 'push', `sha256=${'0'.repeat(64)}`, undefined),
  )
  const headers = fc.record({
    'content-type': header,
    'content-length': header,
    'content-encoding': header,
    'x-github-event': header,
    'x-github-delivery': header,
    'x-hub-signature-256': header,
    'x-gitea-signature': header,
  })
  const body = fc.oneof(
    fc.uint8Array(),
    fc.json().map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(body, headers, fc.boolean(), (bytes, random, signed) => {
      const intake = intakeOf()
      const answer = deliver(intake, Buffer.from(bytes), signed ? {} : random)
      if (!signed) assert.equal(answer.updates, 'refused')
      else assert.equal(answer.status, 202)
    }),
    { numRuns: 300 },
  )
})

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { signOff } from './sign-off.ts'

const ADA = { name: 'Ada', email: 'ada@example.com' }
const LINE = 'Signed-off-by: Ada <ada@example.com>'

test('the sign-off joins the trailers, or starts their paragraph', () => {
  for (const [message, expected] of [
    ['Subject', `Subject\n\n${LINE}\n`],
    ['Subject: with colon', `Subject: with colon\n\n${LINE}\n`],
    ['Subject\n\nBody.\n', `Subject\n\nBody.\n\n${LINE}\n`],
    [
      'S\n\nB\n\nDrift-Id: 1\nDrift-Cluster: a\n\n',
      `S\n\nB\n\nDrift-Id: 1\nDrift-Cluster: a\n${LINE}\n`,
    ],
    ['S\r\n\r\nDrift-Id: 1\r\n two', `S\n\nDrift-Id: 1\n two\n${LINE}\n`],
    ['S\n\nkpt:{"package":"a"}', `S\n\nkpt:{"package":"a"}\n\n${LINE}\n`],
    ['S\n\nkpt:{}\n\nDrift-Id: 1', `S\n\nkpt:{}\n\nDrift-Id: 1\n${LINE}\n`],
  ] as const) {
    assert.equal(signOff(message, ADA), expected)
    assert.equal(signOff(expected, ADA), expected, 'a second time changes nothing')
  }
})

test('git parses the same trailers', () => {
  const message = signOff(
    'S\n\nBody: not a trailer\nas prose.\n\nkpt:{"package":"a"}\n\nDrift-Id: 1',
    ADA,
  )
  const trailers = execFileSync('git', ['interpret-trailers', '--parse'], {
    input: message,
    encoding: 'utf8',
  })
  assert.equal(trailers, `Drift-Id: 1\n${LINE}\n`)
})

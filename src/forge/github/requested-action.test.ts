import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import { parseRequestedAction } from './requested-action.ts'

const RUN = { name: 'backporch', head_sha: 'a'.repeat(40), external_id: '0123456789abcdef.x.y' }
const BODY = {
  action: 'requested_action',
  check_run: RUN,
  requested_action: { identifier: 'adopt' },
  sender: { login: 'wendy', type: 'User' },
}

test('parses button, commit, proposal and person of a requested action', () => {
  const requestedAction = {
    key: '0123456789abcdef',
    commit: RUN.head_sha,
    button: 'adopt',
    login: 'wendy',
    bot: false,
  }
  assert.deepEqual(parseRequestedAction(BODY), requestedAction)
  assert.deepEqual(
    parseRequestedAction({ ...BODY, action: 'rerequested', requested_action: null }),
    {
      ...requestedAction,
      button: 'recheck',
    },
  )
  for (const sender of [
    { login: 'x[bot]', type: 'Bot' },
    { login: 'x[bot]', type: 'User' },
    { login: 'x', type: 'Organization' },
    { login: 'x' },
  ])
    assert.equal(parseRequestedAction({ ...BODY, sender })?.bot, true, JSON.stringify(sender))
})

for (const [name, body] of [
  ['another action', { ...BODY, action: 'created' }],
  ['another check', { ...BODY, check_run: { ...RUN, name: 'build' } }],
  ['no commit', { ...BODY, check_run: { ...RUN, head_sha: 'HEAD' } }],
  ['a check of another app', { ...BODY, check_run: { ...RUN, external_id: null } }],
  ['an invalid key', { ...BODY, check_run: { ...RUN, external_id: '0123456789ABCDEF.x.y' } }],
  ['an invalid button', { ...BODY, requested_action: { identifier: '/adopt' } }],
  ['a button that is not a string', { ...BODY, requested_action: { identifier: ['adopt'] } }],
  ['nobody', { ...BODY, sender: null }],
  ['an invalid name', { ...BODY, sender: { login: 'a b', type: 'User' } }],
] as const)
  test(`ignores another body: ${name}`, () => assert.equal(parseRequestedAction(body), undefined))

test('any body gives a valid requested action or none', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(parseRequestedAction(value), undefined)
      assert.equal(parseRequestedAction({ ...BODY, check_run: value }), undefined)
      const { login = '' } = parseRequestedAction({ ...BODY, sender: value }) ?? {}
      assert.match(login, /^[\w-]*(\[bot\])?$/)
    }),
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import { createEscalationComment } from './escalation-comment.ts'

const ASKED = {
  since: '2026-11-07T10:00:00Z',
  after: 14 * 86_400,
  fingerprint: `sha256:9f2c1a7b${'0'.repeat(56)}`,
}

test('the comment mentions the owners, the start of the wait and the possible actions', () => {
  const { topic, body } = createEscalationComment({
    ...ASKED,
    owners: ['@ada', '@org/platform', '@ada'],
  })
  assert.equal(topic, 'overdue')
  assert.equal(
    body,
    'This pull request has waited for a decision since 2026-11-07 10:00 UTC, longer than 14 days (drift `9f2c1a7b`). @ada @org/platform, you own its files: please merge or close it, or write `/snooze 7d`.\n',
  )
})

test('without owners of the files, no person is mentioned', () => {
  assert.match(createEscalationComment({ ...ASKED, owners: [] }).body, /CODEOWNERS names no owner/)
  assert.doesNotMatch(createEscalationComment({ ...ASKED, owners: ['ops@example.com'] }).body, /@/)
})

test('at most ten owners are mentioned', () => {
  const owners = Array.from({ length: 30 }, (_each, index) => `@u${index}`)
  assert.equal(createEscalationComment({ ...ASKED, owners }).body.match(/@/g)?.length, 10)
})

/** A code span ends with as many backticks as it begins with (CommonMark), so that it can hold others. */
const CODE_SPAN = /(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g

test('with any text as owner, time or fingerprint, only handles are mentioned', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '@all\n# x',
      '@a `b',
      '@[x](http://e)',
      '@-',
      '@a/b/c',
      '<img>',
      '@x-->',
      '@@here',
      '@ada.',
    ),
  )
  fc.assert(
    fc.property(fc.array(word), word, word, (owners, since, fingerprint) => {
      const { body } = createEscalationComment({
        since: ASKED.since,
        after: ASKED.after,
        fingerprint,
        owners,
      })
      const [, text] = /\. ((?:@\S+ )*@\S+), you own its files: please merge/.exec(body) ?? []
      for (const mention of body.match(/@\S*/g) ?? []) {
        assert.ok(text?.includes(mention.replace(/,$/, '')), mention)
        assert.match(mention.replace(/,$/, ''), /^@[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)?$/)
      }
      assert.doesNotMatch(body, /[<>[\]]/)
      assert.equal(body.split('\n').length, 2)
      const odd = createEscalationComment({ ...ASKED, since, owners: [] }).body
      assert.doesNotMatch(odd.replaceAll(CODE_SPAN, ''), /@/)
    }),
  )
})

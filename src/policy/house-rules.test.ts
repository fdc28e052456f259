import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SUBJECT_LIMIT } from '../record/subject.ts'
import { formatHouseMessage, formatHouseSubject, type SubjectRules } from './house-rules.ts'

const LINE = 'fix(drift): adopt Deployment/web replicas 5 in prod (git 3)'
const ROWS: readonly (readonly [rules: SubjectRules, line: string])[] = [
  [{}, LINE],
  [{ prefix: 'OPS-42:' }, 'OPS-42: adopt Deployment/web replicas 5 in prod (git 3)'],
  [
    { template: '{{type}}(gitops): {{summary}}' },
    'fix(gitops): adopt Deployment/web replicas 5 in prod (git 3)',
  ],
  [{ template: '{{summary}} (#7)' }, 'adopt Deployment/web replicas 5 in prod (git 3) (#7)'],
  [
    { prefix: '[bot]', template: '{{type}}: {{summary}}' },
    '[bot] fix: adopt Deployment/web replicas 5 in prod (git 3)',
  ],
  [
    { template: "$& $1 {{summary}} $'" },
    "$& $1 adopt Deployment/web replicas 5 in prod (git 3) $'",
  ],
]

for (const [rules, line] of ROWS)
  test(`${JSON.stringify(rules)} formats the subject as ${line}`, () =>
    assert.equal(formatHouseSubject(LINE, rules), line))

test('a long subject is shortened in its summary and keeps the mark [CRITICAL]', () => {
  const long = `chore(drift): ${'restore a long name '.repeat(5).slice(0, 70)} [CRITICAL]`
  const subject = formatHouseSubject(long, {
    prefix: 'OPS-42 '.repeat(5).trim(),
    template: '{{summary}} (ticket)',
  })
  assert.ok(subject.length <= SUBJECT_LIMIT, subject)
  assert.match(subject, /^OPS-42 .* restore a long .*… \[CRITICAL\] \(ticket\)$/)
})

test('only the subject of a message changes', () => {
  const body = '\n\nfix(drift): is not the subject here\n\nDrift-Id: prod/apps--web/1a2b3c4d\n'
  assert.equal(
    formatHouseMessage(`${LINE}${body}`, { prefix: 'X' }),
    `X ${LINE.slice('fix(drift): '.length)}${body}`,
  )
  assert.equal(formatHouseMessage(`${LINE}${body}`, {}), `${LINE}${body}`)
})

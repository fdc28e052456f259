import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import * as fc from '../../../test/seeds/fast-check.ts'
import { answerComment, type PostedAnswer } from './answer-comment.ts'
import { formatFailureText, formatRulesText, helpText, SEE_BELOW } from './command-answer.ts'
import { parseCommentCommands } from './comment-command.ts'

const LIMIT = 60_000

function reported(comment: number, more: Partial<PostedAnswer> = {}, heard = true): PostedAnswer {
  const at = `2026-11-21T10:${String(comment % 60).padStart(2, '0')}:00Z`
  return {
    by: 'ada',
    line: `/adopt ${comment}`,
    done: true,
    text: 'the plan is **Adopt**',
    requested: { comment: String(comment), at, heard },
    ...more,
  }
}

/** What people see: lines of the list. */
function list(body: string): string[] {
  return body
    .split('\n')
    .flatMap((line) => (line.startsWith('- ') ? [line.slice(2).replace(/ <!--.*?-->$/, '')] : []))
}

function numbers(body: string): string[] {
  return [...body.matchAll(/^- . `\/adopt (\d+)`/gmu)].map(([, number = '']) => number)
}

test('each command has a line with person, time and result, and names are in code', () => {
  const refused = reported(2, { by: 'all', line: '/adopt @all', done: false, text: 'no' })
  assert.equal(
    answerComment('', [reported(1), refused], LIMIT),
    [
      'Results of the last commands:',
      '',
      '- ✅ `/adopt 1` of `ada`, 2026-11-21 10:01 UTC: the plan is **Adopt** <!-- backporch:answer=2026-11-21T10:01:00Z,1,0 -->',
      '- 😕 `/adopt @all` of `all`, 2026-11-21 10:02 UTC: no <!-- backporch:answer=2026-11-21T10:02:00Z,2,0 -->',
      '',
    ].join('\n'),
  )
})

test('results of several turns are one list in the order of the requests, without duplicates', () => {
  const all = [reported(1), reported(2), reported(3)]
  const whole = answerComment('', all, LIMIT)
  const [first, second, third] = all
  assert.ok(first && second && third)
  const later = answerComment(
    answerComment(answerComment('', [second], LIMIT), [third], LIMIT),
    [first],
    LIMIT,
  )
  assert.equal(later, whole)
  for (const again of [[first], [third], all])
    assert.equal(answerComment(whole, again, LIMIT), whole)
  assert.deepEqual(numbers(whole), ['1', '2', '3'])
})

test('a changed answer replaces the earlier answer to the same command', () => {
  const whole = answerComment('', [reported(1), reported(2)], LIMIT)
  const again = list(
    answerComment(whole, [reported(1, { text: 'nothing differs any longer' })], LIMIT),
  )
  assert.match(again[0] ?? '', /`\/adopt 1`.*nothing differs any longer$/)
  assert.equal(again.length, 2)
})

test('several commands of one comment stay together, in their order', () => {
  const requested = { comment: '10', at: '2026-11-21T10:00:00Z', heard: true }
  const both = [
    reported(1, { requested, line: '/adopt 2' }),
    reported(1, { requested, line: '/adopt 1' }),
  ]
  const other = reported(1, { requested: { ...requested, comment: '9' }, line: '/adopt 9' })
  const whole = answerComment(answerComment('', both, LIMIT), [other], LIMIT)
  assert.deepEqual(numbers(whole), ['9', '2', '1'], 'comments of one second as they are numbered')
  assert.equal(answerComment(whole, both, LIMIT), whole)
})

test('keeps the last ten results, plus the last three of people without rights', () => {
  const many = Array.from({ length: 12 }, (_, index) => reported(index + 1))
  const flood = Array.from({ length: 30 }, (_, index) =>
    reported(index + 20, { by: 'eve', done: false }, false),
  )
  let body = ''
  for (const one of [...many, ...flood]) body = answerComment(body, [one], LIMIT)
  assert.deepEqual(numbers(body), [
    '3',
    '4',
    '5',
    '6',
    '7',
    '8',
    '9',
    '10',
    '11',
    '12',
    '47',
    '48',
    '49',
  ])
  assert.equal(answerComment('', [...flood, ...many], LIMIT), body)
})

test('a refused ticked box follows the existing results, and adds nothing in later turns', () => {
  const tick: PostedAnswer = { by: undefined, line: 'a ticked box', done: false, text: 'no' }
  const ticked = answerComment(answerComment('', [reported(1)], LIMIT), [tick], LIMIT)
  const later = answerComment(ticked, [reported(2)], LIMIT)
  assert.deepEqual(list(later)[1], '😕 a ticked box: no')
  assert.equal(answerComment(later, [tick], LIMIT), later)
  assert.deepEqual(
    list(answerComment(later, [{ ...tick, text: 'for another reason' }], LIMIT))[2],
    '😕 a ticked box: for another reason',
  )
})

test('the details of the last four commands stay with their commands', () => {
  let body = ''
  for (let comment = 1; comment <= 6; comment += 1)
    body = answerComment(
      body,
      [
        reported(comment, {
          text: SEE_BELOW,
          details: `- **${comment}** \`x\`\n\n| a | b |\n|---|---|`,
        }),
      ],
      LIMIT,
    )
  assert.deepEqual(
    list(body)
      .slice(0, 6)
      .map((line) => line.replace(/^.*UTC: /, '')),
    [...Array(2).fill('answered; the answer is no longer shown'), ...Array(4).fill(SEE_BELOW)],
  )
  const blocks = body.split(/<!-- backporch:details=.* -->\n/).slice(1)
  assert.deepEqual(
    blocks.map((block) => block.trim()),
    [3, 4, 5, 6].map(
      (number) =>
        `\`/adopt ${number}\` of \`ada\`, 2026-11-21 10:0${number} UTC:\n\n- **${number}** \`x\`\n\n| a | b |\n|---|---|`,
    ),
  )
})

test('with any input, the comment is within the limit of the forge and has the last results', () => {
  const many = Array.from({ length: 30 }, (_, index) =>
    reported(index + 1, { text: SEE_BELOW, details: 'x'.repeat(400) }),
  )
  for (const limit of [60, 300, 1_000, 4_000, LIMIT]) {
    const body = answerComment('', many, limit)
    assert.ok(body.length <= limit, String(limit))
    if (limit >= 300) assert.equal(numbers(body).at(-1), '30')
    assert.ok(answerComment(body, many.slice(-1), limit).length <= limit)
  }
})

test('reads from an edited comment only harmless lines in the form of Backporch', () => {
  const whole = answerComment('', [reported(1, { text: SEE_BELOW, details: 'fine' })], LIMIT)
  const line = (text: string, mark = 'answer=2026-11-21T10:00:00Z,5,0') =>
    `- ✅ ${text} <!-- backporch:${mark} -->`
  for (const forged of [
    line('hello @acme/platform'),
    line('see <img src=x>'),
    line('one <!-- two --> three'),
    line('fine', 'answer=2026-11-21T10:00:00Z,../../,0'),
    line('fine', 'answer=yesterday,5,0'),
    line('fine').replace('✅', 'free text'),
    line('`unclosed @all'),
    line('x'.repeat(6_000)),
    'nothing of ours',
  ])
    assert.equal(
      answerComment(
        `${forged}\n${whole}\n`,
        [reported(1, { text: SEE_BELOW, details: 'fine' })],
        LIMIT,
      ),
      whole,
      forged.slice(0, 80),
    )
  const badDetails = whole.replace('fine', '/adopt all\n@all')
  assert.match(
    answerComment(badDetails, [reported(2)], LIMIT),
    /^- .*`\/adopt 1`.*answered; the answer is no longer shown/m,
  )
  assert.doesNotMatch(answerComment(badDetails, [reported(2)], LIMIT), /@all/)
})

test('the comment has no command at the start of a line, mentions no person, and is read back completely', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 60, unit: 'grapheme' }),
      fc.string({ maxLength: 60 }),
      (why, name) => {
        const failure = new Failure({
          code: 'BP2013',
          what: `"${name}" may not`,
          why,
          remedy: `ask @acme/${name}`,
        })
        const rule = {
          number: 1,
          where: why,
          about: name,
          reason: `@all ${why}`,
          expires: '',
          over: false,
        }
        const details = `${formatRulesText([rule])}\n\n${helpText()}`
        const results = [
          reported(1, { by: name, line: why, done: false, text: formatFailureText(failure) }),
          reported(2, { by: name, line: why, text: SEE_BELOW, details }),
        ]
        const body = answerComment('', results, LIMIT)
        assert.deepEqual(parseCommentCommands(body), { commands: [], refused: [] })
        assert.doesNotMatch(body.replaceAll(/(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, ''), /@/)
        assert.equal(
          answerComment(answerComment(body, [reported(3)], LIMIT), [reported(3)], LIMIT),
          answerComment('', [...results, reported(3)], LIMIT),
        )
      },
    ),
  )
})

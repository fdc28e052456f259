import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Failure } from '../failure.ts'
import { commandAnswer, commandLine, failureSaid, helpText, rulesText } from './command-answer.ts'
import { parseCommentCommands } from './comment-command.ts'

const RESULT = { by: 'ada', line: '/adopt 1', done: true, text: 'the plan is **Adopt**' }

test('a line for each command, in their order, and no name outside of code', () => {
  const { topic, body } = commandAnswer(
    [RESULT, { ...RESULT, by: 'all', line: '/adopt @all', done: false, text: 'no' }, { ...RESULT, by: '' }],
    5_000,
  )
  assert.equal(topic, 'command')
  assert.equal(
    body,
    'What became of the last commands:\n\n- ✅ `/adopt 1` of `ada`: the plan is **Adopt**\n- 😕 `/adopt @all` of `all`: no\n- ✅ a ticked box: the plan is **Adopt**\n',
  )
})

test('whatever comes, it is within the limit of the forge, and the last ones are kept', () => {
  const many = Array.from({ length: 200 }, (_, index) => ({ ...RESULT, line: `/adopt ${index}`, details: 'x'.repeat(400) }))
  for (const limit of [60, 300, 1_000, 4_000, 60_000]) assert.ok(commandAnswer(many, limit).body.length <= limit, String(limit))
  assert.match(commandAnswer(many, 60_000).body, /- 180 earlier commands not shown\n[\s\S]*`\/adopt 199`/)
})

test('what is said has no command of anybody at the start of a line, and nobody is called', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.string({ maxLength: 60 }), (why, name) => {
      const failure = new Failure({ code: 'BP2013', what: `"${name}" may not`, why, remedy: `ask @acme/${name}` })
      const rule = { number: 1, where: why, about: name, reason: `@all ${why}`, expires: '', over: false }
      const result = { by: name, line: why, done: false, text: failureSaid(failure), details: `${rulesText([rule])}\n\n${helpText()}` }
      const { body } = commandAnswer([result], 60_000)
      assert.deepEqual(parseCommentCommands(body), { commands: [], refused: [] })
      assert.doesNotMatch(body.replaceAll(/(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, ''), /@/)
    }),
  )
})

test('a command is told as it was written', () => {
  for (const line of ['/adopt 1 3', '/snooze 7d', '/snooze 90m', '/ignore 1 --for 12h -- why not', '/show ignores'])
    assert.equal(parseCommentCommands(line).commands.map(commandLine).join(), line)
})

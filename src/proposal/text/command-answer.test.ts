import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCommandLine } from './command-answer.ts'
import { parseCommentCommands } from './comment-command.ts'

test('a command is printed as written', () => {
  for (const line of [
    '/adopt 1 3',
    '/snooze 7d',
    '/snooze 90m',
    '/ignore 1 --for 12h -- why not',
    '/show ignores',
  ])
    assert.equal(parseCommentCommands(line).commands.map(formatCommandLine).join(), line)
})

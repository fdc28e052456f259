import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { quoteShellWord } from './shell-word.ts'

test('a shell reads each quoted word as the text that it was', () => {
  const words = [
    '',
    'apps/web',
    "d'x",
    '$(id)',
    '`id`',
    'a b',
    '~',
    '*',
    '!x',
    '#a',
    '=x',
    '-n=1',
    'ä',
    '\\',
  ]
  const quoted = words.map(quoteShellWord).join(' ')
  const read = execFileSync('sh', ['-c', `printf '%s\\n' ${quoted}`], { encoding: 'utf8' })
  assert.deepEqual(read.split('\n').slice(0, -1), words)
})

test('leaves plain words without quotes', () => {
  for (const word of ['apps/web', '--force-with-lease=proposed/a', 'admin@eu-1', 'v1.2_3'])
    assert.equal(quoteShellWord(word), word)
})

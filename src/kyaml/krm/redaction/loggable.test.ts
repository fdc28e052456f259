import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '../../../ports/log.ts'
import type { Json } from '../../text/json.ts'
import { formatLoggableName, type Loggable } from './loggable.ts'

/** Never called: the compiler is the test. */
export function whatDoesNotCompile(log: Log, live: Json, text: string): void {
  // @ts-expect-error a value of a cluster
  const value: Loggable = live
  // @ts-expect-error a plain text, which may be one
  const plain: Loggable = text
  // @ts-expect-error a value in the place of a name
  log.process({ event: 'step', step: live })
  // @ts-expect-error a plain text in the place of a name
  log.process({ event: 'step', step: text })
  // @ts-expect-error a value in a failure: it takes a Failure
  log.logFailures([live], 'new')
  // @ts-expect-error a value in a note: its text is a text
  log.logNotes([{ cause: 'decision', subject: '', text: live }])
  // @ts-expect-error a field that the event does not have
  log.process({ event: 'stopped', value })
  void plain
}

test('a name is one line, and is redacted when it looks like a credential', () => {
  assert.equal(formatLoggableName('apps/web'), 'apps/web')
  assert.equal(
    formatLoggableName('proposed/apps/web/drift-9f2c1a7b'),
    'proposed/apps/web/drift-9f2c1a7b',
  )
  assert.equal(
    formatLoggableName('https://github.com/acme/deploy/pull/418', 500),
    'https://github.com/acme/deploy/pull/418',
  )
  assert.equal(formatLoggableName('a\n\u001b[31m'), 'a\\u{a}\\u{1b}[31m')
  for (const text of [
    'password=hunter2x',
    'https://user:c4n4ry-git-00@host/x',
    `ghp_${'a1B2'.repeat(9)}`,
  ])
    assert.equal(formatLoggableName(text), 'redacted')
})

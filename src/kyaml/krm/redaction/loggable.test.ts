import assert from 'node:assert/strict'
import { test } from 'node:test'
import { path } from '../../../../test/fakes/live-object.ts'
import type { Log } from '../../../ports/log.ts'
import type { Json } from '../../text/json.ts'
import { type Loggable, loggableName, loggableValue } from './loggable.ts'
import { redactionKey, show } from './redacted.ts'

const KEY = redactionKey(new Uint8Array(32))
const SECRET = { group: '', kind: 'Secret', namespace: 'shop', name: 'db' }

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
  log.failures([live], 'new')
  // @ts-expect-error a value in a note: its text is a text
  log.notes([{ cause: 'decision', subject: '', text: live }])
  // @ts-expect-error a field that the event does not have
  log.process({ event: 'stopped', value })
  // @ts-expect-error a value is let out by `show` alone
  loggableValue(live)
  void plain
}

test('a value comes into the log as show lets it out', () => {
  const shown = loggableValue(
    show(
      KEY,
      { id: SECRET, path: path('data.password') },
      Buffer.from('c4n4ry').toString('base64'),
    ),
  )
  assert.match(shown, /^hmac-sha256:[0-9a-f]{16} \(6 bytes\)$/)
  assert.equal(
    loggableValue(
      show(KEY, { id: { ...SECRET, kind: 'ConfigMap' }, path: path('data.color') }, 'red'),
    ),
    'red',
  )
  assert.equal(loggableValue(undefined), 'absent')
})

test('a name is one line, and redacted where it has the form of a credential', () => {
  assert.equal(loggableName('apps/web'), 'apps/web')
  assert.equal(loggableName('proposed/apps/web/drift-9f2c1a7b'), 'proposed/apps/web/drift-9f2c1a7b')
  assert.equal(
    loggableName('https://github.com/acme/deploy/pull/418', 500),
    'https://github.com/acme/deploy/pull/418',
  )
  assert.equal(loggableName('a\n\u001b[31m'), 'a\\u{a}\\u{1b}[31m')
  for (const text of [
    'password=hunter2x',
    'https://user:c4n4ry-git-00@host/x',
    `ghp_${'a1B2'.repeat(9)}`,
  ])
    assert.equal(loggableName(text), 'redacted')
})

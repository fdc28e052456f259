/** The log of the controller, read back: every line has to be one event. */
import assert from 'node:assert/strict'

export type LogEvent = Readonly<Record<string, unknown>> & {
  readonly event: string
  readonly level: string
  readonly msg: string
}

export function logEvents(stderr: string, event?: string): LogEvent[] {
  const lines = stderr.split('\n')
  assert.equal(lines.pop(), '', `the last line ends: ${stderr}`)
  const events = lines.map((line) => JSON.parse(line) as LogEvent)
  for (const one of events) {
    assert.match(String(one['ts']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.match(one.level, /^(trace|debug|info|warn|error)$/)
    assert.match(one.event, /^[a-z]+$/)
    assert.equal(typeof one.msg, 'string')
  }
  return event === undefined ? events : events.filter((one) => one.event === event)
}

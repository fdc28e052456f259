/** Field names: opentelemetry-proto, trace/v1/trace.proto and common/v1/common.proto, in the JSON encoding of the OTLP specification. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { Note } from '@backporch/kyaml/note'
import { formatLoggableName } from '@backporch/kyaml/redaction'
import { type OtlpReceiver, otlpReceiver } from '../../../test/fakes/otlp-receiver.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'
import type { TracedCall, TurnTrace } from '../../ports/turn-traces.ts'
import { MOST_SPANS, OtlpTraces } from './otlp-traces.ts'
import { traceSettings } from './trace-settings.ts'

const AT = Date.parse('2026-11-21T10:00:00Z')
const PROD = formatLoggableName('prod')
const CALL: TracedCall = {
  began: AT + 1,
  ended: AT + 3.5,
  system: 'cluster',
  peer: PROD,
  method: 'GET',
  status: 200,
  failed: false,
}
const PUSH: TracedCall = {
  began: AT + 6,
  ended: AT + 9,
  system: 'git',
  peer: formatLoggableName('push'),
  method: undefined,
  status: undefined,
  failed: true,
}
const TURN: TurnTrace = {
  began: AT,
  ended: AT + 10,
  scope: 'units',
  outcome: 'failed',
  units: 1,
  writes: 2,
  observed: [{ cluster: PROD, package: formatLoggableName('apps/web'), state: 'Drifted' }],
  phases: [{ name: 'observe', began: AT, ended: AT + 5, requests: [CALL] }],
  requests: [PUSH],
  moreRequests: 0,
}

interface JsonSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
  readonly events: readonly {
    readonly name: string
    readonly timeUnixNano: string
    readonly attributes: readonly object[]
  }[]
  readonly status: { readonly code: number }
}

async function open(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const receiver = await otlpReceiver(t)
  const settings = traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env }, '1.2.3')
  assert.ok(settings !== undefined && !('problem' in settings))
  const notes: Note[] = []
  return { receiver, notes, traces: new OtlpTraces(settings, (note) => notes.push(note)) }
}

function spansOf({ got }: OtlpReceiver): readonly JsonSpan[] {
  return got.flatMap(({ body }) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans)
}

test('a turn is exported as one OTLP JSON trace with its phases and requests', async (t) => {
  const env = {
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc',
    OTEL_RESOURCE_ATTRIBUTES: 'team=a',
  }
  const { receiver, notes, traces } = await open(t, env)
  traces.turn(TURN)
  await traces.close()
  assert.deepEqual(notes, [])
  const [request, ...more] = receiver.got
  assert.deepEqual(
    [request?.path, request?.headers['content-type'], more],
    ['/v1/traces', 'application/json', []],
  )
  assert.equal(request?.headers['authorization'], 'Bearer abc')
  const { resource, scopeSpans } = JSON.parse(request?.body ?? '').resourceSpans[0]
  assert.deepEqual(resource.attributes, [
    { key: 'service.version', value: { stringValue: '1.2.3' } },
    { key: 'team', value: { stringValue: 'a' } },
    { key: 'service.name', value: { stringValue: 'backporch' } },
  ])
  assert.deepEqual([scopeSpans[0].scope.name, scopeSpans[0].scope.version], ['backporch', '1.2.3'])
  const spans = new Map(spansOf(receiver).map((span) => [span.name, span]))
  assert.deepEqual([...spans.keys()].sort(), ['cluster GET', 'git push', 'phase observe', 'turn'])
  const root = spans.get('turn')
  assert.match(root?.traceId ?? '', /^[0-9a-f]{32}$/)
  assert.match(root?.spanId ?? '', /^[0-9a-f]{16}$/)
  assert.ok([...spans.values()].every(({ traceId }) => traceId === root?.traceId))
  assert.equal(root?.parentSpanId, undefined)
  assert.equal(spans.get('phase observe')?.parentSpanId, root?.spanId)
  assert.equal(spans.get('cluster GET')?.parentSpanId, spans.get('phase observe')?.spanId)
  assert.equal(spans.get('git push')?.parentSpanId, root?.spanId)
  const nanos = BigInt(AT) * 1_000_000n
  const call = spans.get('cluster GET')
  assert.deepEqual(
    [call?.startTimeUnixNano, call?.endTimeUnixNano],
    [`${nanos + 1_000_000n}`, `${nanos + 3_500_000n}`],
  )
  assert.deepEqual(
    [
      root?.kind,
      call?.kind,
      call?.status.code,
      spans.get('git push')?.status.code,
      root?.status.code,
    ],
    [1, 3, 0, 2, 2],
  )
  assert.deepEqual(root?.attributes, [
    { key: 'backporch.scope', value: { stringValue: 'units' } },
    { key: 'backporch.outcome', value: { stringValue: 'failed' } },
    { key: 'backporch.units', value: { intValue: 1 } },
    { key: 'backporch.writes', value: { intValue: 2 } },
  ])
  const [event] = root?.events ?? []
  assert.deepEqual(
    [event?.name, event?.timeUnixNano, event?.attributes.length],
    ['unit', `${nanos + 10_000_000n}`, 3],
  )
})

for (const status of [400, 503, undefined])
  test(`a collector that ${status === undefined ? 'never answers' : `answers ${status}`} causes no delay, one warning and a count of its dropped spans`, async (t) => {
    const { receiver, notes, traces } = await open(t)
    receiver.status = status
    t.mock.timers.enable({ apis: ['setTimeout'] })
    for (let turns = 0; turns < 1_000; turns += 1) traces.turn(TURN)
    assert.match(notes[0]?.text ?? '', /^traces are dropped: too many wait for the collector$/)
    assert.deepEqual(receiver.got, [], 'a turn does not wait')
    const closed = traces.close()
    t.mock.timers.tick(2_500)
    await closed
    assert.equal(notes.length, 1)
  })

test('the next trace counts the dropped spans', async (t) => {
  const { receiver, traces } = await open(t)
  const fit = Math.floor(MOST_SPANS / 4)
  for (let turns = 0; turns < fit + 2; turns += 1) traces.turn(TURN)
  // One batch after the other: when the last one is there, those before it are counted.
  await waitUntil('the collector has the spans', () => spansOf(receiver).length >= fit * 4)
  traces.turn(TURN)
  await traces.close()
  const counted = spansOf(receiver).flatMap(({ attributes }) =>
    attributes.filter(({ key }) => key === 'backporch.spans.dropped'),
  )
  assert.deepEqual(counted, [{ key: 'backporch.spans.dropped', value: { intValue: 8 } }])
})

test('an unreachable collector causes one warning, without its address or headers', async () => {
  const notes: Note[] = []
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=canary',
  }
  const settings = traceSettings(env, '1')
  assert.ok(settings !== undefined && !('problem' in settings))
  const traces = new OtlpTraces(settings, (note) => notes.push(note))
  traces.turn(TURN)
  await traces.close()
  assert.equal(notes.length, 1)
  assert.doesNotMatch(JSON.stringify(notes), /canary|127\.0\.0\.1/)
})

test('without an endpoint no module of OpenTelemetry is loaded', async () => {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => { if (url.includes('opentelemetry') || url.includes('otlp-')) loaded.push(url); return next(url, context) } })
    const { wire } = await import(${JSON.stringify(new URL('../../wire.ts', import.meta.url).href)})
    const traces = await wire(process, new AbortController().signal).openTraces(() => undefined)
    console.log(JSON.stringify([traces === undefined, loaded.length > 0]))`
  const run = async (env: Readonly<Record<string, string>>): Promise<unknown> => {
    const options = { env: { PATH: process.env['PATH'], ...env } }
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', script],
      options,
    )
    return JSON.parse(stdout)
  }
  assert.deepEqual(await run({}), [true, false])
  assert.deepEqual(
    await run({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_TRACES_EXPORTER: 'none' }),
    [true, false],
  )
  assert.deepEqual(await run({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }), [false, true])
})

/**
 * OTLP/HTTP with JSON. Spans that the collector does not accept in time are dropped and counted.
 */
import type { Note } from '@backporch/kyaml/note'
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import type { TracedCall, TurnTrace, TurnTraces } from '../../ports/turn-traces.ts'
import type { TraceSettings } from './trace-settings.ts'

export const MOST_SPANS = 2_048
/** Milliseconds with retries; less than `CLOSE_WITHIN`. */
const SEND_WITHIN = 1_500
const CLOSE_WITHIN = 2_000
/** Milliseconds. */
const EVERY = 1_000

export class OtlpTraces implements TurnTraces {
  private readonly provider: TracerProvider
  private readonly tracer: Tracer
  private readonly onNote: (note: Note) => void
  private pending = 0
  private dropped = 0
  private warned = false

  constructor({ url, headers, resource, version }: TraceSettings, onNote: (note: Note) => void) {
    this.onNote = onNote
    const exporter = this.wrapExporter(
      new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: SEND_WITHIN }),
    )
    const processor = new BatchSpanProcessor({
      exporter,
      maxQueueSize: MOST_SPANS,
      scheduledDelayMillis: EVERY,
      exportTimeoutMillis: CLOSE_WITHIN,
    })
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ ...resource }),
      spanProcessors: [processor],
    })
    this.tracer = this.provider.getTracer('backporch', version)
  }

  turn(turn: TurnTrace): void {
    const spans =
      1 +
      turn.requests.length +
      turn.phases.reduce((sum, { requests }) => sum + 1 + requests.length, 0)
    if (this.pending + spans > MOST_SPANS) {
      this.drop(spans, 'too many wait for the collector')
      return
    }
    this.pending += spans
    const attributes = {
      'backporch.scope': turn.scope,
      'backporch.outcome': turn.outcome,
      'backporch.units': turn.units,
      'backporch.writes': turn.writes,
      ...(turn.moreRequests === 0 ? {} : { 'backporch.requests.without_span': turn.moreRequests }),
      ...(this.dropped === 0 ? {} : { 'backporch.spans.dropped': this.dropped }),
    }
    this.dropped = 0
    const root = this.tracer.startSpan('turn', { startTime: turn.began, attributes }, ROOT_CONTEXT)
    for (const { cluster, package: name, state } of turn.observed)
      root.addEvent(
        'unit',
        { 'backporch.cluster': cluster, 'backporch.package': name, 'backporch.state': state },
        turn.ended,
      )
    const below = trace.setSpan(ROOT_CONTEXT, root)
    for (const phase of turn.phases) {
      const span = this.tracer.startSpan(`phase ${phase.name}`, { startTime: phase.began }, below)
      for (const call of phase.requests) this.call(call, trace.setSpan(ROOT_CONTEXT, span))
      span.end(phase.ended)
    }
    for (const call of turn.requests) this.call(call, below)
    this.end(root, turn.outcome === 'failed', turn.ended)
  }

  async close(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, CLOSE_WITHIN)
    await Promise.race([this.provider.shutdown().catch(() => undefined), late.promise])
    clearTimeout(timer)
  }

  private call(
    { system, peer, method, status, failed, began, ended }: TracedCall,
    parent: Context,
  ): void {
    const what = system === 'git' ? peer : method
    const attributes = {
      ...(system === 'cluster' ? { 'backporch.cluster': peer } : {}),
      ...(system === 'forge' ? { 'backporch.forge': peer } : {}),
      ...(method === undefined ? {} : { 'http.request.method': method }),
      ...(status === undefined ? {} : { 'http.response.status_code': status }),
    }
    const name = what === undefined ? system : `${system} ${what}`
    this.end(
      this.tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime: began, attributes }, parent),
      failed,
      ended,
    )
  }

  private end(span: Span, failed: boolean, at: number): void {
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(at)
  }

  private wrapExporter(inner: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        inner.export(spans, (result) => {
          this.pending -= spans.length
          // 0 is success.
          if (result.code !== 0)
            this.drop(spans.length, 'the collector does not answer in time, or refuses them')
          done(result)
        }),
      shutdown: () => inner.shutdown(),
    }
  }

  /** Warns once per process; the next trace contains the number. */
  private drop(spans: number, why: string): void {
    this.dropped += spans
    if (this.warned) return
    this.warned = true
    this.onNote({ cause: 'traces-not-sent', subject: '', text: `traces are dropped: ${why}` })
  }
}

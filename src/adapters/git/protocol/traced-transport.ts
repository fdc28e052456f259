/** A transport that reports its requests and their times, for `--verbose`. */
import type { Trace } from '../../../ports/trace.ts'
import type { Advertisement } from './advertisement.ts'
import type { ByteReader } from './byte-reader.ts'
import type { GitService, GitSession, GitTransport } from './git-transport.ts'

export class TracedTransport implements GitTransport {
  readonly #inner: GitTransport
  readonly #remote: string
  readonly #trace: Trace

  /** @param remote as it may be printed */
  constructor(inner: GitTransport, remote: string, trace: Trace) {
    this.#inner = inner
    this.#remote = remote
    this.#trace = trace
  }

  get secrets(): readonly string[] {
    return this.#inner.secrets
  }

  async open(service: GitService, signal: AbortSignal, known?: Advertisement): Promise<GitSession> {
    const session = await this.#timed(
      `${service} ${this.#remote}: list refs`,
      () => this.#inner.open(service, signal, known),
      ({ advertisement }) => `${advertisement.refs.size} refs${advertisement === known ? ', known from before' : ''}`,
    )
    return {
      advertisement: session.advertisement,
      request: (body) =>
        this.#timed(
          `${service} ${this.#remote}: send ${body.reduce((bytes, part) => bytes + part.length, 0)} bytes`,
          () => session.request(body),
          () => 'answers',
        ),
      close: () => session.close(),
    }
  }

  explain(thrown: unknown, signal: AbortSignal): unknown {
    return this.#inner.explain(thrown, signal)
  }

  async #timed<Answer extends GitSession | ByteReader>(
    what: string,
    work: () => Promise<Answer>,
    report: (answer: Answer) => string,
  ): Promise<Answer> {
    const started = performance.now()
    const reported = (outcome: string): void => this.#trace({ what, outcome, milliseconds: performance.now() - started })
    try {
      const answer = await work()
      reported(report(answer))
      return answer
    } catch (thrown) {
      reported('failed')
      throw thrown
    }
  }
}

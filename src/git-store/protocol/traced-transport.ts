import type { RequestTarget, Trace } from '@backporch/system/trace'
import type { GitTransport } from './git-transport.ts'

export function createTracedTransport(
  inner: GitTransport,
  remote: string,
  trace: Trace,
): GitTransport {
  async function timed<Answer>(
    { to, what }: { readonly to: RequestTarget; readonly what: string },
    work: () => Promise<Answer>,
    report: (answer: Answer) => string,
  ): Promise<Answer> {
    const started = performance.now()
    const reported = (outcome: string): void =>
      trace({ to, what, outcome, milliseconds: performance.now() - started })
    try {
      const answer = await work()
      reported(report(answer))
      return answer
    } catch (thrown) {
      reported('failed')
      throw thrown
    }
  }
  return {
    get secrets() {
      return inner.secrets
    },
    open: async (service, signal, known) => {
      const to = { system: 'git', name: service === 'git-receive-pack' ? 'push' : 'fetch' } as const
      const session = await timed(
        { to, what: `${service} ${remote}: list refs` },
        () => inner.open(service, signal, known),
        ({ advertisement }) =>
          `${advertisement.refs.size} refs${advertisement === known ? ', known from before' : ''}`,
      )
      return {
        advertisement: session.advertisement,
        request: (body) => {
          const bytes = body.reduce((sum, part) => sum + part.length, 0)
          return timed(
            { to, what: `${service} ${remote}: send ${bytes} bytes` },
            () => session.request(body),
            () => 'answers',
          )
        },
        close: () => session.close(),
      }
    },
    explain: (thrown, signal) => inner.explain(thrown, signal),
  }
}

/**
 * Simulates many API servers from a transcript, one below each path `/c/NUMBER`, with TLS, HTTP/2,
 * client certificates, bookmarks and PING replies.
 */
import { readFileSync } from 'node:fs'
import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { answerQuestions, cpuSeconds } from './fleet-messages.ts'
import type { Transcript } from './fleet-transcript.ts'

interface Setup {
  readonly transcript: Transcript
  readonly certificate: string
  readonly key: string
  readonly authority: string
}

/** Milliseconds between two bookmarks of a stream, as on a real server. */
const BOOKMARK_EVERY = 60_000

const { transcript, certificate, key, authority } = JSON.parse(
  readFileSync(process.argv[2] ?? '', 'utf8'),
) as Setup
const sessions = new Set<ServerHttp2Session>()
const watches = new Map<ServerHttp2Stream, { bookmarkAt: number; readonly endAt: number }>()
/** Seconds after the last drop. */
let [opened, watched]: [number[], number[]] = [[], []]
let droppedAt = performance.now()

const server = createSecureServer({
  key,
  cert: certificate,
  ca: authority,
  requestCert: true,
  rejectUnauthorized: false,
  settings: { maxConcurrentStreams: 100 },
})
server.on('session', (session) => {
  sessions.add(session)
  opened.push(sinceDrop())
  session.on('error', () => {})
  session.on('close', () => sessions.delete(session))
})
server.on('stream', (stream, headers) => {
  stream.on('error', () => {})
  const path = String(headers[':path']).replace(/^\/c\/\d+/, '')
  const answer = transcript.answers[path]
  if (answer !== undefined) {
    stream.respond({ ':status': 200, 'content-type': answer.type })
    stream.end(answer.body)
    return
  }
  const [collection, query = ''] = path.split('?')
  const wanted = new URLSearchParams(query)
  if (collection !== transcript.collection || wanted.get('watch') !== 'true') {
    stream.respond({ ':status': 404, 'content-type': 'application/json' })
    stream.end(
      '{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}',
    )
    return
  }
  stream.respond({ ':status': 200, 'content-type': 'application/json' })
  watched.push(sinceDrop())
  if (wanted.has('sendInitialEvents')) stream.write(transcript.list)
  const now = performance.now()
  watches.set(stream, {
    bookmarkAt: now + Math.random() * BOOKMARK_EVERY,
    endAt: now + Number(wanted.get('timeoutSeconds') ?? '300') * 1000,
  })
  stream.on('close', () => watches.delete(stream))
})
setInterval(() => {
  const now = performance.now()
  for (const [stream, watch] of watches) {
    if (now >= watch.endAt) stream.end()
    if (now < watch.bookmarkAt || now >= watch.endAt) continue
    stream.write(transcript.bookmark)
    watch.bookmarkAt = now + BOOKMARK_EVERY
  }
}, 250)

function sinceDrop(): number {
  return (performance.now() - droppedAt) / 1000
}

answerQuestions({
  listen: () =>
    new Promise((resolve) => {
      server.listen({ port: 0, host: '127.0.0.1', backlog: 16_384 }, () =>
        resolve((server.address() as AddressInfo).port),
      )
    }),
  drop: () => {
    ;[opened, watched] = [[], []]
    droppedAt = performance.now()
    for (const session of sessions) session.destroy()
  },
  state: () => ({
    sessions: sessions.size,
    opened,
    watched,
    cpu: cpuSeconds(),
    rss: process.memoryUsage().rss,
  }),
})

/** Records the answers of a real API server to the watch of one kind, for a server that simulates many clusters. */
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { ControlPlane } from '../test/controlplane/control-plane.ts'
import { ADMIN } from '../test/controlplane/test-authority.ts'

export interface Transcript {
  /** By path with query: type and body of the answer. */
  readonly answers: Readonly<Record<string, { readonly type: string; readonly body: string }>>
  /** Path of the kind's collection. */
  readonly collection: string
  /** Lines of the streamed list, up to the bookmark at its end. */
  readonly list: string
  /** A later bookmark. */
  readonly bookmark: string
}

const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
/** The requests by which the watch identifies the server (src/cluster/watch/server-check.ts). */
const IDENTITY = '/api/v1/namespaces?fieldSelector=metadata.name%3Dkube-system'
const LIST_ENDS = 'k8s.io/initial-events-end'

export async function recordTranscript(
  plane: ControlPlane,
  collection: string,
): Promise<Transcript> {
  const answers: Record<string, { type: string; body: string }> = {}
  for (const [path, accept] of Object.entries({
    '/api': DISCOVERY,
    '/apis': DISCOVERY,
    [IDENTITY]: 'application/json',
  })) {
    const answer = await open(plane, path, accept)
    answers[path] = {
      type: answer.headers['content-type'] ?? 'application/json',
      body: await text(answer),
    }
  }
  const query =
    'watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=60'
  const stream = await open(plane, `${collection}?${query}`, 'application/json')
  let list = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    list += String(chunk)
    if (list.includes(LIST_ENDS) && list.endsWith('\n')) break
  }
  const last = list.trimEnd().split('\n').at(-1) ?? ''
  const bookmark = JSON.parse(last) as { object: { metadata: { annotations?: unknown } } }
  delete bookmark.object.metadata.annotations
  return { answers, collection, list, bookmark: `${JSON.stringify(bookmark)}\n` }
}

function open(plane: ControlPlane, path: string, accept: string): Promise<IncomingMessage> {
  const { certificate: cert, key } = plane.credentialFor(ADMIN.user, ADMIN.groups)
  const ca = Buffer.from(plane.caData, 'base64')
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(path, plane.url),
      { ca, cert, key, agent: false, headers: { accept } },
      (answer) =>
        answer.statusCode === 200
          ? resolve(answer)
          : reject(new Error(`${path} was answered with ${answer.statusCode}`)),
    )
    outgoing.on('error', reject).end()
  })
}

/**
 * The wants, the haves, and `done` (git documentation, gitprotocol-pack, "Packfile Negotiation",
 * and gitprotocol-v2, `fetch`).
 */
import type { ObjectId } from '@backporch/kyaml/files'
import { type Advertisement, buildCommandHead, RefusedService } from './advertisement.ts'
import { type ByteReader, StreamFault } from './byte-reader.ts'
import type { GitSession } from './git-transport.ts'
import { encodePktLine, FLUSH, readBands, readPktLine } from './pkt-line.ts'

export type Filter = 'blob:none' | 'tree:0' | `blob:limit=${number}`

export interface FetchRequest {
  readonly wants: readonly ObjectId[]
  readonly haves: readonly ObjectId[]
  /** 1: the want alone; undefined: the whole history. */
  readonly depth?: number | undefined
  /** Wants by their own id are never omitted. */
  readonly filter?: Filter | undefined
  /** Bytes; undefined: the transport's limit. */
  readonly most?: number | undefined
}

/** No `thin-pack`, so that every pack is complete. */
const WANTED_CAPABILITIES = ['side-band-64k', 'ofs-delta', 'no-progress', 'filter']

/** A server limits the lines; the newest commits save most bytes. */
const MOST_HAVES = 256

/**
 * Everything below `wants` and not below `haves`. Does not check the pack's content.
 * @throws RefusedService when the server refuses a want or does not understand the request,
 * StreamFault when the answer breaks off or exceeds `most`
 */
export async function fetchPack(session: GitSession, request: FetchRequest): Promise<Buffer> {
  const { advertisement } = session
  const newer = advertisement.version === 2
  const reader = await session.request(
    newer ? requestOfVersion2(advertisement, request) : requestOfVersion0(advertisement, request),
  )
  const first = newer
    ? await skipToPack(reader)
    : await skipAnswers(reader, request.depth !== undefined)
  const answer = await readBands(reader, first, request.most)
  if (answer.fatal !== undefined) throw new RefusedService(answer.fatal)
  await reader.drain()
  return answer.content
}

function requestOfVersion0(
  { capabilities: offered }: Advertisement,
  { wants, haves, depth, filter }: FetchRequest,
): readonly Buffer[] {
  const capabilities = [
    ...WANTED_CAPABILITIES.filter((name) => offered.has(name)),
    'agent=git/backporch',
  ]
  const wanted = wants.map((id, at) =>
    encodePktLine(at === 0 ? `want ${id} ${capabilities.join(' ')}\n` : `want ${id}\n`),
  )
  return [
    ...wanted,
    ...buildLimitLines(depth, filter),
    FLUSH,
    ...haveLines(haves),
    encodePktLine('done\n'),
  ]
}

function requestOfVersion2(
  { capabilities }: Advertisement,
  { wants, haves, depth, filter }: FetchRequest,
): readonly Buffer[] {
  const options = ['ofs-delta\n', 'no-progress\n', ...wants.map((id) => `want ${id}\n`)].map(
    (line) => encodePktLine(line),
  )
  const head = buildCommandHead('fetch', capabilities)
  return [
    ...head,
    ...options,
    ...buildLimitLines(depth, filter),
    ...haveLines(haves),
    encodePktLine('done\n'),
    FLUSH,
  ]
}

function buildLimitLines(depth: number | undefined, filter: Filter | undefined): readonly Buffer[] {
  return [
    ...(depth === undefined ? [] : [encodePktLine(`deepen ${depth}\n`)]),
    ...(filter === undefined ? [] : [encodePktLine(`filter ${filter}\n`)]),
  ]
}

function haveLines(haves: readonly ObjectId[]): readonly Buffer[] {
  return haves.slice(0, MOST_HAVES).map((id) => encodePktLine(`have ${id}\n`))
}

/** Shallow commits, up to a flush, and common ones precede the pack. */
async function skipAnswers(reader: ByteReader, cut: boolean): Promise<Buffer> {
  let line = await readLine(reader)
  if (cut) {
    while (line instanceof Buffer) line = await readLine(reader)
    line = await readLine(reader)
  }
  while (line instanceof Buffer && /^(?:ACK|NAK)/.test(line.toString('latin1', 0, 3)))
    line = await readLine(reader)
  if (!(line instanceof Buffer)) throw new StreamFault('ended', 'the answer broke off')
  return line
}

async function skipToPack(reader: ByteReader): Promise<undefined> {
  for (;;) {
    const line = await readLine(reader)
    if (line === 'flush') throw new StreamFault('ended', 'the answer has no pack')
    if (line instanceof Buffer && line.toString('latin1') === 'packfile\n') return
  }
}

async function readLine(reader: ByteReader): Promise<Buffer | 'flush' | 'delimiter'> {
  const line = await readPktLine(reader)
  if (line === undefined) throw new StreamFault('ended', 'the answer broke off')
  if (line instanceof Buffer && line.toString('latin1', 0, 4) === 'ERR ')
    throw new RefusedService(line.toString('utf8', 4))
  return line
}

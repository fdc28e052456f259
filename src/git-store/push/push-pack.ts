/** git documentation, gitprotocol-pack, "Pushing Data To a Server". */
import type { ObjectId } from '@backporch/kyaml/files'
import { ByteReader, StreamFault } from '../protocol/byte-reader.ts'
import type { GitSession } from '../protocol/git-transport.ts'
import { encodePktLine, FLUSH, readBands, readPktLine } from '../protocol/pkt-line.ts'

const NOTHING = '0'.repeat(40)

/** Of an annotated tag the tag object. `null`: no such ref. */
interface PushCommand {
  readonly ref: string
  readonly from: ObjectId | null
  readonly to: ObjectId | null
}

export interface PushReport {
  readonly unpacked: string
  readonly refused: ReadonlyMap<string, string>
  readonly messages: string
}

/**
 * In order, all or none if the server supports it (`atomic`). `pack` is needed unless all are
 * deletions.
 * @throws StreamFault when the answer does not come or breaks off: then the outcome is unknown
 */
export async function sendPush(
  session: GitSession,
  commands: readonly PushCommand[],
  pack: Buffer,
): Promise<PushReport> {
  const offered = session.advertisement.capabilities
  const wanted = ['report-status', 'side-band-64k', ...(commands.length > 1 ? ['atomic'] : [])]
  const capabilities = [...wanted.filter((name) => offered.has(name)), 'agent=git/backporch'].join(
    ' ',
  )
  const lines = commands.map(({ ref, from, to }, at) =>
    encodePktLine(
      `${from ?? NOTHING} ${to ?? NOTHING} ${ref}${at === 0 ? `\0 ${capabilities}` : ''}`,
    ),
  )
  const body = [...lines, FLUSH, ...(commands.some(({ to }) => to !== null) ? [pack] : [])]
  const reader = await session.request(body)
  if (!offered.has('side-band-64k')) return await readReport(reader, commands, '')
  const { content, messages, fatal } = await readBands(reader)
  if (fatal !== undefined) return { unpacked: fatal, refused: new Map(), messages }
  await reader.drain()
  return await readReport(
    new ByteReader(streamOnce(content), { silence: 1000, bytes: content.length }),
    commands,
    messages,
  )
}

async function* streamOnce(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content
}

async function readReport(
  reader: ByteReader,
  commands: readonly PushCommand[],
  messages: string,
): Promise<PushReport> {
  let unpacked: string | undefined
  const reported = new Map<string, string | undefined>()
  for (
    let line = await readPktLine(reader);
    line instanceof Buffer;
    line = await readPktLine(reader)
  ) {
    const text = line.toString('utf8').replace(/\n$/, '')
    const [word, ref = ''] = text.split(' ', 2)
    if (word === 'unpack') unpacked = text.slice('unpack '.length)
    else if (word === 'ok') reported.set(ref, undefined)
    else if (word === 'ng') reported.set(ref, text.slice(word.length + ref.length + 2))
  }
  if (unpacked === undefined)
    throw new StreamFault('ended', 'the server did not say what became of the push')
  const refused = new Map<string, string>()
  for (const { ref } of commands) {
    const reason = reported.has(ref) ? reported.get(ref) : 'the server said nothing about it'
    if (reason !== undefined) refused.set(ref, reason)
  }
  return { unpacked, refused, messages }
}

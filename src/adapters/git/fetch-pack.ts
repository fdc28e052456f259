/**
 * Asks a server for a pack (git documentation, gitprotocol-pack, "Packfile Negotiation"): the wants, what is here already,
 * and `done`, all in one request.
 */
import type { ObjectId } from '../../package/object-id.ts'
import { RefusedService } from './advertisement.ts'
import { StreamFault } from './byte-reader.ts'
import type { GitSession } from './git-transport.ts'
import { FLUSH, pktLine, readBands, readPktLine } from './pkt-line.ts'

/** `ofs-delta` makes the pack smaller; `thin-pack` is left out, so that every pack stands on its own. */
const WANTED_CAPABILITIES = ['side-band-64k', 'ofs-delta', 'no-progress']

/** A server takes only so many lines of a request for granted; the newest are what saves bytes. */
const MOST_HAVES = 256

/**
 * The pack with everything that `wants` reach and `haves` do not.
 * @throws RefusedService when the server names one of the wants as not its own, StreamFault when the answer breaks off; the
 *   content of the pack is not checked here
 */
export async function fetchPack(session: GitSession, wants: readonly ObjectId[], haves: readonly ObjectId[]): Promise<Buffer> {
  const offered = session.advertisement.capabilities
  const capabilities = [...WANTED_CAPABILITIES.filter((name) => offered.has(name)), 'agent=git/backporch']
  const wanted = wants.map((id, at) => pktLine(at === 0 ? `want ${id} ${capabilities.join(' ')}\n` : `want ${id}\n`))
  const had = haves.slice(0, MOST_HAVES).map((id) => pktLine(`have ${id}\n`))
  const reader = await session.request([...wanted, FLUSH, ...had, pktLine('done\n')])
  let line = await readPktLine(reader)
  while (line instanceof Buffer && /^(?:ACK|NAK)/.test(line.toString('latin1', 0, 3))) line = await readPktLine(reader)
  if (!(line instanceof Buffer)) throw new StreamFault('ended', 'the answer broke off')
  if (line.toString('latin1', 0, 4) === 'ERR ') throw new RefusedService(line.toString('utf8', 4))
  const answer = await readBands(reader, line)
  if (answer.fatal !== undefined) throw new RefusedService(answer.fatal)
  await reader.drain()
  return answer.content
}

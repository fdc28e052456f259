/**
 * git documentation, gitprotocol-common. With `side-band-64k` a line's first byte names its band.
 */
import { type ByteReader, StreamFault } from './byte-reader.ts'

export const FLUSH = Buffer.from('0000')
export const DELIMITER = Buffer.from('0001')

const LONGEST = 65520

/** The caller adds the line break. */
export function encodePktLine(content: string | Uint8Array): Buffer {
  const body = Buffer.from(content)
  if (body.length + 4 > LONGEST) throw new RangeError('a pkt-line holds at most 65516 bytes')
  return Buffer.concat([Buffer.from((body.length + 4).toString(16).padStart(4, '0')), body])
}

/**
 * Undefined at the end of the stream.
 * @throws StreamFault when it is not framed
 */
export async function readPktLine(
  reader: ByteReader,
): Promise<Buffer | 'flush' | 'delimiter' | undefined> {
  const head = await reader.read(4)
  if (head === undefined) return undefined
  const text = head.toString('latin1')
  if (!/^[0-9a-fA-F]{4}$/.test(text))
    throw new StreamFault('malformed', 'the answer is not in the git protocol')
  const length = Number.parseInt(text, 16)
  if (length === 0) return 'flush'
  if (length === 1) return 'delimiter'
  if (length < 4 || length > LONGEST)
    throw new StreamFault('malformed', 'the answer is not in the git protocol')
  if (length === 4) return Buffer.alloc(0)
  const body = await reader.read(length - 4)
  if (body === undefined) throw new StreamFault('ended', 'the answer broke off')
  return body
}

interface BandedAnswer {
  readonly content: Buffer
  readonly messages: string
  readonly fatal: string | undefined
}

/**
 * Up to the flush or the end.
 * @param most bytes
 * @throws StreamFault when it is larger, or not framed
 */
export async function readBands(
  reader: ByteReader,
  first?: Buffer,
  most = Number.POSITIVE_INFINITY,
): Promise<BandedAnswer> {
  let bytes = 0
  const content: Buffer[] = []
  let messages = ''
  let line: Buffer | 'flush' | 'delimiter' | undefined = first ?? (await readPktLine(reader))
  while (line instanceof Buffer) {
    const band = line[0]
    const body = line.subarray(1)
    if (band === 1) {
      bytes += body.length
      if (bytes > most)
        throw new StreamFault('too-large', `the answer is larger than ${most} bytes`)
      content.push(body)
    } else if (band === 2) messages = (messages + body.toString('utf8')).slice(-4096)
    else if (band === 3)
      return { content: Buffer.concat(content), messages, fatal: body.toString('utf8') }
    else throw new StreamFault('malformed', 'the answer is not in the git protocol')
    line = await readPktLine(reader)
  }
  if (line !== 'flush') throw new StreamFault('ended', 'the answer broke off')
  return { content: Buffer.concat(content), messages, fatal: undefined }
}

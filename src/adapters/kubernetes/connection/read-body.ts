import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { TransportFault } from './transport.ts'

/**
 * The whole body as text, decompressed.
 * @param encoding value of `content-encoding`
 * @param limit bytes after decompression, so that a small compressed body cannot fill the memory
 * @throws TransportFault `too-large`, or `broken` for an encoding that was not requested; the stream's error when it ends early
 */
export async function readBody(stream: Readable, encoding: string | undefined, limit: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      size += chunk.length
      if (size > limit) throw new TransportFault('too-large', `more than ${limit} bytes`)
      chunks.push(chunk)
    }
  }
  if (encoding === 'gzip') await pipeline(stream, createGunzip(), collect)
  else if (encoding === undefined || encoding === 'identity' || encoding === '') await pipeline(stream, collect)
  else throw new TransportFault('broken', 'the body has an encoding that was not asked for')
  return Buffer.concat(chunks).toString('utf8')
}

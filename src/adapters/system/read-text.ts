import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'

/**
 * A body as UTF-8 text.
 * @param limit bytes after decompression, so that a small compressed body cannot fill the memory @param tooLarge the error beyond it
 * @throws the stream's error when it ends early
 */
export async function readText(body: Readable, zipped: boolean, limit: number, tooLarge: () => Error): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      size += chunk.length
      if (size > limit) throw tooLarge()
      chunks.push(chunk)
    }
  }
  await (zipped ? pipeline(body, createGunzip(), collect) : pipeline(body, collect))
  return Buffer.concat(chunks).toString('utf8')
}

import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { answerDeadline, Deadline, describeSlowAnswer } from './deadline.ts'

/** The message is Backporch's own and safe to print. */
export class SlowAnswer extends Error {}

interface TextLimits {
  /** After decompression, so that a small compressed body cannot fill the memory. */
  readonly bytes: number
  readonly tooLarge: () => Error
  /** Milliseconds by received bytes. Default: `answerDeadline`. */
  readonly deadline?: (received: number) => number
}

/** @throws the stream's error when it ends early, SlowAnswer */
export async function readText(
  body: Readable,
  zipped: boolean,
  { bytes, tooLarge, deadline = answerDeadline }: TextLimits,
): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      size += chunk.length
      if (size > bytes) throw tooLarge()
      chunks.push(chunk)
    }
  }
  let waited = 0
  const watch = (): Deadline =>
    new Deadline(deadline(size) - waited, () => {
      waited += late.stop()
      if (deadline(size) > waited) late = watch()
      else body.destroy(new SlowAnswer(describeSlowAnswer(size, deadline(size))))
    })
  let late = watch()
  try {
    await (zipped ? pipeline(body, createGunzip(), collect) : pipeline(body, collect))
  } finally {
    late.stop()
  }
  return Buffer.concat(chunks).toString('utf8')
}
